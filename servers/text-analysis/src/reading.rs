//! Reading of the text, shared by all tools.

use kit::{Computed, Ctx, Done, Fault, Refused, Work, blocking};
use language::prose::Prose;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The longest text that is read, in characters.
const MAX_TEXT: usize = 2_000_000;

/// A call of more bytes is worked on in a confined process, which ends with the call: nothing ends a thread.
const LONG: usize = 200_000;

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

/// The text of a call.
pub(crate) struct Given {
    pub(crate) text: String,
    /// Whether its end is left out.
    cut: bool,
}

impl Given {
    /// Changes its text.
    pub(crate) fn map(self, change: impl FnOnce(&str) -> String) -> Self {
        Self { text: change(&self.text), cut: self.cut }
    }
}

/// The text of the caller, or of a file.
pub(crate) fn given(text: Option<String>, file_text: Option<String>) -> Result<Given, Fault> {
    let mut text = match (text, file_text) {
        (Some(text), None) | (None, Some(text)) => text,
        (Some(_), Some(_)) => {
            return Err(Fault::invalid_input("/text: give a text or a file, not both"));
        }
        (None, None) => return Err(Fault::invalid_input("/text: give a text, or a file")),
    };
    let end = text.char_indices().nth(MAX_TEXT).map(|(at, _)| at);
    text.truncate(end.unwrap_or(text.len()));
    Ok(Given { text, cut: end.is_some() })
}

/// The options of a call, and whether the end of the text is left out.
#[derive(Serialize, Deserialize)]
struct ReadingOptions<O> {
    options: O,
    cut: bool,
}

/// One tool: the function that does its work, and the same for a confined process.
pub(crate) struct Tool<O, T> {
    pub(crate) work: Work,
    pub(crate) run: fn(&O, &Prose<'_>, Reading) -> T,
}

impl<O, T> Tool<O, T>
where
    O: Serialize + DeserializeOwned + Send + Sync + 'static,
    T: Serialize + Send + 'static,
{
    /// Works on a text: a short one on a blocking thread, a long one in a confined process.
    pub(crate) async fn answer(
        &self,
        ctx: &Ctx,
        options: O,
        given: Given,
    ) -> Result<Computed<T>, Fault> {
        let asked = ReadingOptions { options, cut: given.cut };
        let options = serde_json::to_vec(&asked.options)
            .map_err(|error| Fault::internal(format!("the options are not JSON: {error}")))?;
        if given.text.len() + options.len() > LONG {
            return ctx.compute(&self.work, &asked, &given.text).await;
        }
        let run = self.run;
        let answer = read(given, move |prose, read| run(&asked.options, prose, read)).await?;
        Computed::new(&answer)
    }

    /// The body of the work.
    pub(crate) fn compute(&self, bytes: &[u8]) -> Result<Done, Refused> {
        kit::compute(bytes, |asked: ReadingOptions<O>, text: &str| {
            let given = Given { text: text.to_owned(), cut: asked.cut };
            let answer = read_now(&given, |prose, read| (self.run)(&asked.options, prose, read));
            answer.ok_or_else(|| Refused::new("no_words", NO_WORDS))
        })
    }
}

const NO_WORDS: &str = "/text: it has no words that say what it is about";

/// Parses a text on a blocking thread, and runs the work on it.
pub(crate) async fn read<T: Send + 'static>(
    given: Given,
    work: impl FnOnce(&Prose<'_>, Reading) -> T + Send + 'static,
) -> Result<T, Fault> {
    let answer = blocking(move || read_now(&given, work)).await?;
    answer.ok_or_else(|| Fault::invalid_input(NO_WORDS))
}

/// The answer for a text; `None` for numbers and function words alone, which have no topic.
fn read_now<T>(given: &Given, work: impl FnOnce(&Prose<'_>, Reading) -> T) -> Option<T> {
    let prose = Prose::read(&given.text);
    prose.content().next()?;
    let reading = Reading {
        language: prose.language.map(|language| language.code().to_owned()),
        words: prose.terms.len(),
        sentences: prose.sentences.len(),
        truncated: prose.truncated || given.cut,
    };
    Some(work(&prose, reading))
}

/// Rounds a score to four digits.
pub(crate) fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}
