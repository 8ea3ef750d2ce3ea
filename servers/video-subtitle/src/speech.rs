//! The program that recognizes speech.

use std::path::PathBuf;

use kit::jobs::JobCtx;
use kit::{Engine, Fault, Program, Task};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

use crate::transcript::Segment;

/// Recognition on a processor may take longer than the film.
const DEADLINE: Duration = Duration::from_secs(3 * 3600);

/// What the program may print.
const MAX_STDOUT: u64 = 32 << 20;

/// The most segments.
const MAX_SEGMENTS: usize = 100_000;

/// The longest text of a segment, in characters.
const MAX_TEXT: usize = 2000;

#[derive(Debug)]
pub(crate) struct Speech {
    program: Program,
    name: String,
    data: Vec<PathBuf>,
}

/// The recognized speech.
#[derive(Debug, Deserialize)]
pub(crate) struct Recognized {
    pub(crate) language: Option<String>,
    pub(crate) segments: Vec<Segment>,
}

impl Speech {
    pub(crate) fn new(path: PathBuf, data: Vec<PathBuf>) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { program: Program::new("speech-command", "whisper.cpp").at(Some(path)), name, data }
    }

    /// The program as an engine. Its version is not asked for: it takes a file first.
    pub(crate) fn engine(&self) -> Engine {
        Engine { name: self.name.clone(), version: None }
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// Recognizes the speech of a WAV file.
    pub(crate) async fn listen(
        &self,
        ctx: &JobCtx,
        wav: PathBuf,
        language: Option<&str>,
    ) -> Result<Recognized, Fault> {
        let language = language.unwrap_or("auto").to_owned();
        let task = Task::new([wav.clone().into_os_string(), language.into()])
            .reads(wav)
            .writes()
            .deadline(DEADLINE)
            .max_memory(16 << 30)
            .max_stdout(MAX_STDOUT);
        let task = self.data.iter().fold(task, |task, path| task.reads(path));
        let ran = ctx.run(&self.program, task).await?;
        if !ran.success {
            return Err(broken("it failed; see the server's log"));
        }
        read(&ran.stdout)
    }
}

/// Checks what the program has printed.
fn read(stdout: &[u8]) -> Result<Recognized, Fault> {
    let mut recognized: Recognized = serde_json::from_slice(stdout).map_err(|error| {
        tracing::warn!(%error, "the speech program prints something else than expected");
        broken("it does not print {\"language\", \"segments\": [{\"start_ms\", \"end_ms\", \"text\"}]}")
    })?;
    if recognized.segments.len() > MAX_SEGMENTS {
        return Err(broken("it prints too many segments"));
    }
    for segment in &mut recognized.segments {
        if segment.end_ms < segment.start_ms {
            return Err(broken("a segment ends before it begins"));
        }
        let clean = segment.text.split_whitespace().collect::<Vec<_>>().join(" ");
        segment.text = clean.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect();
        segment.confidence = segment.confidence.filter(|it| (0.0..=1.0).contains(it));
    }
    recognized.segments.retain(|segment| !segment.text.is_empty());
    recognized.segments.sort_by_key(|segment| segment.start_ms);
    recognized.language = recognized.language.map(|language| language.chars().take(20).collect());
    Ok(recognized)
}

fn broken(why: &str) -> Fault {
    Fault::internal(format!("the program of --speech-command does not work: {why}"))
        .details(json!({"program": "speech-command"}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_the_program_is_checked() {
        let recognized = read(
            br#"{"language": "en", "model": "x", "segments": [
                {"start_ms": 900, "end_ms": 1000, "text": " two\n words ", "confidence": 7},
                {"start_ms": 0, "end_ms": 10, "text": "one", "confidence": 0.5}, {"start_ms": 5, "end_ms": 6, "text": " "}]}"#,
        )
        .unwrap();
        let texts: Vec<&str> = recognized.segments.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["one", "two words"]);
        assert_eq!(
            (recognized.segments[0].confidence, recognized.segments[1].confidence),
            (Some(0.5), None)
        );
        for wrong in [
            "",
            "hello",
            "[]",
            r#"{"segments": 1}"#,
            r#"{"segments": [{"start_ms": -1, "end_ms": 2, "text": ""}]}"#,
            r#"{"segments": [{"start_ms": 9, "end_ms": 2, "text": "x"}]}"#,
        ] {
            let fault = read(wrong.as_bytes()).unwrap_err().to_string();
            assert!(fault.starts_with("INTERNAL") && fault.contains("--speech-command"), "{fault}");
        }
    }
}
