//! Bonuses and penalties of a tool besides the words that it shares with a step.

use language::words::related_stems;

use crate::steps::Step;
use crate::tool::ToolSpec;

/// The weight of filled arguments.
pub(super) const FILLED: f32 = 0.35;
/// The weight of values of the step that find a place.
pub(super) const USED: f32 = 0.3;
/// Bonus for a tool whose name begins with the verb of the step; half of it for a related verb or another position.
pub(super) const VERB: f32 = 0.2;
/// The fit of a verb that a tool's name has only as a participle.
const PARTICIPLE: f32 = -2.0;
/// Bonus for a tool that takes the several values of a step in one call; penalty if it takes lists of one value.
pub(super) const LIST: f32 = 0.15;
/// Penalty of a tool that changes something where a step only asks.
const UNASKED_CHANGE: f32 = 0.4;
/// Bonus for a tool whose name has the words of the step.
pub(super) const NAMED: f32 = 0.25;
/// Penalty of a tool that changes nothing where a step asks for a change.
const ONLY_LOOKS: f32 = 0.25;
/// Penalty of a tool that is there for older clients only.
const DEPRECATED: f32 = 0.2;

/// The share of the words of a tool's name, without its verb, that a step has.
pub(super) fn named_share(step: &Step, tool: &ToolSpec) -> f32 {
    let nouns = tool.name_stems.iter().filter(|stem| **stem != *tool.action);
    let nouns = nouns.filter(|stem| stem.len() > 2 && *stem != tool.family);
    let (mut all, mut said) = (0.0f32, 0.0);
    for noun in nouns {
        all += 1.0;
        said += if step.says(noun) { 1.0 } else { 0.0 };
    }
    said / all.max(1.0)
}

/// How well a tool does what a step asks for, whatever its arguments are.
pub(super) fn action_score(step: &Step, tool: &ToolSpec) -> f32 {
    let changes = if step.only_asks && tool.changes { UNASKED_CHANGE } else { 0.0 };
    let outdated = if tool.is_deprecated { DEPRECATED } else { 0.0 };
    let verb = verb_fit(step, tool);
    // A step that changes something needs more than a tool that reads.
    let looks = if step.changes && !tool.changes && verb <= 0.0 { ONLY_LOOKS } else { 0.0 };
    VERB * verb - changes - outdated - looks
}

/// Verbs that say little about what is done: `make edits`, `you know`.
const LIGHT: [&str; 6] = ["make", "know", "tell", "give", "take", "let"];

/// The most that a verb of a step counts as known by a tool.
pub(super) fn verb_limit(verb: &str, tool: &ToolSpec) -> f32 {
    if tool.participles.contains(verb) {
        0.0
    } else if LIGHT.contains(&verb) && !tool.name_stems.contains(verb) {
        0.5
    } else {
        1.0
    }
}

fn verb_fit(step: &Step, tool: &ToolSpec) -> f32 {
    let Some(verb) = &step.verb else { return 0.0 };
    // `diff_staged` does not stage.
    if tool.participles.contains(verb) {
        return PARTICIPLE;
    }
    // The output of any tool can be shown, so `show` says little about a tool.
    let weight = if verb == "show" { 0.5 } else { 1.0 };
    let begins = word_fit(verb, |word| *tool.action == **word);
    weight * begins.max(0.5 * word_fit(verb, |word| tool.verb_stems.contains(word)))
}

fn word_fit(stem: &String, knows: impl Fn(&String) -> bool) -> f32 {
    if knows(stem) {
        1.0
    } else if related_stems(stem).iter().any(knows) {
        0.5
    } else {
        0.0
    }
}
