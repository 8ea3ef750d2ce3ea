//! Reading of the text, shared by all tools.

use kit::Fault;
use language::prose::Prose;
use schemars::JsonSchema;
use serde::Serialize;

/// Facts about the text.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Reading {
    /// The language as an ISO 639-1 code, if it was recognized.
    language: Option<String>,
    words: usize,
    sentences: usize,
    /// Whether the text was too long to be read to its end.
    truncated: bool,
}

impl Reading {
    fn of(prose: &Prose<'_>) -> Self {
        Self {
            language: prose.language.map(|language| language.code().to_owned()),
            words: prose.terms.len(),
            sentences: prose.sentences.len(),
            truncated: prose.truncated,
        }
    }
}

/// The text of the caller, or of a file.
pub(crate) fn given(text: Option<String>, file_text: Option<String>) -> Result<String, Fault> {
    match (text, file_text) {
        (Some(text), None) | (None, Some(text)) => Ok(text),
        (Some(_), Some(_)) => Err(Fault::invalid_input("/text: give a text or a file, not both")),
        (None, None) => Err(Fault::invalid_input("/text: give a text, or a file")),
    }
}

/// Parses a text on a blocking thread, and runs the work on it.
pub(crate) async fn read<T: Send + 'static>(
    text: String,
    work: impl FnOnce(&Prose<'_>, Reading) -> T + Send + 'static,
) -> Result<T, Fault> {
    let done = tokio::task::spawn_blocking(move || {
        let prose = Prose::read(&text);
        // Numbers and function words alone have no topic.
        prose.content().next().is_some().then(|| work(&prose, Reading::of(&prose)))
    });
    match done.await {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => Err(Fault::invalid_input("/text: it has no words that say what it is about")),
        Err(_) => Err(Fault::internal("the analysis panicked on this text")),
    }
}

/// Rounds a score to four digits.
pub(crate) fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}
