//! Arguments that earlier tasks give.

use serde_json::Value;

use super::{Filling, Source};
use crate::draft::{Argument, Items};
use crate::edges::EdgeKey;
use crate::score::{self, EdgeScore};
use crate::tool::{Field, Kind};

/// An edge with this score is used before values that fit by type alone.
const SURE: f32 = 3.5;
/// An edge with this score is used where nothing else fits.
const LIKELY: f32 = 2.0;
/// The score from which on an edge fills an optional field.
const OPTIONAL: f32 = 5.5;

/// An output of an earlier task for a slot.
struct Edge<'a> {
    score: EdgeScore,
    task: usize,
    output: &'a Field,
    argument: Argument,
    for_each: Option<Items>,
}

impl Filling<'_> {
    /// Outputs that the step names, or means by a pronoun.
    pub(super) fn named_outputs(&mut self) {
        self.connect(false, |required, edge| {
            edge.explicit && edge.score >= if required { SURE } else { OPTIONAL }
        });
    }

    /// Outputs of the name of the field.
    pub(super) fn equal_outputs(&mut self) {
        self.connect(true, |_, edge| edge.score >= SURE);
    }

    /// Outputs that the step means and that fit at all.
    pub(super) fn any_outputs(&mut self) {
        self.connect(true, |_, edge| edge.explicit && edge.score >= LIKELY);
    }

    /// Values that an earlier task of the same family was given for an argument of the same name.
    pub(super) fn same_arguments(&mut self) {
        for slot in self.open_required() {
            let field = self.slots[slot].field;
            let given = self.earlier.iter().rev().find_map(|source| {
                let is_family =
                    !source.tool.family.is_empty() && source.tool.family == self.tool.family;
                literals(source).find_map(|(input, value)| {
                    let is_folder = value.as_str().is_some_and(|path| !score::is_file(path));
                    let unfit = is_folder && self.tool.takes_file && !source.tool.takes_file;
                    let same =
                        input.name_stems == field.name_stems && input.kind == field.kind && !unfit;
                    (is_family && same).then(|| value.clone())
                })
            });
            if let Some(value) = given {
                self.set(slot, Argument::Literal(value), 3.0);
            }
        }
    }

    /// Values that earlier tasks were given and that this step names, each once.
    pub(super) fn named_arguments(&mut self) {
        let mut taken: Vec<(usize, &str)> = Vec::new();
        for slot in self.open_required() {
            let field = self.slots[slot].field;
            let found = self.earlier.iter().rev().find_map(|source| {
                literals(source).find_map(|(input, value)| {
                    let other_name = input.name_stems != field.name_stems;
                    let says = |stem: &str| stem.len() > 2 && self.step.says(stem);
                    let fits = super::accepts(field, value)
                        && input.sense == field.sense
                        && input.kind == field.kind;
                    let free = !taken.contains(&(source.task, &*input.name));
                    (fits && other_name && free && input.name_stems.iter().all(says))
                        .then(|| (source.task, &*input.name, value.clone()))
                })
            });
            if let Some((task, name, value)) = found {
                taken.push((task, name));
                self.set(slot, Argument::Literal(value), 2.0);
            }
        }
    }

    fn connect(&mut self, required_only: bool, accepted: impl Fn(bool, EdgeScore) -> bool) {
        let open = if required_only { self.open_required() } else { self.open() };
        let mut found: Vec<(usize, Edge<'_>)> = Vec::new();
        for slot in open {
            let required = self.slots[slot].required;
            for edge in self.edges(slot) {
                if accepted(required, edge.score) {
                    found.push((slot, edge));
                }
            }
        }
        found.sort_by(|(a_slot, a), (b_slot, b)| {
            b.score
                .score
                .total_cmp(&a.score.score)
                .then(a_slot.cmp(b_slot))
                .then(b.task.cmp(&a.task))
        });
        let mut slots = Vec::new();
        let mut outputs = self.used_outputs.clone();
        let mut chosen: Vec<(usize, Argument, Option<Items>, f32)> = Vec::new();
        for (slot, edge) in found {
            let output = (edge.task, edge.output.name.to_string());
            if slots.contains(&slot) || outputs.contains(&output) {
                continue;
            }
            slots.push(slot);
            outputs.push(output);
            chosen.push((slot, edge.argument, edge.for_each, edge.score.score));
        }
        self.used_outputs = outputs;
        for (slot, argument, for_each, score) in chosen {
            if let Some(items) = for_each {
                match &self.for_each {
                    // One list at a time.
                    Some(before) if *before != items => continue,
                    Some(_) => {}
                    None => self.for_each = Some(items),
                }
            }
            self.set(slot, argument, score);
        }
    }

    fn edges(&self, slot: usize) -> Vec<Edge<'_>> {
        let slot = &self.slots[slot];
        let field = slot.field;
        let mut edges = Vec::new();
        for (place, source) in self.earlier.iter().enumerate() {
            let distance = self.earlier.len() - 1 - place;
            for output in &source.tool.outputs {
                let Some(mut score) =
                    score::of_output(field, source.tool, output, self.step, distance)
                else {
                    continue;
                };
                // The earlier task repeats its own input here: the value is known without the edge.
                let echoes = |input: &Field| input.name_stems == output.name_stems;
                score.explicit &= !source.tool.inputs.iter().any(echoes);
                if !self.scene.learned.is_empty() {
                    let bonus = self.scene.learned.bonus(&EdgeKey {
                        from_tool: source.tool.id.clone(),
                        from_field: output.name.to_string(),
                        to_tool: self.tool.id.clone(),
                        to_argument: slot.path.join("."),
                    });
                    score.score += bonus;
                    score.explicit |= bonus > 0.0;
                }
                let reference = (source.task, output.name.to_string());
                let (argument, for_each) = match (field.kind, output.kind) {
                    // Its output is a list of what each call returned.
                    (_, Kind::List) if source.is_repeated() => continue,
                    (Kind::List, _) if source.is_repeated() => continue,
                    _ if source.is_repeated() => (
                        Argument::Item(Some(reference.1)),
                        Some(Items::Output { task: reference.0, field: String::new() }),
                    ),
                    (Kind::Text | Kind::Integer | Kind::Number, Kind::List) => {
                        let Some(inner) = item_field(field, output) else { continue };
                        (
                            Argument::Item(inner),
                            Some(Items::Output { task: reference.0, field: reference.1 }),
                        )
                    }
                    (Kind::List, Kind::Text | Kind::Integer | Kind::Number) => {
                        (Argument::OneItem { task: reference.0, field: reference.1 }, None)
                    }
                    _ => (Argument::Output { task: reference.0, field: reference.1 }, None),
                };
                edges.push(Edge { score, task: source.task, output, argument, for_each });
            }
        }
        edges
    }
}

/// The values that an earlier task was given.
fn literals<'a>(source: &Source<'a>) -> impl Iterator<Item = (&'a Field, &'a Value)> {
    let tool = source.tool;
    source.filled.into_iter().flat_map(|filled| &filled.arguments).filter_map(
        move |(path, argument)| {
            let Argument::Literal(value) = argument else { return None };
            let input = tool
                .inputs
                .iter()
                .find(|input| Some(&*input.name) == path.last().map(String::as_str))?;
            Some((input, value))
        },
    )
}

/// The field of a list's items that a value is taken from: `Some(None)` for the item itself, `None` if nothing fits.
fn item_field(field: &Field, list: &Field) -> Option<Option<String>> {
    if list.fields.is_empty() {
        return (list.item != Some(Kind::Object)).then_some(None);
    }
    let same = list.fields.iter().find(|inner| inner.name_stems == field.name_stems);
    let similar = || {
        let last = field.name_stems.last()?;
        list.fields.iter().find(|inner| inner.name_stems.contains(last))
    };
    let found = same.or_else(similar)?;
    (score::types_agree(field, found).is_some()).then(|| Some(found.name.to_string()))
}
