use std::collections::HashSet;
use std::sync::Arc;

use kit::{Computed, Ctx, Fault, Work};
use language::classify;
use language::model::StaticModel;
use language::prose::Prose;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reading::{self, Reading, Tool, given, rounded};

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

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Label {
    Name(#[schemars(length(min = 1, max = 200))] String),
    Described(Described),
}

#[derive(Serialize, Deserialize, JsonSchema)]
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

/// The labels to choose from.
#[derive(Serialize, Deserialize)]
struct Options {
    labels: Vec<Label>,
}

/// The work on a long text.
pub(crate) const CLASSES: Work = Work::new("classes", |_, bytes| TOOL.compute(&bytes));

const TOOL: Tool<Options, Output> = Tool { work: CLASSES, run: compare };

fn compare(options: &Options, prose: &Prose<'_>, read: Reading) -> Output {
    compare_with(options, None, prose, read)
}

fn compare_with(
    options: &Options,
    model: Option<&StaticModel>,
    prose: &Prose<'_>,
    read: Reading,
) -> Output {
    let labels: Vec<_> = options.labels.iter().map(classify::Label::from).collect();
    let verdicts = classify::classify(prose, &labels, model);
    let verdicts: Vec<_> = verdicts
        .into_iter()
        .map(|verdict| Verdict {
            name: labels[verdict.label].name.clone(),
            probability: rounded(verdict.probability),
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
}

pub(crate) async fn classify(
    input: Input,
    ctx: Ctx,
    model: Option<Arc<StaticModel>>,
) -> Result<Computed<Output>, Fault> {
    let Input { text, file_text, labels } = input;
    let mut names = HashSet::new();
    if let Some(twice) = labels.iter().find(|it| !names.insert(it.name().trim().to_lowercase())) {
        return Err(Fault::invalid_input(format!("/labels: `{}` is there twice", twice.name())));
    }
    let (given, options) = (given(text, file_text)?, Options { labels });
    let Some(model) = model else { return TOOL.answer(&ctx, options, given).await };
    // A confined process does not have the model.
    let work = move |prose: &Prose<'_>, read| compare_with(&options, Some(&*model), prose, read);
    Computed::new(&reading::read(given, work).await?)
}

impl Label {
    fn name(&self) -> &str {
        match self {
            Self::Name(name) | Self::Described(Described { name, .. }) => name,
        }
    }
}

impl From<&Label> for classify::Label {
    fn from(label: &Label) -> Self {
        match label {
            Label::Name(name) => Self { name: name.clone(), ..Self::default() },
            Label::Described(Described { name, description, examples }) => Self {
                name: name.clone(),
                description: description.clone(),
                examples: examples.clone(),
            },
        }
    }
}
