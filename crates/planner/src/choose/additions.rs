//! Tasks that no step asks for: tools that give what another one needs, and checks.

use super::{Choosing, MAX_TASKS, Placed, Reason, TRIED, VAGUE};
use crate::draft::{Argument, Items};
use crate::edges::EdgeKey;
use crate::fill::{Filled, fill};
use crate::tool::{Sense, ToolSpec};

impl Choosing<'_> {
    /// Adds tools for required inputs that nothing fills.
    pub(super) fn add_producers(&mut self, place: usize, depth: usize) {
        if depth > 2 {
            return;
        }
        let mut place = place;
        let tool = self.placed[place].tool;
        for name in self.placed[place].filled.missing.clone() {
            if self.placed.len() >= MAX_TASKS || !self.placed[place].filled.missing.contains(&name)
            {
                continue;
            }
            let Some(input) = self.tool(tool).inputs.iter().position(|input| *input.name == *name)
            else {
                continue;
            };
            let Some((producer, filled)) = self.producer(place, input) else { continue };
            let step = self.placed[place].step.clone();
            let added = Placed {
                tool: producer,
                step,
                filled,
                margin: 1.0,
                alternatives: Vec::new(),
                reason: Reason::Gives(tool),
            };
            let without = self.placed.clone();
            self.shift_references(place);
            self.placed.insert(place, added);
            let before = self.placed.len();
            self.add_producers(place, depth + 1);
            let moved = place + 1 + self.placed.len() - before;
            let sources = self.sources(moved);
            let refilled = fill(self.scene, tool, &self.placed[moved].step, &sources);
            // A task whose result nothing uses is no help.
            if refilled.missing.contains(&name) {
                self.placed = without;
            } else {
                // Nothing asks for the tool of another server but the name of what it returns.
                if !self.belongs_together(producer, tool, &refilled) {
                    self.placed[moved - 1].margin = VAGUE;
                }
                self.placed[moved].filled = refilled;
                place = moved;
            }
        }
    }

    /// Whether two tools are of one server, or workflows of this tenant have often used the one for the other.
    fn belongs_together(&self, producer: usize, consumer: usize, filled: &Filled) -> bool {
        let (from, to) = (self.tool(producer), self.tool(consumer));
        let is_family = !from.family.is_empty() && from.family == to.family;
        let is_learned = |(path, argument): &(Vec<String>, Argument)| {
            let Argument::Output { field, .. } = argument else { return false };
            let edge = EdgeKey {
                from_tool: from.id.clone(),
                from_field: field.clone(),
                to_tool: to.id.clone(),
                to_argument: path.join("."),
            };
            self.scene.learned.bonus(&edge) > 0.0
        };
        is_family || filled.arguments.iter().any(is_learned)
    }

    /// Makes room for a task at this place.
    fn shift_references(&mut self, place: usize) {
        let from = self.earlier.len() + place;
        let shift = |task: &mut usize| {
            if *task >= from {
                *task += 1;
            }
        };
        for placed in &mut self.placed[place..] {
            for (_, argument) in &mut placed.filled.arguments {
                if let Argument::Output { task, .. } | Argument::OneItem { task, .. } = argument {
                    shift(task);
                }
            }
            if let Some(Items::Output { task, .. }) = &mut placed.filled.for_each {
                shift(task);
            }
        }
    }

    /// The best tool that gives an input and that can be called with what is known.
    fn producer(&self, place: usize, input: usize) -> Option<(usize, Filled)> {
        let consumer = self.placed[place].tool;
        let expected = &self.tool(consumer).inputs[input];
        let names = &self.tool(consumer).name_stems;
        // The request names the things to create or delete. Looking them up would create every existing one again.
        if self.tool(consumer).changes
            && expected.name_stems.iter().all(|stem| names.contains(stem))
        {
            return None;
        }
        let sources = self.sources(place);
        let mut producers: Vec<(usize, f32)> = Vec::new();
        for (producer, _) in self.scene.toolbox.producers(consumer, input) {
            let spec = self.tool(producer);
            let needs_it = spec.required().any(|field| field.name_stems == expected.name_stems);
            let is_placed = self.placed.iter().any(|placed| placed.tool == producer);
            let may_run = !spec.destroys && !self.is_forbidden(producer, &self.placed[place].step);
            if needs_it || is_placed || !may_run || !(self.scene.visible)(producer) {
                continue;
            }
            let found =
                self.whole.iter().find(|(tool, _)| *tool == producer).map_or(0.0, |hit| hit.1);
            let family = !spec.family.is_empty() && spec.family == self.tool(consumer).family;
            let score = found
                + if spec.looks_up { 1.0 } else { 0.0 }
                + if family { 0.7 } else { 0.0 }
                + self.scene.toolbox.affinity(producer, consumer);
            if found > 0.0 || family {
                producers.push((producer, score));
            }
        }
        producers.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut best: Option<(f32, usize, Filled)> = None;
        for (producer, score) in producers.into_iter().take(TRIED) {
            let filled = fill(self.scene, producer, &self.placed[place].step, &sources);
            let score = score + 2.0 * filled.share;
            // A tool whose own arguments must be asked for is no help, unless a further tool can provide them.
            if filled.share >= 0.5 && best.as_ref().is_none_or(|(before, ..)| score > *before) {
                best = Some((score, producer, filled));
            }
        }
        best.map(|(_, producer, filled)| (producer, filled))
    }

    /// Lets a tool of the same family check the files or addresses of the context that the last task goes through: the
    /// request does not name them, so they are unchecked. After a change a check would come too late.
    pub(super) fn add_check(&mut self) {
        let Some(last) = self.placed.last().filter(|_| self.placed.len() < MAX_TASKS) else {
            return;
        };
        let spec = self.tool(last.tool);
        let is_item = |(path, argument): &(Vec<String>, Argument)| {
            (*argument == Argument::Item(None)).then(|| path.join("."))
        };
        let Some(Items::Values(items)) = &last.filled.for_each else { return };
        let Some(item) = last.filled.arguments.iter().find_map(is_item) else { return };
        let is_known = self.scene.context.values().any(|value| value.as_array() == Some(items));
        if !is_known || spec.family.is_empty() || spec.checks || spec.changes {
            return;
        }
        let fits = |tool: &ToolSpec| {
            let mut required = tool.required();
            tool.checks
                && tool.family == spec.family
                && required.next().is_some_and(|field| {
                    *field.name == *item && matches!(field.sense, Sense::Path | Sense::Url)
                })
                && required.next().is_none()
        };
        let tools = self.scene.toolbox.tools.iter().enumerate();
        let mut checks = tools.filter(|(place, tool)| {
            fits(tool) && (self.scene.visible)(*place) && !self.is_forbidden(*place, &last.step)
        });
        let Some((check, _)) = checks.next() else { return };
        if self.placed.iter().any(|placed| placed.tool == check) {
            return;
        }
        let filled = Filled {
            arguments: vec![(vec![item], Argument::Item(None))],
            for_each: last.filled.for_each.clone(),
            share: 1.0,
            ..Filled::default()
        };
        let (step, checked) = (last.step.clone(), last.tool);
        let alternatives = Vec::new();
        let reason = Reason::Checks(checked);
        self.placed.push(Placed { tool: check, step, filled, margin: 1.0, alternatives, reason });
    }
}
