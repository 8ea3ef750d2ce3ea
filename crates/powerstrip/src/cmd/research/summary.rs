//! What a finished research has found, for people.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use terminal::{Style, line, shown};

/// How many warnings are printed.
const MAX_WARNINGS: usize = 30;

/// Prints title, sections, claims, sources, files and warnings.
pub(super) fn print(
    answer: &Value,
    folder: &Path,
    written: &[PathBuf],
    style: Style,
) -> io::Result<()> {
    let outline = &answer["outline"];
    line(style.bold(shown(outline["title"].as_str().unwrap_or_default())))?;
    for section in list(&outline["sections"]) {
        line(format_args!("  {}", shown(section["heading"].as_str().unwrap_or_default())))?;
    }
    line("")?;
    if has_report(answer) {
        line(claims(answer))?;
        line(sources(answer))?;
        if answer["method"] == "extractive" {
            line("The sentences are taken from the sources: no model is configured.")?;
        }
        line(format_args!("{}:", folder.display()))?;
    } else {
        line("No report was written.")?;
    }
    for path in written {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        line(format_args!("  {}", shown(&name)))?;
    }
    let warnings: Vec<&str> = list(&answer["warnings"]).filter_map(Value::as_str).collect();
    for warning in warnings.iter().take(MAX_WARNINGS) {
        terminal::note(format_args!("{} {}", style.doubtful("warning:"), shown(warning)));
    }
    if let Some(more) = warnings.len().checked_sub(MAX_WARNINGS).filter(|more| *more > 0) {
        terminal::note(format_args!("and {more} more warnings: --json prints all"));
    }
    Ok(())
}

/// Whether a report was written.
pub(super) fn has_report(answer: &Value) -> bool {
    list(&answer["artifacts"]).any(|artifact| artifact["kind"] == "report")
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// `41 claims, each with its source; 3 were dropped for want of support`.
fn claims(answer: &Value) -> String {
    let count = |name: &str| answer["claims"][name].as_u64().unwrap_or(0);
    let (supported, dropped) = (count("supported"), count("dropped"));
    let mut text = match supported {
        0 => "no claims: no source answers a question".to_owned(),
        1 => "1 claim with its source".to_owned(),
        _ => format!("{supported} claims, each with its source"),
    };
    if dropped > 0 {
        text += &format!("; {dropped} dropped because no source supports them");
    }
    text
}

/// `12 sources, 9 of them cited`.
fn sources(answer: &Value) -> String {
    let total = list(&answer["sources"]).count();
    let cited = list(&answer["sources"]).filter(|source| source["used"] == true).count();
    let word = if total == 1 { "source" } else { "sources" };
    format!("{total} {word}, {cited} of them cited")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn claims_and_sources_are_counted_in_words() {
        let answer = json!({
            "claims": {"total": 44, "supported": 41, "dropped": 3},
            "sources": [{"used": true}, {"used": false}],
        });
        assert_eq!(
            claims(&answer),
            "41 claims, each with its source; 3 dropped because no source supports them"
        );
        assert_eq!(sources(&answer), "2 sources, 1 of them cited");
        assert!(!has_report(&json!({"artifacts": []})));
        assert!(has_report(&json!({"artifacts": [{"kind": "outline"}, {"kind": "report"}]})));
        assert_eq!(claims(&json!({})), "no claims: no source answers a question");
    }
}
