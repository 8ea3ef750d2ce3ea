//! Chooses a tool for each step, and adds tools that give what the others need.

use std::collections::HashMap;

use language::words::{fold, related_stems, stem};

use crate::draft::{Alternative, Argument, Draft, DraftTask, Earlier, Find, Items, NothingFits};
use crate::fill::{Filled, Scene, Source, fill};
use crate::steps::{Step, steps};
use crate::tool::ToolSpec;

/// How many tools are searched for a step.
const HITS: usize = 12;
/// For how many of them arguments are tried.
const TRIED: usize = 6;
/// The most tasks of a plan.
const MAX_TASKS: usize = 32;
/// The weight of the whole request next to that of a step.
const WHOLE: f32 = 0.4;
/// The weight of filled arguments.
const FILLED: f32 = 0.35;
/// The weight of values of the step that find a place.
const USED: f32 = 0.2;
/// The weight of the words that a tool knows.
const KNOWN: f32 = 0.5;
/// What a tool of the same server as the last one is ahead.
const FAMILY: f32 = 0.2;
/// The share of a step's words that its tool must know.
const COVERAGE: f32 = 0.2;
/// A tool that knows this share of a step's words counts as certain to be meant.
const CLEAR_FIT: f32 = 0.5;
/// A lead of this share counts as certain.
const CLEAR_LEAD: f32 = 0.2;

/// A task in the making.
#[derive(Clone, Debug)]
struct Placed {
    tool: usize,
    step: Step,
    filled: Filled,
    margin: f32,
    alternatives: Vec<Alternative>,
    /// The tool that it was added for.
    added_for: Option<usize>,
}

/// A tool that was tried for a step.
struct Candidate {
    tool: usize,
    score: f32,
    /// The share of the step's words that it knows.
    known: f32,
    filled: Filled,
}

pub(crate) struct Choosing<'a> {
    scene: &'a Scene<'a>,
    earlier: &'a [Earlier],
    find: Find<'a>,
    whole: Vec<(usize, f32)>,
    placed: Vec<Placed>,
}

impl<'a> Choosing<'a> {
    pub(crate) fn new(scene: &'a Scene<'a>, earlier: &'a [Earlier], find: Find<'a>) -> Self {
        let whole = Step::new(scene.text, &[(0, scene.text.len())], scene.mentions);
        let whole = normalized(find(&whole.query, 2 * HITS));
        Self { scene, earlier, find, whole, placed: Vec::new() }
    }

    pub(crate) fn draft(mut self) -> Result<Draft, NothingFits> {
        for step in steps(self.scene.text, self.scene.mentions) {
            if self.placed.len() < MAX_TASKS {
                self.place(step);
            }
        }
        if self.placed.is_empty() {
            let tools = &self.scene.toolbox.tools;
            let nearest = self.whole.iter().take(3).map(|&(tool, _)| tools[tool].id.clone());
            return Err(NothingFits { nearest: nearest.collect() });
        }
        Ok(self.finish())
    }

    fn tool(&self, index: usize) -> &'a ToolSpec {
        &self.scene.toolbox.tools[index]
    }

    fn sources(&self, upto: usize) -> Vec<Source<'_>> {
        let before = self.earlier.iter().enumerate();
        let before = before.map(|(task, earlier)| Source {
            task,
            tool: &earlier.tool,
            filled: None,
            is_list: earlier.is_list,
        });
        let placed = self.placed.iter().take(upto).enumerate().map(|(place, placed)| Source {
            task: self.earlier.len() + place,
            tool: self.tool(placed.tool),
            filled: Some(&placed.filled),
            is_list: false,
        });
        before.chain(placed).collect()
    }

    /// Adds the task of one step.
    fn place(&mut self, step: Step) {
        let mut candidates = self.candidates(&step);
        if candidates.is_empty() {
            return;
        }
        let best = candidates.remove(0);
        let runner_up = candidates.first().map_or(0.0, |next| next.score);
        let lead = if best.score > 0.0 { 1.0 - runner_up / best.score } else { 0.0 };
        let alternatives = candidates
            .iter()
            .take(3)
            .map(|other| Alternative {
                tool: self.tool(other.tool).id.clone(),
                score: (other.score / best.score.max(f32::MIN_POSITIVE)).min(1.0),
            })
            .collect();
        if let Some(place) = self.placed.iter().position(|placed| placed.tool == best.tool)
            && self.repeats(place, &step, best.tool)
        {
            let joined =
                self.placed[place].step.joined(&step, self.scene.text, self.scene.mentions);
            let sources = self.sources(place);
            let filled = fill(self.scene, best.tool, &joined, &sources);
            self.placed[place].filled = filled;
            self.placed[place].step = joined;
            return;
        }
        let placed = Placed {
            tool: best.tool,
            step,
            filled: best.filled,
            margin: (lead / CLEAR_LEAD).clamp(0.0, 1.0) * (best.known / CLEAR_FIT).min(1.0),
            alternatives,
            added_for: None,
        };
        self.placed.push(placed);
        self.add_producers(self.placed.len() - 1, 0);
    }

    /// Whether a step only goes on with what an earlier one asks for.
    fn repeats(&self, place: usize, step: &Step, tool: usize) -> bool {
        let alone = fill(self.scene, tool, step, &[]);
        let own = alone.used.iter().any(|mention| step.mentions.contains(mention));
        let before = &self.placed[place].filled;
        let complete = before.missing.is_empty() && alone.missing.is_empty();
        !(own && complete && before.arguments != alone.arguments)
    }

    /// The tools for a step, best first; none if no tool fits.
    fn candidates(&self, step: &Step) -> Vec<Candidate> {
        let (query, stems) = self.without_references(step);
        let hits = normalized((self.find)(&query, HITS));
        let mut base: HashMap<usize, f32> = hits.iter().copied().collect();
        for &(tool, score) in &self.whole {
            // A tool that only the whole request finds is no candidate of this step.
            if let Some(own) = base.get_mut(&tool) {
                *own += WHOLE * score;
            }
        }
        let family = self.placed.last().map(|placed| self.tool(placed.tool).family.as_str());
        let mut ranked: Vec<(usize, f32)> = base
            .into_iter()
            .map(|(tool, score)| {
                let spec = self.tool(tool);
                let same = !spec.family.is_empty() && Some(spec.family.as_str()) == family;
                (tool, score + KNOWN * coverage(&stems, spec) + if same { FAMILY } else { 0.0 })
            })
            .collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked.retain(|&(tool, _)| coverage(&stems, self.tool(tool)) >= COVERAGE);
        let sources = self.sources(self.placed.len());
        let mut candidates: Vec<Candidate> = ranked
            .into_iter()
            .take(TRIED)
            .map(|(tool, score)| {
                let filled = fill(self.scene, tool, step, &sources);
                let own =
                    filled.used.iter().filter(|mention| step.mentions.contains(mention)).count();
                let used = if step.mentions.is_empty() {
                    1.0
                } else {
                    own as f32 / step.mentions.len() as f32
                };
                let score = score + FILLED * filled.share + USED * used;
                Candidate { tool, score, known: coverage(&stems, self.tool(tool)), filled }
            })
            .collect();
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.tool.cmp(&b.tool)));
        candidates
    }

    /// The words of a step without the names of earlier outputs, which say nothing about its own tool: in "the square of
    /// the monthly payment" they are those of another one.
    fn without_references(&self, step: &Step) -> (String, Vec<String>) {
        let mut named: Vec<&String> = Vec::new();
        for placed in &self.placed {
            for output in &self.tool(placed.tool).outputs {
                let content: Vec<&String> =
                    output.name_stems.iter().filter(|stem| stem.len() > 2).collect();
                if !content.is_empty() && content.iter().all(|stem| step.stems.contains(stem)) {
                    named.extend(content);
                }
            }
        }
        let left: Vec<String> =
            step.stems.iter().filter(|stem| !named.contains(stem)).cloned().collect();
        if named.is_empty() || left.len() < 2 {
            return (step.query.clone(), step.stems.clone());
        }
        let words = step.query.split(|c: char| !c.is_alphanumeric());
        let kept = words.filter(|word| !named.contains(&&stem(&fold(word))));
        (kept.collect::<Vec<_>>().join(" "), left)
    }

    /// Adds tools for required inputs that nothing fills.
    fn add_producers(&mut self, place: usize, depth: usize) {
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
            let Some(input) = self.tool(tool).inputs.iter().position(|input| input.name == name)
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
                added_for: Some(tool),
            };
            self.shift_references(place);
            self.placed.insert(place, added);
            let before = self.placed.len();
            self.add_producers(place, depth + 1);
            place += 1 + self.placed.len() - before;
            let sources = self.sources(place);
            let refilled = fill(self.scene, tool, &self.placed[place].step, &sources);
            self.placed[place].filled = refilled;
        }
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
        let sources = self.sources(place);
        let mut best: Option<(f32, usize, Filled)> = None;
        for (producer, _) in self.scene.toolbox.producers(consumer, input) {
            let spec = self.tool(producer);
            let needs_it = spec.required().any(|field| field.name_stems == expected.name_stems);
            let is_placed = self.placed.iter().any(|placed| placed.tool == producer);
            if needs_it || is_placed || !(self.scene.visible)(producer) {
                continue;
            }
            let filled = fill(self.scene, producer, &self.placed[place].step, &sources);
            // What must itself be asked for is no help, unless a further tool can give it.
            if filled.share < 0.5 {
                continue;
            }
            let found =
                self.whole.iter().find(|(tool, _)| *tool == producer).map_or(0.0, |hit| hit.1);
            let family = !spec.family.is_empty() && spec.family == self.tool(consumer).family;
            let score = 2.0 * filled.share
                + found
                + if spec.looks_up { 1.0 } else { 0.0 }
                + if family { 0.7 } else { 0.0 }
                + self.scene.toolbox.affinity(producer, consumer);
            let relevant = found > 0.0 || family;
            if relevant && best.as_ref().is_none_or(|(before, ..)| score > *before) {
                best = Some((score, producer, filled));
            }
        }
        best.map(|(_, producer, filled)| (producer, filled))
    }

    fn finish(self) -> Draft {
        let mut ids: Vec<String> = self.earlier.iter().map(|earlier| earlier.id.clone()).collect();
        let mut tasks = Vec::new();
        let mut total = 0.0;
        let mut ambiguous = false;
        for placed in &self.placed {
            let tool = self.tool(placed.tool);
            let id = task_id(&tool.id, &ids);
            ids.push(id.clone());
            total += placed.margin * placed.filled.share;
            ambiguous |= placed.margin < 0.5;
            tasks.push(DraftTask {
                id,
                tool: tool.id.clone(),
                arguments: placed.filled.arguments.clone(),
                for_each: placed.filled.for_each.clone(),
                missing: placed.filled.missing.clone(),
                alternatives: placed.alternatives.clone(),
                margin: placed.margin,
                filled: placed.filled.share,
                reason: self.reason(placed),
            });
        }
        let mean = total / self.placed.len().max(1) as f32;
        let confidence = if ambiguous { mean.min(0.49) } else { mean };
        Draft { tasks, ids, confidence }
    }

    fn reason(&self, placed: &Placed) -> String {
        let tool = &self.tool(placed.tool).id;
        match placed.added_for {
            Some(consumer) => {
                format!("`{tool}` gives what `{}` needs.", self.tool(consumer).id)
            }
            None => {
                let parts =
                    placed.step.ranges.iter().map(|(from, to)| self.scene.text[*from..*to].trim());
                format!("`{tool}` fits \"{}\" best.", parts.collect::<Vec<_>>().join(" "))
            }
        }
    }
}

/// Scores as a share of the best.
fn normalized(mut hits: Vec<(usize, f32)>) -> Vec<(usize, f32)> {
    let best = hits.iter().map(|hit| hit.1).fold(0.0, f32::max);
    if best > 0.0 {
        hits.iter_mut().for_each(|hit| hit.1 /= best);
    }
    hits
}

/// The share of a step's words that a tool knows; related words count half.
fn coverage(stems: &[String], tool: &ToolSpec) -> f32 {
    if stems.is_empty() {
        return 0.0;
    }
    let known: f32 = stems
        .iter()
        .map(|stem| {
            if tool.stems.binary_search(stem).is_ok() {
                1.0
            } else if related_stems(stem)
                .iter()
                .any(|other| tool.stems.binary_search(other).is_ok())
            {
                0.5
            } else {
                0.0
            }
        })
        .sum();
    known / stems.len() as f32
}

/// `task-` and the tool's name, numbered if it is taken.
fn task_id(tool: &str, taken: &[String]) -> String {
    let name: String = tool
        .chars()
        .take(80)
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
        .collect();
    let plain = format!("task-{name}");
    let mut id = plain.clone();
    let mut number = 2;
    while taken.contains(&id) {
        id = format!("{plain}-{number}");
        number += 1;
    }
    id
}
