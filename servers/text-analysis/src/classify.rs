use std::collections::HashSet;
use std::sync::Arc;

use kit::Fault;
use language::classify;
use language::model::StaticModel;
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
    /// What the text may be; each a name, or a name with a description and examples.
    #[schemars(length(min = 2, max = 100))]
    labels: Vec<Label>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Label {
    Name(#[schemars(length(min = 1, max = 200))] String),
    Described(Described),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Described {
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// What texts with this label are about.
    #[serde(default)]
    #[schemars(length(max = 5_000))]
    description: String,
    /// Texts that have this label.
    #[serde(default)]
    #[schemars(length(max = 200))]
    examples: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The most probable label; null if no word of the text supports any.
    label: Option<String>,
    /// Its probability.
    probability: Option<f64>,
    /// All labels, likeliest first.
    labels: Vec<Verdict>,
    read: Reading,
}

#[derive(Serialize, JsonSchema)]
struct Verdict {
    name: String,
    probability: f64,
    /// Words of the text that support the label, strongest first.
    evidence: Vec<String>,
}

pub(crate) async fn classify(
    input: Input,
    model: Option<Arc<StaticModel>>,
) -> Result<Output, Fault> {
    let labels: Vec<_> = input.labels.into_iter().map(classify::Label::from).collect();
    let mut names = HashSet::new();
    if let Some(twice) = labels.iter().find(|label| !names.insert(label.name.trim().to_lowercase()))
    {
        return Err(Fault::invalid_input(format!("/labels: `{}` is there twice", twice.name)));
    }
    read(given(input.text, input.file_text)?, move |prose, read| {
        let verdicts = classify::classify(prose, &labels, model.as_deref());
        let verdicts: Vec<_> = verdicts
            .into_iter()
            .map(|verdict| Verdict {
                name: labels[verdict.label].name.clone(),
                probability: crate::reading::rounded(verdict.probability),
                evidence: verdict.evidence,
            })
            .collect();
        let best = verdicts.first().filter(|best| !best.evidence.is_empty());
        Output {
            label: best.map(|best| best.name.clone()),
            probability: best.map(|best| best.probability),
            labels: verdicts,
            read,
        }
    })
    .await
}

impl From<Label> for classify::Label {
    fn from(label: Label) -> Self {
        match label {
            Label::Name(name) => Self { name, ..Self::default() },
            Label::Described(Described { name, description, examples }) => {
                Self { name, description, examples }
            }
        }
    }
}
