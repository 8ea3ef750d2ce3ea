//! What the values of a step say about a tool, and whether the step asks for what the tool does.

use language::words::related_stems;

use super::Choosing;
use super::evidence::{FILLED, LIST, USED};
use crate::fill::{Filled, ListOf};
use crate::mention::{IdKind, Mention, Written};
use crate::score::{FOLDERS, is_file, names_place};
use crate::steps::Step;
use crate::tool::{Field, Sense, ToolSpec};

/// Penalty of a tool that takes none of a step's values.
const IGNORED_VALUE: f32 = 0.2;
/// Penalty of a tool that takes none of a step's values, one of which is a place.
const IGNORED_PLACE: f32 = 0.45;
/// Penalty of a tool for a file or an address that none of its arguments can be.
const UNFIT_VALUE: f32 = 0.4;

/// Whether a value is a file or an address, and a tool has no argument for such values.
fn is_unfit(mention: &Mention, tool: &ToolSpec) -> bool {
    fn takes(field: &Field, mention: &Mention) -> bool {
        let is_file = mention.value == Written::Path && is_file(&mention.text);
        let fits = match mention.value {
            Written::Path => field.sense == Sense::Path && !(is_file && field.is_named(&FOLDERS)),
            Written::Url => field.sense == Sense::Url,
            Written::Id(IdKind::File) => field.takes_file_id,
            _ => field.takes_reference || field.takes_file_id,
        };
        fits || field.fields.iter().any(|inner| takes(inner, mention))
    }
    let is_kind = match mention.value {
        Written::Path | Written::Url => true,
        Written::Id(kind) => matches!(kind, IdKind::File | IdKind::Reference),
        _ => false,
    };
    is_kind && !tool.inputs.iter().any(|field| takes(field, mention))
}

impl Choosing<'_> {
    /// What the values that a tool takes say about it.
    pub(super) fn value_score(&self, step: &Step, tool: usize, filled: &Filled) -> f32 {
        argument_score(filled, step) - self.ignored(step, tool, filled)
    }

    /// Whether a step asks for what a tool does, as far as this matters: nothing is deleted without a request,
    /// and what shall be changed is not only looked up.
    pub(super) fn may_act(&self, step: &Step, tool: usize) -> bool {
        let spec = self.tool(tool);
        let toolbox = self.scene.toolbox;
        let named = |stem: &String| spec.verb_stems.contains(stem);
        let is_asked = |stem: &String| named(stem) || related_stems(stem).iter().any(named);
        let fit = |verb: &String| toolbox.word_fit(tool, &toolbox.term(verb));
        if spec.destroys {
            let says = step.verb.as_ref().is_some_and(|verb| fit(verb) == 1.0);
            let is_action = |stem: &String| **stem == *spec.action;
            let asks = |stem: &String| is_action(stem) || related_stems(stem).iter().any(is_action);
            return says || step.stems.iter().any(asks);
        }
        // `make a folder` is nothing for a tool that searches folders, `make a list` may be one for a tool that lists.
        let makes = step.verb.as_deref() == Some("make") && !self.is_named(step, tool);
        let needs = step.destroys || (step.changes || makes) && spec.only_looks;
        !needs || step.verb.as_ref().is_none_or(|verb| is_asked(verb) || fit(verb) == 1.0)
    }

    /// The files and addresses of a step that a tool does not take and has no argument for.
    pub(super) fn unfit<'s>(
        &'s self,
        step: &'s Step,
        tool: usize,
        filled: &'s Filled,
    ) -> impl Iterator<Item = usize> + 's {
        let spec = self.tool(tool);
        let own = step.mentions.iter().copied();
        own.filter(move |place| {
            !filled.used.contains(place) && is_unfit(&self.scene.mentions[*place], spec)
        })
    }

    /// The penalty of a tool that takes none of a step's values. Names may belong to the subject of a step.
    fn ignored(&self, step: &Step, tool: usize, filled: &Filled) -> f32 {
        if self.unfit(step, tool, filled).next().is_some() {
            return UNFIT_VALUE;
        }
        if filled.used.iter().any(|mention| step.mentions.contains(mention)) {
            return 0.0;
        }
        let mut values = step.mentions.iter().map(|&place| &self.scene.mentions[place]);
        if values.clone().any(names_place) {
            IGNORED_PLACE
        } else if values.any(|value| value.quoted || value.value != Written::Name) {
            IGNORED_VALUE
        } else {
            0.0
        }
    }
}

/// What the arguments say about a tool.
fn argument_score(filled: &Filled, step: &Step) -> f32 {
    let own = filled.used.iter().filter(|mention| step.mentions.contains(mention)).count();
    let used = if step.mentions.is_empty() { 1.0 } else { own as f32 / step.mentions.len() as f32 };
    let list = match filled.list {
        Some(ListOf::Several) => LIST,
        Some(ListOf::One) => -LIST,
        None => 0.0,
    };
    FILLED * filled.evidence + USED * used + list
}
