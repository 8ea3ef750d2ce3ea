//! tesseract as an engine.

use std::path::PathBuf;
use std::time::Duration;

use kit::{Ctx, Fault, Program, Task};
use ocr::prepare::Prepared;
use ocr::word::Fragment;
use serde_json::json;
use tokio::sync::OnceCell;

/// One picture.
const DEADLINE: Duration = Duration::from_secs(60);

/// The table of a page full of small print is a tenth of this.
const MAX_TABLE: u64 = 16 << 20;

/// Languages in the order in which they are taken if the caller names none and many are installed.
const COMMON: [&str; 12] =
    ["eng", "deu", "fra", "spa", "ita", "por", "nld", "pol", "ces", "swe", "dan", "tur"];

/// tesseract refuses pictures with a longer side, in pixels.
const MAX_SIDE: usize = 32_767;

/// Each further language costs time for words that those before it do not know.
const MOST_LANGUAGES: usize = 4;

/// The most languages that a caller may name.
const MOST_ASKED: usize = 8;

#[derive(Debug)]
pub(crate) struct Tesseract {
    program: Program,
    installed: OnceCell<Vec<String>>,
}

impl Tesseract {
    pub(crate) fn new(path: Option<PathBuf>) -> Self {
        let program = Program::new("tesseract", "tesseract-ocr").at(path);
        Self { program, installed: OnceCell::new() }
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// The languages of a call: those that it names, or the common ones that are installed.
    pub(crate) async fn choose_languages(
        &self,
        ctx: &Ctx,
        asked: &[String],
    ) -> Result<Vec<String>, Fault> {
        let installed = self.installed.get_or_try_init(|| self.list(ctx)).await?;
        if installed.is_empty() {
            return Err(missing("eng", installed));
        }
        if asked.len() > MOST_ASKED {
            let message = format!("/languages: at most {MOST_ASKED} languages in one call");
            return Err(Fault::invalid_input(message));
        }
        let mut chosen: Vec<String> = Vec::new();
        for name in asked {
            let code = code(name);
            let found = installed.iter().find(|known| **known == code);
            let known = found.ok_or_else(|| missing(name, installed))?;
            if !chosen.contains(known) {
                chosen.push(known.clone());
            }
        }
        Ok(if chosen.is_empty() { usual(installed) } else { chosen })
    }

    async fn list(&self, ctx: &Ctx) -> Result<Vec<String>, Fault> {
        let ran = ctx.run(&self.program, Task::new(["--list-langs"])).await?;
        Ok(ocr::tesseract::languages(&String::from_utf8_lossy(&ran.stdout)))
    }

    /// Reads a prepared picture.
    pub(crate) async fn read(
        &self,
        ctx: &Ctx,
        languages: &[String],
        prepared: &Prepared,
    ) -> Result<Vec<Fragment>, Fault> {
        let (width, height) = (prepared.picture.width(), prepared.picture.height());
        if width.max(height) > MAX_SIDE {
            let message = format!(
                "the picture has {width} by {height} pixels when its text has a good size, and tesseract reads at most \
                 {MAX_SIDE} on each side: send it in several parts"
            );
            let details = json!({"reason": "too_large", "limit": MAX_SIDE});
            return Err(Fault::invalid_input(message).details(details));
        }
        let languages = languages.join("+");
        // The picture is upright and its text has one size: tesseract needs to find the lines only.
        let arguments = ["stdin", "stdout", "-l", &languages, "--psm", "3", "--dpi", "200", "tsv"];
        let task = Task::new(arguments)
            // Its threads cost more than they gain on pictures of one page.
            .env("OMP_THREAD_LIMIT", "1")
            .stdin(prepared.picture.to_pgm())
            .deadline(DEADLINE)
            .max_stdout(MAX_TABLE);
        let ran = ctx.run(&self.program, task).await?;
        if !ran.success {
            return Err(Fault::internal("tesseract could not read the prepared picture"));
        }
        Ok(ocr::tesseract::fragments(&String::from_utf8_lossy(&ran.stdout)))
    }
}

/// The languages for callers that name none.
fn usual(installed: &[String]) -> Vec<String> {
    if installed.len() <= MOST_LANGUAGES {
        let mut all = installed.to_vec();
        // The first one is tried first on every word.
        all.sort_by_key(|name| {
            COMMON.iter().position(|known| known == name).unwrap_or(COMMON.len())
        });
        return all;
    }
    let common = COMMON.iter().filter(|name| installed.iter().any(|known| known == *name));
    let chosen: Vec<String> = common.take(MOST_LANGUAGES).map(|name| (*name).to_owned()).collect();
    if chosen.is_empty() { installed[..1].to_vec() } else { chosen }
}

/// tesseract's name of a language that may be given as an ISO 639-1 code.
fn code(name: &str) -> String {
    const SHORT: [(&str, &str); 24] = [
        ("en", "eng"),
        ("de", "deu"),
        ("fr", "fra"),
        ("es", "spa"),
        ("it", "ita"),
        ("pt", "por"),
        ("nl", "nld"),
        ("pl", "pol"),
        ("cs", "ces"),
        ("sv", "swe"),
        ("da", "dan"),
        ("tr", "tur"),
        ("nb", "nor"),
        ("no", "nor"),
        ("fi", "fin"),
        ("hu", "hun"),
        ("ro", "ron"),
        ("sk", "slk"),
        ("el", "ell"),
        ("ru", "rus"),
        ("uk", "ukr"),
        ("ja", "jpn"),
        ("ko", "kor"),
        ("ar", "ara"),
    ];
    let lower = name.trim().to_ascii_lowercase();
    let long = SHORT.iter().find(|(short, _)| *short == lower);
    long.map_or(name.trim().to_owned(), |(_, long)| (*long).to_owned())
}

fn missing(name: &str, installed: &[String]) -> Fault {
    let shown: String = code(name)
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/'))
        .take(40)
        .collect();
    let package = format!("tesseract-ocr-{}", shown.to_ascii_lowercase().replace(['_', '/'], "-"));
    let fix = format!("apt install {package}");
    let listed = if installed.is_empty() { "none".to_owned() } else { installed.join(", ") };
    let message = format!(
        "tesseract has no data for the language `{shown}`: {fix}, or leave `languages` out. Installed: {listed}"
    );
    let details = json!({
        "program": "tesseract", "language": shown, "package": package, "fix": fix, "installed": installed,
    });
    Fault::unsupported(message).details(details)
}

#[cfg(test)]
mod tests;
