use keyphrases::{LONGEST, keyphrases, part_lines};
use kit::{Ctx, Fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reading::{Reading, given, read};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The text, unless a file is given.
    #[schemars(length(min = 1))]
    text: Option<String>,
    /// The text in a file; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_text: Option<String>,
    /// How many phrases at most.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    /// How many words one phrase may have.
    #[serde(default = "four")]
    #[schemars(range(min = 1, max = 4))]
    max_words: usize,
}

fn ten() -> usize {
    10
}

fn four() -> usize {
    4
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Best first.
    keywords: Vec<Keyword>,
    read: Reading,
}

#[derive(Serialize, JsonSchema)]
struct Keyword {
    /// As it is mostly written in the text.
    phrase: String,
    /// From 1 for the best of this text downwards.
    score: f64,
    occurrences: usize,
    /// The first sentence that has it, counted from 0.
    first_sentence: usize,
}

pub(crate) async fn extract(input: Input, _ctx: Ctx) -> Result<Output, Fault> {
    let Input { text, file_text, limit, max_words } = input;
    let text = given(text, file_text)?;
    read(part_lines(&text).into_owned(), move |prose, read| {
        let found = keyphrases(prose, limit, max_words.min(LONGEST));
        let keywords = found.into_iter().map(|found| Keyword {
            phrase: found.phrase,
            score: crate::reading::rounded(found.score),
            occurrences: found.occurrences,
            first_sentence: found.first_sentence,
        });
        Output { keywords: keywords.collect(), read }
    })
    .await
}
