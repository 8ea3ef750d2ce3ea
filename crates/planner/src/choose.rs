//! Chooses a tool for each step, and adds tools that give what the others need.

mod additions;
mod doubts;
mod evidence;
mod unused;
mod values;

use std::collections::HashMap;

use language::words::{fold, stem, words};

use crate::draft::{Alternative, Argument, Draft, DraftTask, Earlier, Find, NothingFits};
use crate::fill::{Filled, Scene, Source, fill};
use crate::graph::Term;
use crate::steps::{MAX_STEPS, Step, steps, with_product};
use crate::tool::{ToolSpec, stems};
use evidence::{FILLED, LIST, NAMED, USED, action_score, named_share, verb_limit};

/// How many tools are searched for a step.
const HITS: usize = 12;
/// For how many of them arguments are tried.
const TRIED: usize = 6;
/// The most tasks of a plan.
const MAX_TASKS: usize = 32;
/// The weight of the whole request next to that of a step.
const WHOLE: f32 = 0.4;
/// The weight of the words that a tool knows.
const KNOWN: f32 = 0.5;
/// Bonus for a tool of the server that the last step uses.
const FAMILY: f32 = 0.2;
/// The share of a step's words that its tool must know.
const COVERAGE: f32 = 0.2;
/// A tool that knows this share of a step's words counts as certain to be the right one.
const CLEAR_FIT: f32 = 0.7;
/// A tool that knows less than this share of a step's words is doubtful.
const CLEAR_ENOUGH: f32 = 0.35;
/// A lead of this share counts as certain.
const CLEAR_LEAD: f32 = 0.2;

/// The margin of a tool for a step that hardly says what it asks for.
const VAGUE: f32 = 0.3;
/// The share of the margin that is left for a tool whose name has no word of the step.
const UNNAMED: f32 = 0.8;
/// The highest confidence of a plan that leaves out a part of the request, or whose tools are uncertain.
const UNSURE: f32 = 0.49;

/// A task in the making.
#[derive(Clone, Debug)]
struct Placed {
    tool: usize,
    step: Step,
    filled: Filled,
    margin: f32,
    alternatives: Vec<Alternative>,
    reason: Reason,
}

/// Why a task is part of the plan.
#[derive(Clone, Copy, Debug)]
enum Reason {
    /// A step asks for it.
    Step,
    /// It gives what another tool needs.
    Gives(usize),
    /// It checks what another tool is called with.
    Checks(usize),
}

/// A word of a step that tools may know.
struct StepWord {
    term: Term,
    is_name: bool,
    /// The word itself if it is what the step asks for.
    verb: Option<String>,
}

/// A tool that was found for a step.
struct Ranked {
    tool: usize,
    score: f32,
    known: f32,
}

/// A tool that was tried for a step.
struct Candidate {
    tool: usize,
    score: f32,
    /// The share of the step's words that it knows.
    known: f32,
    filled: Filled,
}

/// The tools that were found for a step.
#[derive(Default)]
struct StepCandidates {
    /// Best first.
    candidates: Vec<Candidate>,
    /// Tools that have no place for the files and addresses of the step.
    refused: Vec<usize>,
}

pub(crate) struct Choosing<'a> {
    scene: &'a Scene<'a>,
    earlier: &'a [Earlier],
    find: Find<'a>,
    /// The search text of the whole request, and the tools that it found.
    query: String,
    whole: Vec<(usize, f32)>,
    placed: Vec<Placed>,
    /// Parts of the request that ask for something and have no task.
    unplanned: Vec<String>,
}

impl<'a> Choosing<'a> {
    pub(crate) fn new(scene: &'a Scene<'a>, earlier: &'a [Earlier], find: Find<'a>) -> Self {
        let query = Step::new(scene.text, &[(0, scene.text.len())], scene.mentions).query;
        let whole = normalized(find(&query, 2 * HITS));
        Self { scene, earlier, find, query, whole, placed: Vec::new(), unplanned: Vec::new() }
    }

    pub(crate) fn draft(mut self) -> Result<Draft, NothingFits> {
        let asks = !stems(self.scene.text).is_empty() || !self.scene.mentions.is_empty();
        let steps = if asks { steps(self.scene.text, self.scene.mentions) } else { Vec::new() };
        for (number, step) in steps.into_iter().enumerate() {
            if !self.placed.is_empty() && step.only_reports() {
                continue;
            }
            if self.placed.len() < MAX_TASKS && number < MAX_STEPS {
                if !self.place_product(&step) {
                    self.place(step);
                }
            } else {
                self.unplanned.push(self.wording(&step));
            }
        }
        self.unplanned.extend(self.scene.unread.map(ToOwned::to_owned));
        let forbids = !self.scene.forbidden.is_empty();
        if self.placed.is_empty() {
            let tools = &self.scene.toolbox.tools;
            let nearest = self.whole.iter().map(|&(tool, _)| tools[tool].id.clone());
            let nearest = nearest.take(if forbids { 0 } else { 3 }).collect();
            return Err(NothingFits { nearest, forbids });
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

    /// Adds two tasks for a step that puts the result of a tool somewhere; `false` if it is no such step.
    fn place_product(&mut self, step: &Step) -> bool {
        let Some((product, rest)) = with_product(step, self.scene.text, self.scene.mentions) else {
            return false;
        };
        let Some(best) = self.candidates(&product).into_iter().next() else { return false };
        let uses_all = product.mentions.iter().all(|place| best.filled.used.contains(place));
        let is_sure = best.known >= CLEAR_FIT && best.filled.missing.is_empty() && uses_all;
        if !is_sure || self.tool(best.tool).changes || !self.is_named(&product, best.tool) {
            return false;
        }
        let (placed, unplanned) = (self.placed.clone(), self.unplanned.clone());
        self.place(product);
        let source = self.earlier.len() + self.placed.len() - 1;
        let goes_there = self.candidates(&rest).first().is_some_and(|next| {
            let is_output = |(_, argument): &(Vec<String>, Argument)| {
                matches!(argument, Argument::Output { task, .. } if *task == source)
            };
            next.filled.missing.is_empty() && next.filled.arguments.iter().any(is_output)
        });
        if goes_there {
            self.place(rest);
        } else {
            (self.placed, self.unplanned) = (placed, unplanned);
        }
        goes_there
    }

    /// Adds the task of one step.
    fn place(&mut self, mut step: Step) {
        if step.has_pronoun && step.product.is_empty() {
            // `it` is what the step before asks for.
            let before = self.placed.last().map(|placed| words(&placed.step.query));
            step.product = before.unwrap_or_default();
        }
        let StepCandidates { mut candidates, refused } = self.found(&step);
        if candidates.is_empty() {
            self.unplanned.push(self.wording(&step));
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
            if !self.goes_on(&step, best.tool, &filled) {
                self.unplanned.push(self.wording(&step));
            }
            if self.may_be_forbidden(best.tool, &joined) {
                self.placed[place].margin = self.placed[place].margin.min(VAGUE);
            }
            self.placed[place].filled = filled;
            self.placed[place].step = joined;
            return;
        }
        let margin = (lead / CLEAR_LEAD).clamp(0.0, 1.0) * (best.known / CLEAR_FIT).min(1.0);
        let margin = if self.is_named(&step, best.tool) { margin } else { UNNAMED * margin };
        let is_vague = self.is_vague(&step, best.tool, &best.filled)
            || self.ignores_object(&step, best.tool)
            || self.may_be_forbidden(best.tool, &step)
            || candidates.iter().any(|other| self.is_asked_for(&step, other.tool, best.tool))
            || refused.iter().any(|other| self.is_asked_for(&step, *other, best.tool));
        self.note_products(&step, best.tool);
        let placed = Placed {
            tool: best.tool,
            step,
            filled: best.filled,
            margin: if is_vague { margin.min(VAGUE) } else { margin },
            alternatives,
            reason: Reason::Step,
        };
        self.placed.push(placed);
        // No further tools are added for a doubtful tool that could not be called even with them.
        let before = self.placed.clone();
        self.add_producers(self.placed.len() - 1, 0);
        let is_open = self.placed.last().is_some_and(|placed| !placed.filled.missing.is_empty());
        if best.known < CLEAR_ENOUGH && is_open {
            self.placed = before;
        }
        self.add_check();
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
        self.found(step).candidates
    }

    fn found(&self, step: &Step) -> StepCandidates {
        let (query, stems) = self.without_references(step);
        let hits = if query == self.query {
            self.whole.iter().take(HITS).copied().collect()
        } else {
            normalized((self.find)(&query, HITS))
        };
        let mut base: HashMap<usize, f32> = hits.iter().copied().collect();
        for &(tool, score) in &self.whole {
            // A tool that only the whole request finds is no candidate of this step.
            if let Some(own) = base.get_mut(&tool) {
                *own += WHOLE * score;
            }
        }
        let family = self.placed.last().map(|placed| self.tool(placed.tool).family.as_str());
        let terms: Vec<StepWord> = stems
            .iter()
            .map(|stem| StepWord {
                term: self.scene.toolbox.term(stem),
                is_name: step.name_stems.contains(stem),
                verb: (step.verb.as_ref() == Some(stem)).then(|| stem.clone()),
            })
            .collect();
        let mut ranked: Vec<Ranked> = base
            .into_iter()
            .map(|(tool, score)| {
                let spec = self.tool(tool);
                let same = !spec.family.is_empty() && Some(spec.family.as_str()) == family;
                let known = self.coverage(&terms, tool);
                let action = action_score(step, spec);
                let named = NAMED * named_share(step, spec);
                let family = if same { FAMILY } else { 0.0 };
                let score = score + KNOWN * known + action + named + family;
                Ranked { tool, score, known }
            })
            .filter(|ranked| ranked.known >= COVERAGE && self.may_act(step, ranked.tool))
            .filter(|ranked| !self.is_forbidden(ranked.tool, step))
            .collect();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.tool.cmp(&b.tool)));
        let sources = self.sources(self.placed.len());
        let (mut candidates, mut refused) = (Vec::<Candidate>::new(), Vec::new());
        let mut best = 0.0f32;
        for Ranked { tool, score, known } in ranked.into_iter().take(TRIED) {
            // Arguments cannot make up for so low a score: such a tool is not chosen and leaves the choice certain.
            if score + FILLED + USED + LIST < (1.0 - CLEAR_LEAD) * best {
                candidates.push(Candidate { tool, score, known, filled: Filled::default() });
                continue;
            }
            let filled = fill(self.scene, tool, step, &sources);
            if !self.does_anything(step, tool, &filled) {
                refused.push(tool);
                continue;
            }
            let score = score + self.value_score(step, tool, &filled);
            best = best.max(score);
            candidates.push(Candidate { tool, score, known, filled });
        }
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.tool.cmp(&b.tool)));
        StepCandidates { candidates, refused }
    }

    /// The share of a step's words that a tool knows; related words count half. Names that it does not know are values.
    fn coverage(&self, terms: &[StepWord], tool: usize) -> f32 {
        let (mut known, mut all) = (0.0, 0.0f32);
        for StepWord { term, is_name, verb } in terms {
            let fit = self.scene.toolbox.word_fit(tool, term);
            let fit = match verb {
                Some(verb) => fit.min(verb_limit(verb, self.tool(tool))),
                None => fit,
            };
            if fit > 0.0 || !is_name {
                known += fit;
                all += 1.0;
            }
        }
        self.scene.toolbox.focus(tool) * known / all.max(1.0)
    }

    /// The words of a step without the names of earlier outputs, which say nothing about its own tool: in "the square of
    /// the monthly payment" they are those of another one.
    fn without_references(&self, step: &Step) -> (String, Vec<String>) {
        let mut named: Vec<&str> = Vec::new();
        for placed in &self.placed {
            for output in &self.tool(placed.tool).outputs {
                let content = output.name_stems.iter().filter(|stem| stem.len() > 2);
                if content.clone().next().is_some() && content.clone().all(|stem| step.says(stem)) {
                    named.extend(content);
                }
            }
        }
        let is_named = |stem: &str| named.contains(&stem);
        let left: Vec<String> = step.stems.iter().filter(|stem| !is_named(stem)).cloned().collect();
        if named.is_empty() || left.len() < 2 {
            return (step.query.clone(), step.stems.clone());
        }
        let words = step.query.split(|c: char| !c.is_alphanumeric());
        let kept = words.filter(|word| !is_named(&stem(&fold(word))));
        (kept.collect::<Vec<_>>().join(" "), left)
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
        let parts = self.placed.len() + self.unplanned.len();
        let mean = total / parts.max(1) as f32;
        let unused = self.unused();
        let is_unsure = ambiguous || !self.unplanned.is_empty() || !unused.is_empty();
        let confidence = if is_unsure { mean.min(UNSURE) } else { mean };
        let confidence = confidence * self.share_of_used(unused.len());
        Draft { tasks, ids, confidence, notes: self.notes(&unused) }
    }

    fn reason(&self, placed: &Placed) -> String {
        let tool = &self.tool(placed.tool).id;
        match placed.reason {
            Reason::Gives(consumer) => {
                format!("`{tool}` gives what `{}` needs.", self.tool(consumer).id)
            }
            Reason::Checks(other) => {
                format!("`{tool}` checks what `{}` is called with.", self.tool(other).id)
            }
            Reason::Step => {
                format!("`{tool}` fits \"{}\" best.", self.wording(&placed.step))
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
