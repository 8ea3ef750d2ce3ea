use keyphrases::{LONGEST, keyphrases, part_lines};
use kit::{Computed, Ctx, Fault, Work};
use language::prose::Prose;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reading::{Reading, Tool, given, rounded};

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

/// The options of the search for keywords.
#[derive(Serialize, Deserialize)]
struct Options {
    limit: usize,
    max_words: usize,
}

/// The work on a long text.
pub(crate) const KEYWORDS: Work = Work::new("keywords", |_, bytes| TOOL.compute(&bytes));

const TOOL: Tool<Options, Output> = Tool { work: KEYWORDS, run: find };

fn find(options: &Options, prose: &Prose<'_>, read: Reading) -> Output {
    let found = keyphrases(prose, options.limit, options.max_words.min(LONGEST));
    let keywords = found.into_iter().map(|found| Keyword {
        phrase: found.phrase,
        score: rounded(found.score),
        occurrences: found.occurrences,
        first_sentence: found.first_sentence,
    });
    Output { keywords: keywords.collect(), read }
}

pub(crate) async fn extract(input: Input, ctx: Ctx) -> Result<Computed<Output>, Fault> {
    let Input { text, file_text, limit, max_words } = input;
    let text = given(text, file_text)?.map(|text| part_lines(text).into_owned());
    TOOL.answer(&ctx, Options { limit, max_words }, text).await
}
