use async_trait::async_trait;
use proto::Descriptor;
use serde_json::{Value, json};
use strip::{Failure, Job, Output, Tool};

use super::sheet::Sheet;

/// Counts what a text is made of.
pub(super) struct Stats(Descriptor);

impl Default for Stats {
    fn default() -> Self {
        let count = |what: &str| json!({"type": "integer", "minimum": 0, "description": what});
        Self(
            Sheet {
                id: "text.stats",
                title: "Text statistics",
                description: "Counts the characters, words, lines and bytes of a text and estimates how many tokens \
                              a language model would read it as. Use it to see whether a text fits a limit.",
                deterministic: true,
                input: json!({
                    "type": "object",
                    "properties": {
                        "text": {"type": "string", "description": "The text to measure."},
                    },
                    "required": ["text"],
                    "additionalProperties": false,
                }),
                output: json!({
                    "type": "object",
                    "properties": {
                        "characters": count("Unicode characters."),
                        "words": count("Runs of characters between white space."),
                        "lines": count("Lines, a last one without a newline included."),
                        "bytes": count("Bytes in UTF-8."),
                        "estimatedTokens": count("About how many tokens a language model sees."),
                    },
                    "required": ["characters", "words", "lines", "bytes", "estimatedTokens"],
                    "additionalProperties": false,
                }),
            }
            .descriptor(),
        )
    }
}

#[async_trait]
impl Tool for Stats {
    fn descriptor(&self) -> &Descriptor {
        &self.0
    }

    async fn run(&self, call: &Job) -> Result<Output, Failure> {
        Ok(Output::new(measure(call.request.input["text"].as_str().unwrap_or_default())))
    }
}

fn measure(text: &str) -> Value {
    json!({
        "characters": text.chars().count(),
        "words": text.split_whitespace().count(),
        "lines": text.lines().count(),
        "bytes": text.len(),
        "estimatedTokens": estimated_tokens(text),
    })
}

/// About four Latin characters make a token; of scripts beyond it, nearly every character is one.
fn estimated_tokens(text: &str) -> usize {
    let latin = text.chars().filter(|c| u32::from(*c) < 0x250).count();
    let other = text.chars().count() - latin;
    latin.div_ceil(4) + other
}
