//! What a plan leaves out, and steps that say too little.

use language::words::{fold, related_stems, stem};

use super::Choosing;
use super::evidence::named_share;
use crate::fill::Filled;
use crate::forbidden::Verdict;
use crate::steps::Step;
use crate::tool::ToolSpec;

impl Choosing<'_> {
    /// Whether the request forbids what a tool would do for a step.
    pub(super) fn is_forbidden(&self, tool: usize, step: &Step) -> bool {
        self.verdict(tool, step) == Verdict::Forbidden
    }

    /// Whether the request may forbid what a tool would do for a step: `write to Ann, but do not send the draft`.
    pub(super) fn may_be_forbidden(&self, tool: usize, step: &Step) -> bool {
        self.verdict(tool, step) == Verdict::Doubtful
    }

    fn verdict(&self, tool: usize, step: &Step) -> Verdict {
        let parts = self.scene.forbidden.iter();
        let verdicts = parts.map(|part| part.verdict(self.scene.toolbox, tool, step));
        verdicts.max().unwrap_or(Verdict::Allowed)
    }

    /// A step in the words of the request.
    pub(super) fn wording(&self, step: &Step) -> String {
        let parts = step.ranges.iter().map(|(from, to)| self.scene.text[*from..*to].trim());
        let text = parts.collect::<Vec<_>>().join(" ");
        // Remove the words that join it with a part that is left out.
        let text = text.trim_matches([' ', ';', ',']);
        text.strip_suffix(" but").unwrap_or(text).trim_end_matches([' ', ',']).to_owned()
    }

    /// Whether a step says too little to be sure of its tool: at most one word, or a single word about a tool that
    /// could be called with anything.
    pub(super) fn is_vague(&self, step: &Step, tool: usize, filled: &Filled) -> bool {
        let has_value = filled.used.iter().any(|mention| step.mentions.contains(mention));
        let is_content = |stem: &&String| stem.chars().count() > 2 || !stem.is_ascii();
        let content: Vec<&String> = step.stems.iter().filter(is_content).collect();
        if content.is_empty() || content.len() == 1 && !has_value && !step.has_pronoun {
            return true;
        }
        let spec = self.tool(tool);
        let is_open = !spec.inputs.is_empty() && spec.required().next().is_none();
        let toolbox = self.scene.toolbox;
        let known = content.iter().filter(|stem| toolbox.word_fit(tool, &toolbox.term(stem)) > 0.5);
        is_open && filled.arguments.is_empty() && known.count() < 2
    }

    /// Whether a tool has to do with a step: it knows its verb, has an argument, or takes none.
    pub(super) fn does_anything(&self, step: &Step, tool: usize, filled: &Filled) -> bool {
        let has_argument = filled.share > 0.0 && !filled.arguments.is_empty();
        // `Delete /data/a.txt` is nothing for a tool that deletes entities.
        if !has_argument && self.unfit(step, tool, filled).next().is_some() {
            return false;
        }
        step.mentions.is_empty()
            || has_argument
            || self.tool(tool).inputs.is_empty()
            || self.goes_on(step, tool, filled)
    }

    /// Whether a tool knows nothing of what a step is about besides its verb: `check the readability` is not `validate`.
    pub(super) fn ignores_object(&self, step: &Step, tool: usize) -> bool {
        let toolbox = self.scene.toolbox;
        let is_object = |stem: &&String| {
            stem.chars().count() > 2
                && step.verb.as_ref() != Some(*stem)
                && !step.name_stems.contains(*stem)
        };
        let mut objects = step.stems.iter().filter(is_object).peekable();
        objects.peek().is_some()
            && objects.all(|stem| toolbox.word_fit(tool, &toolbox.term(stem)) == 0.0)
    }

    /// Whether the name of another tool is what the step asks for, and that of the chosen one is not: the other one may only
    /// lack something that the step before could give.
    pub(super) fn is_asked_for(&self, step: &Step, other: usize, chosen: usize) -> bool {
        let Some(verb) = &step.verb else { return false };
        let says_all = |tool: &ToolSpec| **verb == *tool.action && named_share(step, tool) == 1.0;
        says_all(self.tool(other)) && !says_all(self.tool(chosen))
    }

    /// Whether the name of a tool, without that of its server, has a word of the step, or a related one.
    pub(super) fn is_named(&self, step: &Step, tool: usize) -> bool {
        let spec = self.tool(tool);
        let names = &spec.name_stems;
        let has =
            |stem: &String| names.contains(stem) && (names.len() == 1 || *stem != spec.family);
        step.stems.iter().any(|stem| has(stem) || related_stems(stem).iter().any(has))
    }

    /// Whether a step that is joined with an earlier one has a place in its task: the tool knows its verb, or takes
    /// one of its values.
    pub(super) fn goes_on(&self, step: &Step, tool: usize, filled: &Filled) -> bool {
        let toolbox = self.scene.toolbox;
        let knows = |verb: &String| toolbox.word_fit(tool, &toolbox.term(verb)) > 0.0;
        step.verb.as_ref().is_none_or(knows)
            || filled.used.iter().any(|mention| step.mentions.contains(mention))
    }

    /// Notes what a step wants made of an earlier result and its tool does not make: `save a summary of it`.
    pub(super) fn note_products(&mut self, step: &Step, tool: usize) {
        let toolbox = self.scene.toolbox;
        let mut found = Vec::new();
        let words: Vec<&str> = step.query.split_whitespace().collect();
        for part in words.windows(4) {
            let [article, noun, of, pronoun] = *part else { continue };
            let matches = matches!(article, "a" | "an" | "the" | "its")
                && of == "of"
                && matches!(pronoun.trim_matches([',', '.', ';']), "it" | "them" | "this" | "that");
            let term = || stem(&fold(noun));
            let tools = || self.placed.iter().map(|placed| placed.tool).chain([tool]);
            if matches && !tools().any(|tool| toolbox.word_fit(tool, &toolbox.term(&term())) > 0.0)
            {
                found.push(part.join(" "));
            }
        }
        self.unplanned.extend(found);
    }
}
