use kit::{Computed, Ctx, Fault, Work};
use language::prose::Prose;
use language::summary::{Length, summary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reading::{Reading, Tool, given, rounded};

/// The longest summary.
const MAX_SENTENCES: usize = 100;

const USUAL_SENTENCES: usize = 3;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The text, unless a file is given.
    #[schemars(length(min = 1))]
    text: Option<String>,
    /// The text in a file; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_text: Option<String>,
    /// How many sentences at most.
    #[schemars(range(min = 1, max = 100))]
    sentences: Option<usize>,
    /// How many words at most; one sentence is given even if it is longer.
    #[schemars(range(min = 1, max = 10_000))]
    max_words: Option<usize>,
    /// Which share of the text's sentences, instead of `sentences`.
    #[schemars(range(min = 0.01, max = 1.0))]
    ratio: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    summary: String,
    sentences: Vec<Sentence>,
    read: Reading,
}

/// A sentence of the summary, and the parts of its score.
#[derive(Serialize, JsonSchema)]
struct Sentence {
    text: String,
    /// Its place in the text, counted from 0.
    index: usize,
    score: f64,
    /// How near it is to what the whole text is about, from 0 to 1.
    centrality: f64,
    /// How early it is in the text, from 0 to 1.
    position: f64,
}

/// The options of a summary.
#[derive(Serialize, Deserialize)]
struct Options {
    sentences: Option<usize>,
    max_words: Option<usize>,
    ratio: Option<f64>,
}

/// The work on a long text.
pub(crate) const SUMMARY: Work = Work::new("summary", |_, bytes| TOOL.compute(&bytes));

const TOOL: Tool<Options, Output> = Tool { work: SUMMARY, run: choose };

fn choose(options: &Options, prose: &Prose<'_>, read: Reading) -> Output {
    let length = Length { sentences: requested_length(prose, options), words: options.max_words };
    let points = summary(prose, length);
    let texts: Vec<_> = points.iter().map(|point| point.text.as_str()).collect();
    Output {
        summary: texts.join(" "),
        sentences: points
            .iter()
            .map(|point| Sentence {
                text: point.text.clone(),
                index: point.index,
                score: rounded(point.score),
                centrality: rounded(point.centrality),
                position: rounded(point.position),
            })
            .collect(),
        read,
    }
}

pub(crate) async fn summarize(input: Input, ctx: Ctx) -> Result<Computed<Output>, Fault> {
    if input.sentences.is_some() && input.ratio.is_some() {
        return Err(Fault::invalid_input("/ratio: give `sentences` or `ratio`, not both"));
    }
    let Input { text, file_text, sentences, max_words, ratio } = input;
    TOOL.answer(&ctx, Options { sentences, max_words, ratio }, given(text, file_text)?).await
}

fn requested_length(prose: &Prose<'_>, options: &Options) -> usize {
    let share = |ratio: f64| (prose.sentences.len() as f64 * ratio).ceil() as usize;
    // Words alone bound a summary as well as sentences do.
    let usual = if options.max_words.is_some() { MAX_SENTENCES } else { USUAL_SENTENCES };
    options.sentences.or(options.ratio.map(share)).unwrap_or(usual).clamp(1, MAX_SENTENCES)
}
