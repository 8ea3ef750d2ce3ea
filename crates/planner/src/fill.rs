//! Fills the arguments of one task.

mod bare;
mod edges;
mod files;
mod literals;
mod objects;

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::draft::{Argument, Items};
use crate::edges::LearnedEdges;
use crate::forbidden::Prohibition;
use crate::graph::Toolbox;
use crate::mention::{Mention, Written, days_of};
use crate::score::STRONG;
use crate::steps::Step;
use crate::tool::{Field, Sense, ToolSpec};
use crate::value;

/// The values from which all tasks of a plan are filled.
pub(crate) struct Scene<'a> {
    /// The request, with spaces instead of what it forbids.
    pub(crate) text: &'a str,
    /// The request as written.
    pub(crate) whole: &'a str,
    pub(crate) mentions: &'a [Mention],
    /// The parts of the request that forbid something.
    pub(crate) forbidden: Vec<Prohibition>,
    /// The end of a request that has more values than are read.
    pub(crate) unread: Option<&'a str>,
    pub(crate) context: &'a Map<String, Value>,
    pub(crate) toolbox: &'a Toolbox,
    pub(crate) learned: &'a LearnedEdges,
    pub(crate) visible: &'a dyn Fn(usize) -> bool,
    pub(crate) fits: Fits,
}

impl Scene<'_> {
    /// Whether a value is the name of a tool that the caller can use, and no value at all.
    pub(crate) fn names_tool(&self, mention: &Mention) -> bool {
        mention.value == Written::Name
            && !mention.quoted
            && self.toolbox.has_tool(&mention.text, self.visible)
    }
}

/// How well values fit fields: by tool, then by field and value. A tool is tried for several steps.
#[derive(Default)]
pub(crate) struct Fits {
    by_tool: RefCell<HashMap<usize, Vec<Option<Option<f32>>>>>,
}

impl Fits {
    /// The fit of a value for a field, computed once; `values` is how many values there are.
    fn of(
        &self,
        tool: usize,
        (field, value): (usize, usize),
        values: usize,
        compute: impl FnOnce() -> Option<f32>,
    ) -> Option<f32> {
        let mut by_tool = self.by_tool.borrow_mut();
        let fits = by_tool.entry(tool).or_default();
        let place = field * values + value;
        if fits.len() <= place {
            fits.resize(place + 1, None);
        }
        *fits[place].get_or_insert_with(compute)
    }
}

/// An earlier task whose outputs and arguments can be used.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    /// Its number in the plan.
    pub(crate) task: usize,
    pub(crate) tool: &'a ToolSpec,
    pub(crate) filled: Option<&'a Filled>,
    /// It was there before, and is called for each item of a list.
    pub(crate) is_list: bool,
}

impl Source<'_> {
    /// Whether it is called for each item of a list.
    fn is_repeated(&self) -> bool {
        self.is_list || self.filled.is_some_and(|filled| filled.for_each.is_some())
    }
}

/// One field to fill; the path is longer than one for fields of objects.
struct Slot<'a> {
    path: Vec<&'a str>,
    field: &'a Field,
    required: bool,
    argument: Option<Argument>,
    /// How sure the argument is.
    score: f32,
    /// The values of the request that it consists of.
    values: Vec<usize>,
}

/// The arguments of a task.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filled {
    /// By path.
    pub(crate) arguments: Vec<(Vec<String>, Argument)>,
    /// The names of required arguments that stay open.
    pub(crate) missing: Vec<String>,
    /// The values of the request that it uses.
    pub(crate) used: Vec<usize>,
    pub(crate) for_each: Option<Items>,
    /// The share of required arguments that are filled.
    pub(crate) share: f32,
    /// How much `share` suggests that this is the right tool: text for a field that takes any text counts half.
    pub(crate) evidence: f32,
    /// Whether a list got several values of the request, or a single one.
    pub(crate) list: Option<ListOf>,
}

/// What the lists among the arguments hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListOf {
    One,
    Several,
}

/// The work on one task.
pub(crate) struct Filling<'a> {
    scene: &'a Scene<'a>,
    /// Its index in the toolbox.
    index: usize,
    tool: &'a ToolSpec,
    step: &'a Step,
    earlier: &'a [Source<'a>],
    slots: Vec<Slot<'a>>,
    used: Vec<usize>,
    /// Outputs that it uses, each once.
    used_outputs: Vec<(usize, String)>,
    for_each: Option<Items>,
}

/// Fills the arguments of a tool for one step.
pub(crate) fn fill<'a>(
    scene: &'a Scene<'a>,
    index: usize,
    step: &'a Step,
    earlier: &'a [Source<'a>],
) -> Filled {
    let tool = &scene.toolbox.tools[index];
    let mut slots = Vec::new();
    for field in &tool.inputs {
        add_slots(field, Vec::new(), field.required, &mut slots);
    }
    let mut filling = Filling {
        scene,
        index,
        tool,
        step,
        earlier,
        slots,
        used: Vec::new(),
        used_outputs: Vec::new(),
        for_each: None,
    };
    filling.words();
    filling.own_values();
    filling.fill_bare_words();
    filling.named_outputs();
    filling.same_arguments();
    filling.named_arguments();
    filling.files_of_pronoun();
    filling.known_file();
    filling.other_values();
    filling.context();
    filling.dates();
    filling.equal_outputs();
    filling.remaining_values();
    filling.any_outputs();
    filling.objects();
    filling.topic();
    filling.spread();
    filling.join_folder();
    filling.join_name();
    filling.keep_name();
    filling.finish()
}

fn add_slots<'a>(
    field: &'a Field,
    mut path: Vec<&'a str>,
    required: bool,
    slots: &mut Vec<Slot<'a>>,
) {
    path.push(&field.name);
    let is_object = field.kind == crate::tool::Kind::Object && !field.fields.is_empty();
    if !is_object || path.len() > 3 {
        slots.push(Slot { path, field, required, argument: None, score: 0.0, values: vec![] });
        return;
    }
    let none_required = field.fields.iter().all(|inner| !inner.required);
    for inner in &field.fields {
        add_slots(inner, path.clone(), required && (inner.required || none_required), slots);
    }
}

impl Filling<'_> {
    fn set(&mut self, slot: usize, argument: Argument, score: f32) {
        let slot = &mut self.slots[slot];
        slot.argument = Some(argument);
        slot.score = score;
    }

    /// Sets an argument that consists of values of the request, which are not used again.
    fn take(&mut self, slot: usize, values: Vec<usize>, argument: Argument, score: f32) {
        let unused = values.iter().filter(|place| !self.used.contains(place)).copied();
        self.used.extend(unused.collect::<Vec<_>>());
        self.slots[slot].values = values;
        self.set(slot, argument, score);
    }

    /// The slots that are still open, by index.
    fn open(&self) -> Vec<usize> {
        (0..self.slots.len()).filter(|&slot| self.slots[slot].argument.is_none()).collect()
    }

    fn open_required(&self) -> Vec<usize> {
        self.open().into_iter().filter(|&slot| self.slots[slot].required).collect()
    }

    /// Flags and options that the words of the step name.
    fn words(&mut self) {
        for slot in self.open() {
            let (field, required) = (self.slots[slot].field, self.slots[slot].required);
            if field.is_flag() {
                let text = &self.step.query;
                let forbidden = &self.scene.forbidden;
                let off = || forbidden.iter().find_map(|part| value::flag_off(field, &part.step));
                if let Some(value) = value::flag(field, text, self.step).or_else(off) {
                    self.set(slot, Argument::Literal(value), 2.0);
                }
            } else if let Some((option, exact)) = value::option_in_words(field, self.step)
                && (exact || required)
                && (field.kind != crate::tool::Kind::List || value::is_said(&option, self.step))
            {
                let is_list = field.kind == crate::tool::Kind::List;
                let value = if is_list { Value::Array(vec![option]) } else { option };
                self.set(slot, Argument::Literal(value), if exact { 3.0 } else { 1.0 });
            }
        }
    }

    /// Values of the caller's context: by name, then, for required fields, by type.
    fn context(&mut self) {
        for slot in self.open() {
            let field = self.slots[slot].field;
            let named = self.scene.context.iter().find(|(key, value)| {
                crate::tool::stems(key) == crate::tool::stems(&field.name) && accepts(field, value)
            });
            if let Some((_, value)) = named {
                self.set(slot, Argument::Literal(value.clone()), 3.0);
            }
        }
        for slot in self.open_required() {
            let field = self.slots[slot].field;
            let mut fitting = self.scene.context.iter().filter_map(|(key, value)| {
                let score = context_score(field, key, value, self.step)?;
                Some((value, score))
            });
            let mut best: Option<(&Value, f32)> = fitting.next();
            for (value, score) in fitting {
                if best.is_none_or(|(_, before)| score > before) {
                    best = Some((value, score));
                }
            }
            let Some((value, score)) = best else { continue };
            match value {
                Value::Array(items) if !accepts(field, value) => {
                    if self.for_each.is_none() {
                        self.for_each = Some(Items::Values(items.clone()));
                        self.set(slot, Argument::Item(None), score);
                    }
                }
                value => self.set(slot, Argument::Literal(value.clone()), score),
            }
        }
    }

    /// An end date from a start date and a duration, and the days between two dates.
    fn dates(&mut self) {
        let mentions = self.scene.mentions;
        let places = 0..mentions.len();
        let dates: Vec<usize> =
            places.filter(|&place| matches!(mentions[place].value, Written::Date(_))).collect();
        let written = |place: usize| match &mentions[place].value {
            Written::Date(date) => Some(date),
            _ => None,
        };
        let duration = mentions.iter().position(|mention| days_of(mention).is_some());
        for slot in self.open() {
            let field = self.slots[slot].field;
            let is_end =
                field.is_named(&["end", "dropoff", "return", "out", "until", "to", "checkout"]);
            if field.sense == Sense::Date
                && is_end
                && self.slots[slot].required
                && let Some(&first) = dates.first()
                && let Some(start) = written(first)
                && let Some(duration) = duration
                && let Some(days) = days_of(&mentions[duration])
                && let Some(end) = start.later(days)
            {
                let end = if field.wants_iso {
                    language::dates::DateForm::Iso.write(end.date)
                } else {
                    end.text()
                };
                let end = Argument::Literal(Value::from(end));
                self.take(slot, vec![first, duration], end, 1.5);
            }
            let counts_days = field.is_named(&["days", "nights", "day", "night"])
                && field.is_named(&["number", "num", "count", "days", "nights"]);
            if counts_days
                && let [first, second] = dates[..]
                && let (Some(start), Some(end)) = (written(first), written(second))
                && let Ok(span) = start.date.until(end.date)
                && span.get_days() > 0
            {
                let days = span.get_days();
                let value = match field.kind {
                    crate::tool::Kind::Integer | crate::tool::Kind::Number => Value::from(days),
                    _ => Value::from(days.to_string()),
                };
                self.take(slot, vec![first, second], Argument::Literal(value), 1.5);
            }
        }
    }

    /// Leaves out optional objects that lack a field which they must have: the tool would refuse them.
    fn drop_partial_objects(&mut self) {
        let tool = self.tool;
        for input in &tool.inputs {
            self.drop_partial(input, &mut Vec::new());
        }
    }

    /// Whether a field has a value or can go without; objects that have only a part of theirs are emptied.
    fn drop_partial<'f>(&mut self, field: &'f Field, path: &mut Vec<&'f str>) -> bool {
        path.push(&field.name);
        let within = |slot: &Slot<'_>| slot.path.starts_with(path.as_slice());
        let has_value = self.slots.iter().any(|slot| within(slot) && slot.argument.is_some());
        let is_object = self.slots.iter().any(|slot| slot.path.len() > path.len() && within(slot));
        let mut is_complete = has_value;
        if is_object && has_value {
            for inner in &field.fields {
                let has = self.drop_partial(inner, path);
                is_complete &= has || !inner.required;
            }
            let within = |slot: &Slot<'_>| slot.path.starts_with(path.as_slice());
            let in_required = self.slots.iter().any(|slot| slot.required && within(slot));
            if !is_complete && !in_required {
                for slot in
                    self.slots.iter_mut().filter(|slot| slot.path.starts_with(path.as_slice()))
                {
                    slot.argument = None;
                    // Nothing uses them any more.
                    self.used.retain(|place| !slot.values.contains(place));
                    slot.values.clear();
                }
            }
        }
        path.pop();
        is_complete
    }

    fn finish(mut self) -> Filled {
        self.drop_partial_objects();
        let required = self.slots.iter().filter(|slot| slot.required && !slot.field.has_default);
        let (mut all, mut filled, mut evidence, mut missing) = (0.0, 0.0, 0.0, Vec::new());
        for slot in required {
            all += 1.0;
            if slot.argument.is_some() {
                filled += 1.0;
                evidence += slot.evidence();
            } else {
                missing.push(slot.path.join("."));
            }
        }
        let share = |count: f32| if all == 0.0 { 1.0 } else { count / all };
        let list = self.slots.iter().find_map(|slot| match &slot.argument {
            Some(Argument::Literal(Value::Array(items))) if items.len() == 1 => {
                slot.required.then_some(ListOf::One)
            }
            Some(Argument::Literal(Value::Array(_))) => Some(ListOf::Several),
            _ => None,
        });
        let arguments = self
            .slots
            .into_iter()
            .filter_map(|slot| {
                let path = slot.path.into_iter().map(ToOwned::to_owned).collect();
                Some((path, slot.argument?))
            })
            .collect();
        Filled {
            arguments,
            missing,
            used: self.used,
            for_each: self.for_each,
            share: share(filled),
            evidence: share(evidence),
            list,
        }
    }
}

impl Slot<'_> {
    /// How much its argument is a sign that this is the right tool.
    fn evidence(&self) -> f32 {
        let is_literal = matches!(self.argument, Some(Argument::Literal(_)));
        if is_literal && self.field.takes_any_text() && self.score < STRONG { 0.5 } else { 1.0 }
    }
}

/// Whether a value has the field's type.
pub(crate) fn accepts(field: &Field, value: &Value) -> bool {
    use crate::tool::Kind;
    let typed = match (field.kind, value) {
        (Kind::Any, _) | (Kind::Text, Value::String(_)) | (Kind::Boolean, Value::Bool(_)) => true,
        (Kind::Number, Value::Number(_)) | (Kind::List, Value::Array(_)) => true,
        (Kind::Object, Value::Object(_)) => true,
        (Kind::Integer, Value::Number(number)) => number.is_i64() || number.is_u64(),
        _ => false,
    };
    let is_option = |value: &Value| field.options.contains(value);
    let chosen = match value {
        Value::Array(items) => items.iter().all(is_option),
        value => is_option(value),
    };
    typed && (field.options.is_empty() || chosen)
}

/// How well a value of the context fits a field of another name.
fn context_score(field: &Field, key: &str, value: &Value, step: &Step) -> Option<f32> {
    let key_stems = crate::tool::stems(key);
    let shared = key_stems
        .iter()
        .filter(|stem| field.name_stems.contains(stem) || field.about_stems.contains(stem))
        .count();
    let named = key_stems.iter().filter(|stem| step.stems.contains(stem)).count();
    let sample = match value {
        Value::Array(items) => items.first()?,
        value => value,
    };
    if !accepts(field, value) && !accepts(field, sample) {
        return None;
    }
    let sense = match (field.sense, sample.as_str()) {
        (Sense::Path, Some(text)) if text.contains(['.', '/']) => 2.0,
        (Sense::Url, Some(text)) if text.contains("://") => 2.0,
        (Sense::Email, Some(text)) if text.contains('@') => 2.0,
        (Sense::Other | Sense::Place | Sense::Id, _) => 0.0,
        (_, Some(_)) => -2.0,
        _ => 0.0,
    };
    let score = sense + shared as f32 + 0.5 * named as f32;
    (score >= 1.0).then_some(score)
}
