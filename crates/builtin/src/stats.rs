use async_trait::async_trait;
use proto::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strip::Job;
use strip::typed::{About, TypedOutput, TypedTool};

/// Counts characters, words, lines and bytes of a text.
pub(super) struct Stats;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    text: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Counts {
    /// Unicode characters.
    characters: usize,
    /// Runs of characters between white space.
    words: usize,
    /// Lines, a last one without a newline included.
    lines: usize,
    /// Bytes in UTF-8.
    bytes: usize,
    /// About how many tokens a language model sees.
    estimated_tokens: usize,
}

#[async_trait]
impl TypedTool for Stats {
    type Input = Input;
    type Output = Counts;

    fn about(&self) -> About {
        let description =
            "Counts the characters, words, lines and bytes of a text and estimates its tokens.";
        About::reader("text.stats", "Text statistics", description).deterministic()
    }

    async fn run(&self, Input { text }: Input, _: &Job) -> Result<TypedOutput<Counts>, Failure> {
        Ok(Counts {
            characters: text.chars().count(),
            words: text.split_whitespace().count(),
            lines: text.lines().count(),
            bytes: text.len(),
            estimated_tokens: estimated_tokens(&text),
        }
        .into())
    }
}

/// About four Latin characters make a token; of scripts beyond it, nearly every character is one.
fn estimated_tokens(text: &str) -> usize {
    let latin = text.chars().filter(|c| u32::from(*c) < 0x250).count();
    let other = text.chars().count() - latin;
    latin.div_ceil(4) + other
}
