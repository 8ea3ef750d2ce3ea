//! How well an output of an earlier task fits a field.

use crate::steps::Step;
use crate::tool::{Field, Kind, Sense, ToolSpec};
use crate::word_list::WordList;

/// How well an output of an earlier task fits a field, and whether the step names that output.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EdgeScore {
    pub(crate) score: f32,
    pub(crate) explicit: bool,
}

/// Scores an edge; `distance` is the number of tasks between, `None` if the types differ.
pub(crate) fn of_output(
    field: &Field,
    producer: &ToolSpec,
    output: &Field,
    step: &Step,
    distance: usize,
) -> Option<EdgeScore> {
    let mut score = types_agree(field, output)?;
    let same = output.name_stems == field.name_stems;
    score += if same {
        4.0
    } else {
        let is_last =
            field.name_stems.len() == 1 && output.name_stems.last() == field.name_stems.last();
        1.2 * specific(&field.name_stems, &output.name_stems) as f32
            + if is_last { 1.0 } else { 0.0 }
    };
    let names_it = belongs_to(field, producer, output);
    if names_it && !same {
        score += 2.5;
    }
    score +=
        (0.4 * field.about_stems.shared(|stem| output.about_stems.contains(stem)) as f32).min(0.8);
    let content: Vec<&str> = output.name_stems.iter().filter(|stem| stem.len() > 2).collect();
    // `the time` means a `datetime`.
    let is_product =
        |name: &str| step.product.iter().any(|word| word.len() > 3 && name.ends_with(word));
    let produced = output.name_words.iter().filter(|name| is_product(name)).count();
    let named =
        content.iter().filter(|stem| step.says(stem)).count().max(produced.min(content.len()));
    let share = if content.is_empty() { 0.0 } else { named as f32 / content.len() as f32 };
    score += 3.0 * share;
    let tool_named = producer.name_stems.shared(|stem| step.says(stem)).min(2);
    score += 0.5 * tool_named as f32;
    let described = output.about_stems.shared(|stem| step.says(stem)).min(2);
    score += 0.3 * described as f32;
    // `it` is what a tool gives, not how it counts or where it goes on.
    let is_named = share > 0.0 || same;
    if output.is_named(&BOOKKEEPING) && !is_named {
        score -= 3.0;
    } else if step.has_pronoun && distance == 0 {
        score += 1.2;
    }
    if producer.outputs.len() == 1 {
        score += 0.4;
    }
    score += 0.2 * producer.name_stems.shared(|stem| output.name_stems.contains(stem)) as f32;
    score -= 0.15 * distance as f32;
    Some(EdgeScore { score, explicit: share >= 0.5 || step.has_pronoun && distance == 0 })
}

/// Whether `invoice_id` is the `id` of a tool about invoices.
pub(crate) fn belongs_to(field: &Field, producer: &ToolSpec, output: &Field) -> bool {
    field.name_stems.len() > output.name_stems.len()
        && field.name_stems.last() == output.name_stems.last()
        && field
            .name_stems
            .iter()
            .all(|stem| output.name_stems.contains(stem) || producer.name_stems.contains(stem))
}

/// Words of names of outputs that tell how a call went.
const BOOKKEEPING: [&str; 14] = [
    "cursor",
    "token",
    "next",
    "count",
    "total",
    "status",
    "ok",
    "success",
    "error",
    "errors",
    "warning",
    "warnings",
    "truncated",
    "duration",
];

/// Stems of names that say little about a value.
const GENERIC: [&str; 13] = [
    "number", "name", "id", "of", "type", "date", "time", "value", "result", "data", "text",
    "status", "total",
];

/// The stems that two names share, without those that many names have.
fn specific(a: &WordList, b: &WordList) -> usize {
    a.shared(|stem| !GENERIC.contains(&stem) && b.contains(stem))
}

/// Whether the objects of a list have the fields that those of another list must have, as far as this is known.
fn has_fields_of(field: &Field, output: &Field) -> bool {
    let are_objects =
        field.kind == Kind::List && output.kind == Kind::List && !output.fields.is_empty();
    let mut required = field.fields.iter().filter(|inner| inner.required);
    let has =
        |inner: &Field| output.fields.iter().any(|other| other.name_stems == inner.name_stems);
    !are_objects || required.all(has)
}

/// `None` if an output can never be this field.
pub(crate) fn types_agree(field: &Field, output: &Field) -> Option<f32> {
    if field.is_flag() && !output.is_flag() {
        return None;
    }
    let same_options = field.options == output.options || field.name_stems == output.name_stems;
    if !field.options.is_empty() && !same_options {
        return None;
    }
    if !has_fields_of(field, output) {
        return None;
    }
    let kinds = match (field.kind, output.kind) {
        (a, b) if a == b => 0.6,
        (Kind::Any, _) | (_, Kind::Any) => 0.3,
        (Kind::Number, Kind::Integer) | (Kind::Integer, Kind::Number) => 0.5,
        (Kind::Text, Kind::Integer | Kind::Number) => 0.2,
        // Each item of a list, or the list for a field that takes one.
        (Kind::Text | Kind::Integer | Kind::Number, Kind::List) => 0.0,
        (Kind::List, Kind::Text) => -0.3,
        (Kind::Integer | Kind::Number, Kind::Text) => -0.8,
        (Kind::Text, Kind::Object | Kind::Boolean) => -0.8,
        _ => return None,
    };
    let senses = match (field.sense, output.sense) {
        (a, b) if a == b => 0.3,
        (Sense::Email | Sense::Url | Sense::Phone, _) => -3.0,
        (Sense::Date | Sense::Time, Sense::Other | Sense::Date) => -0.5,
        (Sense::Date | Sense::Time, _) => -2.5,
        (Sense::Percent, _) => -1.5,
        (Sense::Place | Sense::Path | Sense::Id, Sense::Other) => -0.8,
        (_, Sense::Date | Sense::Time) => -0.5,
        _ => 0.0,
    };
    Some(kinds + senses)
}
