//! Values that stand in a request without quotes: `the branch develop`, `from main`.

use language::verbs::is_verb;
use language::words::{fold, is_stop_word, stem};
use serde_json::Value;

use super::Filling;
use crate::draft::Argument;
use crate::tool::{Field, Kind, Sense};

/// Words of names of fields that do not say what they name.
const GENERIC: [&str; 12] = [
    "name", "id", "type", "title", "text", "value", "number", "key", "data", "content", "query",
    "message",
];
/// Names of fields for what something starts from.
const BASES: [&str; 4] = ["base", "source", "from", "origin"];
/// Words before a noun that do not name anything.
const ADJECTIVES: [&str; 20] = [
    "new", "current", "default", "same", "other", "first", "last", "next", "previous", "own",
    "whole", "entire", "local", "remote", "old", "given", "latest", "existing", "named", "called",
];

/// A word of the step, without the punctuation around it.
struct PlainWord<'a> {
    text: &'a str,
    /// In lower case.
    lower: String,
    /// Whether punctuation follows.
    ends: bool,
    /// Whether it is part of a value.
    is_value: bool,
}

impl<'a> Filling<'a> {
    /// Words that the step puts next to the name of a field.
    pub(super) fn fill_bare_words(&mut self) {
        let words = self.split_words();
        let mut taken: Vec<&str> = Vec::new();
        for slot in self.open() {
            let field = self.slots[slot].field;
            if !names_something(field) {
                continue;
            }
            let mut found =
                (0..words.len()).filter_map(|place| self.named_at(field, &words, place));
            if let Some(word) = found.find(|word| !taken.contains(word)) {
                taken.push(word);
                self.set(slot, Argument::Literal(Value::from(word)), 2.0);
            }
        }
    }

    /// Splits the step into words, in order.
    fn split_words(&self) -> Vec<PlainWord<'a>> {
        let text = self.scene.text;
        let mut words = Vec::new();
        for &(from, to) in &self.step.ranges {
            let mut at = from;
            for part in text[from..to].split(char::is_whitespace) {
                let start = at;
                at += part.len() + 1;
                let word = part.trim_matches(|c: char| !c.is_alphanumeric());
                if word.is_empty() {
                    continue;
                }
                let end = start + part.len();
                let values = self.step.mentions.iter().map(|&place| &self.scene.mentions[place]);
                words.push(PlainWord {
                    text: word,
                    lower: fold(word),
                    ends: part.ends_with(['.', ',', ';', ':', '!', '?']),
                    is_value: values.into_iter().any(|m| m.start < end && m.end > start),
                });
            }
        }
        words
    }

    /// The value that the words at a place name for a field.
    fn named_at(&self, field: &Field, words: &[PlainWord<'a>], place: usize) -> Option<&'a str> {
        let word = &words[place];
        let is = |at: Option<usize>, among: &[&str]| {
            at.and_then(|at| words.get(at)).is_some_and(|word| among.contains(&word.lower.as_str()))
        };
        let before = |count: usize| place.checked_sub(count);
        let is_base = field.is_named(&BASES);
        // `from main`: the field is about something that the step names.
        if is_base && is(before(1), &["from", "off"]) {
            let about = field.name_words.iter().zip(field.name_stems.iter());
            let mut about = about.filter(|(word, _)| !BASES.contains(word));
            let is_named = about.any(|(_, stem)| self.step.says(stem));
            return (is_named && self.is_free(words, place)).then_some(word.text);
        }
        let is_own = |at: usize| {
            let noun = words.get(at).filter(|noun| !noun.is_value);
            noun.is_some_and(|noun| says_what(&noun.lower) && field.is_named(&[&noun.lower]))
        };
        // `from the main branch`, `to the develop branch`.
        let role: &[&str] = if is_base { &["from", "off"] } else { &["to", "on", "onto", "into"] };
        if is(before(1), &["the"]) && is(before(2), role) && is_own(place + 1) && !word.ends {
            let plain = !ADJECTIVES.contains(&word.lower.as_str());
            return (plain && self.is_unknown(word)).then_some(word.text);
        }
        // `the branch develop`.
        let follows = before(1).is_some_and(|at| is_own(at) && !words[at].ends);
        (follows && !is_base && self.is_free(words, place)).then_some(word.text)
    }

    /// Whether a word is no word of the tool and ends what it belongs to.
    fn is_free(&self, words: &[PlainWord<'a>], place: usize) -> bool {
        let ends = words[place].ends
            || words.get(place + 1).is_none_or(|next| !next.is_value && is_stop_word(&next.lower));
        ends && self.is_unknown(&words[place])
    }

    fn is_unknown(&self, word: &PlainWord<'a>) -> bool {
        let toolbox = self.scene.toolbox;
        let is_name = word.lower.contains(['-', '_', '.', '/']);
        !word.is_value
            && !is_stop_word(&word.lower)
            && !is_verb(&word.lower)
            && !word.lower.ends_with("ing")
            && (is_name || toolbox.word_fit(self.index, &toolbox.term(&stem(&word.lower))) == 0.0)
    }
}

/// Whether a field takes a name, and its own name says of what.
fn names_something(field: &Field) -> bool {
    field.kind == Kind::Text
        && field.options.is_empty()
        && matches!(field.sense, Sense::Other | Sense::Id)
        && field.name_words.iter().any(says_what)
}

/// Whether a word of a field's name says what it names.
fn says_what(word: &str) -> bool {
    word.len() > 2 && !GENERIC.contains(&word)
}
