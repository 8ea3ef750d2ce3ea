//! Arguments that the request itself contains.

use serde_json::Value;

use super::Filling;
use crate::draft::{Argument, Items};
use crate::mention::{Mention, Written};
use crate::score::{self, STRONG};
use crate::steps::Topic;
use crate::tool::{Kind, Sense, stems};
use crate::value;

/// Names of fields for what is searched for.
const SEARCHED: [&str; 9] =
    ["query", "q", "keyword", "keywords", "term", "terms", "search", "topic", "question"];

/// A value of the step for a slot.
struct Pair {
    score: f32,
    slot: usize,
    mention: usize,
}

impl Filling<'_> {
    /// Values of the step that are named for a field.
    pub(super) fn own_values(&mut self) {
        let own = self.step.mentions.clone();
        let optional = STRONG + 0.5;
        self.assign(&own, |_, required, score| score >= if required { STRONG } else { optional });
    }

    /// Values of the step that fit by type alone.
    pub(super) fn remaining_values(&mut self) {
        // Values that another tool of the same server can look up are not guessed.
        let held: Vec<usize> =
            self.open_required().into_iter().filter(|&slot| self.can_be_looked_up(slot)).collect();
        let own = self.step.mentions.clone();
        let any_text: Vec<usize> =
            held.iter().copied().filter(|&slot| self.slots[slot].field.takes_any_text()).collect();
        let quotes: Vec<usize> =
            own.iter().copied().filter(|&place| self.scene.mentions[place].quoted).collect();
        self.assign(&own, |slot, required, score| required && score > 0.0 && !held.contains(&slot));
        // A quote is the text itself.
        self.assign(&quotes, |slot, _, score| score > 0.0 && any_text.contains(&slot));
    }

    /// Values of other steps that are named for a required field.
    pub(super) fn other_values(&mut self) {
        let own = &self.step.mentions;
        // A value that an earlier step gave to one field is no value for another field.
        let is_given = |place: usize| {
            let text = self.scene.mentions[place].text.as_str();
            self.slots.iter().any(|slot| {
                matches!(&slot.argument, Some(Argument::Literal(value)) if value.as_str() == Some(text))
            })
        };
        // Where a later step puts its result is nothing that this one starts with.
        let end = self.step.ranges.iter().map(|range| range.1).max().unwrap_or_default();
        let is_target = |place: usize| {
            let mention = &self.scene.mentions[place];
            mention.start >= end && score::is_target(mention)
        };
        let others: Vec<usize> = (0..self.scene.mentions.len())
            .filter(|&place| !own.contains(&place) && !is_given(place) && !is_target(place))
            .collect();
        self.assign(&others, |_, required, score| required && score >= STRONG + 0.2);
    }

    /// What a search is for, where the request does not quote it: `search the web for rust async runtimes`.
    pub(super) fn topic(&mut self) {
        if !self.step.looks_up {
            return;
        }
        let open = self.open_required();
        let named = |slot: &usize| {
            let field = self.slots[*slot].field;
            field.takes_any_text() && field.is_named(&SEARCHED)
        };
        let [slot] = open.into_iter().filter(named).collect::<Vec<_>>()[..] else { return };
        let used = |topic: &Topic| {
            let taken = self.used.iter().map(|&place| &self.scene.mentions[place]);
            taken.into_iter().any(|mention| mention.start < topic.end && mention.end > topic.start)
        };
        let Some(topic) = self.step.topic(self.scene.text).filter(|topic| !used(topic)) else {
            return;
        };
        let value = Value::from(&self.scene.text[topic.start..topic.end]);
        let mentions = self.scene.mentions.iter().enumerate();
        let within = mentions.filter(|(_, mention)| topic.contains(&mention.start));
        let within = within.map(|(place, _)| place).collect();
        self.take(slot, within, Argument::Literal(value), 1.0);
    }

    fn assign(&mut self, among: &[usize], accepted: impl Fn(usize, bool, f32) -> bool) {
        let mentions = self.scene.mentions;
        let mut pairs = Vec::new();
        for slot in self.open() {
            let (field, required) = (self.slots[slot].field, self.slots[slot].required);
            if field.is_flag() {
                continue;
            }
            let free = |mention: &&usize| {
                !self.used.contains(mention) && !self.is_reference(&mentions[**mention])
            };
            for &mention in among.iter().filter(free) {
                let fit = || score::of_mention(field, self.tool, mentions, mention);
                let place = (slot, mention);
                let Some(score) = self.scene.fits.of(self.index, place, mentions.len(), fit) else {
                    continue;
                };
                let score = score + self.moment_score(slot, mention, among);
                if accepted(slot, required, score) {
                    pairs.push(Pair { score, slot, mention });
                }
            }
        }
        let optional = |pair: &Pair| !self.slots[pair.slot].required;
        pairs.sort_by(|a, b| {
            let by_score = b.score.total_cmp(&a.score).then(optional(a).cmp(&optional(b)));
            by_score.then(a.slot.cmp(&b.slot)).then(a.mention.cmp(&b.mention))
        });
        for Pair { score, slot, mention } in pairs {
            if self.slots[slot].argument.is_none() && !self.used.contains(&mention) {
                self.give(slot, mention, score, among);
            }
        }
    }

    /// Whether a value is the id of a tool, or a word in capitals that names a tool or an output, such as `the GCD`.
    fn is_reference(&self, mention: &Mention) -> bool {
        if self.scene.names_tool(mention) {
            return true;
        }
        let is_acronym = matches!(mention.value, Written::Name)
            && !mention.quoted
            && mention.text.chars().all(char::is_uppercase);
        is_acronym
            && stems(&mention.text).iter().all(|stem| {
                self.scene.toolbox.word_fit(self.index, &self.scene.toolbox.term(stem)) == 1.0
                    || self.earlier.iter().any(|source| {
                        source.tool.name_stems.contains(stem)
                            || source
                                .tool
                                .outputs
                                .iter()
                                .any(|output| output.name_stems.contains(stem))
                    })
            })
    }

    /// Whether a tool of the same family looks a field up.
    fn can_be_looked_up(&self, slot: usize) -> bool {
        let field = self.slots[slot].field;
        let tools = &self.scene.toolbox.tools;
        let Some(input) = self.tool.inputs.iter().position(|input| std::ptr::eq(input, field))
        else {
            return false;
        };
        !self.tool.family.is_empty()
            && self.scene.toolbox.producers(self.index, input).into_iter().any(|(producer, _)| {
                let spec = &tools[producer];
                spec.looks_up
                    && spec.family == self.tool.family
                    && !spec.required().any(|other| other.name_stems == field.name_stems)
            })
    }

    /// A field for date and time takes times where the step has both.
    fn moment_score(&self, slot: usize, mention: usize, among: &[usize]) -> f32 {
        let field = self.slots[slot].field;
        if !field.has_time {
            return 0.0;
        }
        let has_times =
            among.iter().any(|&place| matches!(self.scene.mentions[place].value, Written::Time));
        match self.scene.mentions[mention].value {
            Written::Time => 1.5,
            Written::Date(_) if has_times => -4.0,
            _ => 0.0,
        }
    }

    fn give(&mut self, slot: usize, mention: usize, score: f32, among: &[usize]) {
        let mentions = self.scene.mentions;
        let field = self.slots[slot].field;
        let mut taken = vec![mention];
        if field.kind == Kind::List && !matches!(mentions[mention].value, Written::List(_)) {
            let group = mentions[mention].group;
            taken = among
                .iter()
                .copied()
                .filter(|&other| mentions[other].group == group && !self.used.contains(&other))
                .collect();
        }
        let date = self.date_for(mention);
        let mut values: Vec<Value> =
            taken.iter().map(|&place| value::of_mention(field, &mentions[place], date)).collect();
        let value = match (field.kind, values.len()) {
            (Kind::List, 1) if values[0].is_array() => values.remove(0),
            (Kind::List, _) => Value::Array(values),
            _ => values.remove(0),
        };
        self.take(slot, taken, Argument::Literal(value), score);
    }

    /// The date before a time, or the first one of the step.
    fn date_for(&self, mention: usize) -> Option<&Mention> {
        let is_date =
            |place: &&usize| matches!(self.scene.mentions[**place].value, Written::Date(_));
        let own = &self.step.mentions;
        let before = own.iter().rev().filter(|place| **place < mention).find(is_date);
        before.or_else(|| own.iter().find(is_date)).map(|&place| &self.scene.mentions[place])
    }

    /// A list of values for a field that takes one: one call for each.
    pub(super) fn spread(&mut self) {
        if self.for_each.is_some() {
            return;
        }
        let mentions = self.scene.mentions;
        for slot in 0..self.slots.len() {
            let field = self.slots[slot].field;
            let Some(Argument::Literal(value)) = &self.slots[slot].argument else { continue };
            if field.kind == Kind::List
                || !matches!(
                    field.sense,
                    Sense::Path
                        | Sense::Url
                        | Sense::Email
                        | Sense::Place
                        | Sense::Phone
                        | Sense::Id
                )
            {
                continue;
            }
            let given = self.used.iter().copied().find(|&place| {
                self.step.mentions.contains(&place)
                    && value::of_mention(field, &mentions[place], None) == *value
            });
            let Some(given) = given else { continue };
            let more: Vec<usize> = self
                .step
                .mentions
                .iter()
                .copied()
                .filter(|&other| mentions[other].group == mentions[given].group)
                .collect();
            let same_kind = more.iter().all(|&other| {
                std::mem::discriminant(&mentions[other].value)
                    == std::mem::discriminant(&mentions[given].value)
            });
            let free = more.iter().all(|other| *other == given || !self.used.contains(other));
            if more.len() > 1 && same_kind && free {
                let values = more
                    .iter()
                    .map(|&place| value::of_mention(field, &mentions[place], None))
                    .collect();
                self.for_each = Some(Items::Values(values));
                self.used.extend(more.into_iter().filter(|place| *place != given));
                self.slots[slot].argument = Some(Argument::Item(None));
                return;
            }
        }
    }
}
