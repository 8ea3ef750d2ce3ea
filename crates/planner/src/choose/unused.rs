//! Values of the request that end up in no argument, and what is said about the parts that have no task.

use serde_json::Value;

use super::Choosing;
use crate::draft::{Argument, Items};
use crate::given::{describe_unused, is_explicit, is_in, items_after};
use crate::mention::{Mention, Written};
use crate::score::{self, STRONG};
use crate::tool::{Field, Sense};

/// The share of its confidence that a plan loses if it uses none of the request's values.
const WEIGHT: f32 = 0.5;

impl Choosing<'_> {
    /// Sentences about the parts of the request that have no task, and the values that no task uses.
    pub(super) fn notes(&self, unused: &[&Mention]) -> Vec<String> {
        let unplanned =
            self.unplanned.iter().map(|part| format!("No task was planned for \"{part}\"."));
        let unused = unused.iter().map(|mention| describe_unused(&mention.text));
        let forbidden = self.scene.forbidden.iter().map(|part| {
            let parts =
                part.step.ranges.iter().map(|(from, to)| self.scene.whole[*from..*to].trim());
            let text = parts.collect::<Vec<_>>().join(" ");
            format!("Nothing is done about \"{text}\", because it says what not to do.")
        });
        unplanned.chain(unused).chain(forbidden).collect()
    }

    /// The share of its confidence that a plan keeps which does not use some of the request's values.
    pub(super) fn share_of_used(&self, unused: usize) -> f32 {
        let places = 0..self.scene.mentions.len();
        let counted = places.filter(|&place| self.is_planned(place) && self.counts(place)).count();
        1.0 - WEIGHT * unused as f32 / counted.max(unused).max(1) as f32
    }

    /// Values of the request that no task is called with. What a part without a task contains is left out with it.
    pub(super) fn unused(&self) -> Vec<&Mention> {
        let mut unused: Vec<&Mention> = Vec::new();
        for (place, mention) in self.scene.mentions.iter().enumerate() {
            let is_new = unused.iter().all(|known| known.text != mention.text);
            let is_left = is_new
                && self.is_planned(place)
                && !self.is_used(place)
                && (self.counts(place) || self.has_rival(place));
            if is_left {
                unused.push(mention);
            }
        }
        unused
    }

    /// Whether a value is part of a step that has a task.
    fn is_planned(&self, place: usize) -> bool {
        self.placed.iter().any(|placed| placed.step.mentions.contains(&place))
    }

    /// Whether an argument should have a value. A name need not be in one: it may only say what a step is about.
    fn counts(&self, place: usize) -> bool {
        let mention = &self.scene.mentions[place];
        if is_explicit(mention) {
            return true;
        }
        let is_id = mention.value == Written::Name && mention.has_digits();
        is_id && !self.scene.names_tool(mention) && !self.is_known(mention)
    }

    /// Whether a task's tool knows all words of a name.
    fn is_known(&self, mention: &Mention) -> bool {
        let toolbox = self.scene.toolbox;
        let stems = crate::tool::stems(&mention.text);
        let knows = |tool: usize| {
            stems.iter().all(|stem| toolbox.word_fit(tool, &toolbox.term(stem)) == 1.0)
        };
        self.placed.iter().any(|placed| knows(placed.tool))
    }

    fn is_used(&self, place: usize) -> bool {
        let mention = &self.scene.mentions[place];
        let lists = self.placed.iter().filter_map(|placed| match &placed.filled.for_each {
            Some(Items::Values(items)) => Some(items.as_slice()),
            _ => None,
        });
        let arguments = self.placed.iter().flat_map(|placed| &placed.filled.arguments);
        let mut values = arguments.filter_map(|(_, argument)| match argument {
            Argument::Literal(value) => Some(value),
            _ => None,
        });
        self.placed.iter().any(|placed| placed.filled.used.contains(&place))
            || values.any(|value| is_in(value, mention))
            || lists.flatten().any(|value| is_in(value, mention))
            || items_after(self.scene.mentions, place)
    }

    /// Whether a name is one for an argument that has another value: `in Paris, no, in London`.
    fn has_rival(&self, place: usize) -> bool {
        let mentions = self.scene.mentions;
        let mention = &mentions[place];
        let is_name = mention.value == Written::Name && !mention.quoted;
        if !is_name || self.scene.names_tool(mention) || self.is_known(mention) {
            return false;
        }
        self.placed.iter().filter(|placed| placed.step.mentions.contains(&place)).any(|placed| {
            let tool = self.tool(placed.tool);
            let has_other = |field: &Field| {
                placed.filled.arguments.iter().any(|(path, argument)| {
                    path.as_slice() == [field.name.as_ref()]
                        && matches!(argument, Argument::Literal(Value::String(_)))
                })
            };
            tool.inputs.iter().any(|field| {
                matches!(field.sense, Sense::Place | Sense::Id | Sense::Other)
                    && has_other(field)
                    && score::of_mention(field, tool, mentions, place)
                        .is_some_and(|score| score >= STRONG)
            })
        })
    }
}
