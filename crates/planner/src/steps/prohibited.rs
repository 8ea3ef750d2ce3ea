//! Parts of a request that say what must not be done.

use std::ops::Range;

use language::verbs::{begins_action, is_verb};
use language::words::is_stop_word;

use super::foreign::{self, Negation};
use super::{Token, is_extra_verb, tokens};
use crate::mention::{Mention, Written};
use crate::tool::is_changing;

/// Words that negate the clause that they open.
const NEGATIONS: [&str; 12] = [
    "not",
    "never",
    "neither",
    "don't",
    "dont",
    "avoid",
    "refrain",
    "mustn't",
    "shouldn't",
    "shan't",
    "needn't",
    "doesn't",
];
/// Words between the start of a clause and its negation: `please make sure that you do not`.
const LEADS: [&str; 33] = [
    "please",
    "do",
    "you",
    "we",
    "make",
    "sure",
    "ensure",
    "be",
    "certain",
    "careful",
    "that",
    "to",
    "must",
    "should",
    "shall",
    "may",
    "will",
    "can",
    "could",
    "would",
    "it",
    "is",
    "important",
    "try",
    "just",
    "under",
    "circumstances",
    "no",
    "ok",
    "also",
    "want",
    "i",
    "need",
];
/// Words that start a clause. `and` and `or` go on with a prohibition: `do not read or write it`.
const TURNS: [&str; 8] =
    ["but", "then", "however", "instead", "otherwise", "afterwards", "aber", "sondern"];
/// What follows a negation that forbids nothing: `do not forget to`, `not only`.
const HARMLESS: [&str; 19] = [
    "forget",
    "forgetting",
    "hesitate",
    "hesitating",
    "fail",
    "failing",
    "wait",
    "waiting",
    "worry",
    "worrying",
    "sure",
    "certain",
    "only",
    "just",
    "later",
    "more",
    "less",
    "yet",
    "mind",
];
/// Words that end what a bare `not` excludes: `the files but not the folders in /src`.
const PREPOSITIONS: [&str; 10] =
    ["in", "on", "at", "from", "to", "with", "for", "into", "under", "using"];

/// Words that can stand between a negation and what it forbids: `do not ever, at any cost,`.
const FRAMES: [&str; 4] = ["ever", "cost", "costs", "case"];
/// Words that stand for what is forbidden: `don't do that`.
const PRONOUNS: [&str; 7] = ["it", "them", "this", "that", "these", "those", "so"];

/// The parts of a request that forbid something, in order.
pub(crate) fn prohibited(text: &str, mentions: &[Mention]) -> Vec<Range<usize>> {
    // Names are words here, since a request in capitals consists of names.
    let is_word = |mention: &&Mention| !mention.quoted && mention.value == Written::Name;
    let values: Vec<Mention> =
        mentions.iter().filter(|mention| !is_word(mention)).cloned().collect();
    let tokens = tokens(text, &values);
    let clauses = Clauses { text, tokens: &tokens };
    let mut found: Vec<Range<usize>> = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        if found.last().is_some_and(|last| token.start < last.end) {
            continue;
        }
        if let Some(range) = clauses.prohibition(place) {
            let from = found.last().map_or(0, |last| last.end);
            found.push(range.start.max(from)..range.end);
        }
    }
    found
}

/// The text with spaces instead of these parts, so that positions stay the same.
pub(crate) fn masked(text: &str, parts: &[Range<usize>]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for part in parts {
        masked.push_str(&text[at..part.start]);
        // A stop keeps what is before and after apart.
        masked.push(if part.len() > 1 { ';' } else { ' ' });
        masked.extend(std::iter::repeat_n(' ', part.len().saturating_sub(1)));
        at = part.end;
    }
    masked.push_str(&text[at..]);
    masked
}

struct Clauses<'a> {
    text: &'a str,
    tokens: &'a [Token<'a>],
}

impl Clauses<'_> {
    fn word(&self, place: usize) -> &str {
        self.tokens.get(place).map_or("", |token| token.lower.as_str())
    }

    /// What the word at a place forbids.
    fn prohibition(&self, place: usize) -> Option<Range<usize>> {
        let word = self.word(place);
        let next = self.word(place + 1);
        if word == "ohne" && (place + 1..place + 7).any(|at| self.word(at) == "zu") {
            return Some(self.tokens[place].start..self.end(place, false, false));
        }
        if let Some(negation) = foreign::negation(self.text, self.tokens, place) {
            let clause = foreign::forbidden_clause(self.text, self.tokens, place);
            return Some(match negation {
                Negation::Clause => clause,
                Negation::From(start) => start..clause.end,
            });
        }
        let is_participle = next.len() > 4 && next.ends_with("ing") && !HARMLESS.contains(&next);
        let without = word == "without" && is_participle
            || is_participle && (word == "of" && self.before(place) == "instead")
            || is_participle && (word == "than" && self.before(place) == "rather");
        if without {
            let end = self.end(place + 1, true, false);
            return Some(self.tokens[place].start..end);
        }
        if let Some(range) = self.empty_object(place) {
            return Some(range);
        }
        // A typographic apostrophe ends a word.
        let split =
            next == "t" && matches!(word, "don" | "mustn" | "shouldn" | "shan" | "needn" | "doesn");
        let after = if split { self.word(place + 2) } else { next };
        let is_never = word == "circumstances" && self.before(place) == "no";
        let negates = NEGATIONS.contains(&word) || split || is_never;
        let is_no = word == "no" && (is_participle || next == "need");
        if !(negates || is_no) || HARMLESS.contains(&after) {
            return None;
        }
        // `what did I change but not commit yet?` is about a state, `do not send it yet` is not.
        let is_state = word == "not" && !matches!(self.before(place), "do" | "please");
        if is_state && (place + 1..place + 5).any(|at| self.word(at) == "yet") {
            return None;
        }
        if word == "not" && after == "to" && place > 0 {
            let first = self.clause_start(place).unwrap_or(place);
            return Some(self.tokens[first].start..self.end(place, false, false));
        }
        let is_modal = matches!(word, "not" | "never")
            && matches!(self.before(place), "must" | "should" | "shall" | "may")
            || matches!(word, "mustn't" | "shouldn't" | "shan't")
            || split && matches!(word, "mustn" | "shouldn" | "shan");
        if is_modal && let Some(first) = self.statement_start(place) {
            return Some(self.tokens[first].start..self.end(place, false, false));
        }
        let first = self.clause_start(place)?;
        let by_person = (first..place).any(|at| self.word(at) == "i");
        if by_person && !matches!(after, "want" | "like" | "need") {
            return None;
        }
        let is_bare = word == "not" && first == place;
        Some(self.tokens[first].start..self.end(place, false, is_bare))
    }

    /// `delete no files`, `change nothing`: what a request to change something is not about.
    fn empty_object(&self, place: usize) -> Option<Range<usize>> {
        let is_empty = matches!(self.word(place), "no" | "nothing" | "none");
        let verb = self.before(place);
        let changes = is_changing(verb) || matches!(verb, "make" | "change" | "alter" | "touch");
        let limits = ["more", "less", "longer", "later", "but", "except", "other", "else"];
        if !is_empty || !changes || limits.contains(&self.word(place + 1)) {
            return None;
        }
        let first = self.clause_start(place - 1)?;
        Some(self.tokens[first].start..self.end(place, false, false))
    }

    fn before(&self, place: usize) -> &str {
        place.checked_sub(1).map_or("", |before| self.word(before))
    }

    /// The first word of the clause that a negation opens, `None` if something else opens it.
    fn clause_start(&self, place: usize) -> Option<usize> {
        let mut first = place;
        loop {
            let token = &self.tokens[first];
            let before = self.before(first);
            let starts = first == 0 && !token.after_value
                || token.after_stop
                || token.after_comma
                || self.gap(first).contains(['(', '—', '–', ':'])
                || TURNS.contains(&before)
                || matches!(before, "and" | "or" | "so");
            if starts {
                return Some(first);
            }
            if token.after_value || !LEADS.contains(&before) {
                return None;
            }
            first -= 1;
        }
    }

    /// The first word of `Bob must not be deleted`, `None` in `files that must not be deleted`.
    fn statement_start(&self, place: usize) -> Option<usize> {
        let starts = |at: &usize| {
            let token = &self.tokens[*at];
            *at == 0
                || token.after_stop
                || token.after_comma
                || TURNS.contains(&self.before(*at))
                || self.before(*at) == "and"
        };
        let first = (0..=place).rev().find(starts)?;
        let is_relative = (first..place)
            .any(|at| matches!(self.word(at), "that" | "which" | "who" | "if" | "whether"));
        (!is_relative || self.word(first) == "make").then_some(first)
    }

    /// The text between a word and the one before.
    fn gap(&self, place: usize) -> &str {
        let from = place.checked_sub(1).map_or(0, |before| self.tokens[before].end);
        &self.text[from..self.tokens[place].start]
    }

    /// Where a prohibition ends.
    fn end(&self, from: usize, participle: bool, is_bare: bool) -> usize {
        for place in from + 1..self.tokens.len() {
            let token = &self.tokens[place];
            let before = self.before(place);
            let next = self.word(place + 1);
            let acts = begins_action(&token.lower, Some(next)) || is_extra_verb(&token.lower);
            let requests = acts || matches!(token.lower.as_str(), "please" | "just" | "only");
            let joined = matches!(before, "and" | "und") && place > from + 1;
            let ends = token.after_stop
                || TURNS.contains(&token.lower.as_str())
                || token.after_comma
                    && requests
                    && (participle || self.has_action(from, place))
                    && !(acts && self.continues_verbs(place))
                || joined && acts && (participle || self.tokens[place - 1].after_comma)
                || is_bare && PREPOSITIONS.contains(&token.lower.as_str())
                || is_bare && joined && acts;
            if ends {
                let start = if joined && !token.after_stop { place - 1 } else { place };
                return self.tokens[start].start;
            }
        }
        self.text.len()
    }

    /// Whether a prohibition says what it forbids before a place: `do not, under any circumstances,` does not yet, but
    /// `don't do that,` and `not b.txt,` do.
    fn has_action(&self, from: usize, place: usize) -> bool {
        let has_value = self.tokens[from + 1..=place].iter().any(|token| token.after_value);
        let is_pronoun =
            |at: usize| PRONOUNS.contains(&self.word(at)) && self.word(at + 1) != "circumstances";
        let is_content = |at: usize| {
            let word = self.word(at);
            let is_frame = LEADS.contains(&word) || FRAMES.contains(&word);
            !is_stop_word(word) && !is_frame && !NEGATIONS.contains(&word)
        };
        // The verb of `change nothing` is before it.
        matches!(self.word(from), "no" | "nothing" | "none")
            || has_value
            || (from + 1..place).any(|at| is_pronoun(at) || is_content(at))
    }

    /// Whether a verb after a comma is one of several that are forbidden: `do not send, move or delete it`.
    fn continues_verbs(&self, place: usize) -> bool {
        let is_action = |at: usize| {
            let word = self.word(at);
            is_verb(word) || is_extra_verb(word) || is_changing(word)
        };
        let is_next = |at: usize| {
            self.tokens.get(at).is_some_and(|token| token.after_comma && !token.after_value)
        };
        let mut last = place;
        while is_next(last + 1) && is_action(last + 1) {
            last += 1;
        }
        is_next(place) && is_action(place - 1) && matches!(self.word(last + 1), "or" | "nor")
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::{masked, prohibited};
    use crate::mention::mentions;

    fn left(text: &str) -> String {
        let parts = prohibited(text, &mentions(text, date(2024, 1, 1)));
        let masked = masked(text, &parts);
        assert_eq!(masked.len(), text.len());
        let words = masked.split_whitespace().filter(|word| *word != ";");
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn forbidden_steps_are_left_out() {
        for text in [
            "Do not delete the entity Bob",
            "Please don't delete the entity 'Bob'",
            "Don’t delete Bob",
            "DO NOT DELETE BOB",
            "Never delete a.txt, b.txt or c.txt",
            "Please make sure that you never delete Bob",
            "Avoid deleting Bob",
            "I do not want you to delete Bob",
            "Could you not delete Bob?",
            "Do not read a.txt and write it to b.txt",
            "Make sure not to delete Bob",
            "The entity Bob must not be deleted",
            "Under no circumstances delete Bob",
            "You don't have to delete Bob",
            "No need to delete Bob",
            "Lösche die Datei a.txt nicht",
            "Bitte keine Dateien löschen",
            "Delete no files",
            "Please change nothing in a.txt",
            "Do not send it yet",
            "Do not send, move or delete the mails",
            "Do not send, move, or delete a.txt",
            "Do not, under any circumstances, send the mail",
            "Don’t, under these circumstances, send the mail",
            "Do not ever, please, send the mail",
            "Under no circumstances, please, send the mail",
            "Neither send nor delete the mails",
            "The mail shouldn’t be sent",
            "Please not delete it yet",
            "N'envoie pas le message",
            "Ne supprime jamais le fichier a.txt",
            "No envíes el mensaje",
            "No lo borres",
            "Nunca borres el archivo a.txt",
            "Não apague o arquivo a.txt",
            "Non cancellare il file a.txt",
            "Verwijder het bestand a.txt niet",
            "Ta inte bort filen a.txt",
            "Nie usuwaj pliku a.txt",
            "Не удаляй файл a.txt",
            "不要删除 a.txt",
            "请勿删除 a.txt",
            "a.txt を削除しないでください",
            "a.txt 파일을 삭제하지 마세요",
        ] {
            assert_eq!(left(text), "", "{text}");
        }
    }

    #[test]
    fn the_rest_of_the_request_stays() {
        for (text, rest) in [
            ("List the files, but do not delete them", "List the files, but"),
            ("Do not delete Bob. List the files.", "List the files."),
            ("Do not delete Bob, list the files instead", "list the files instead"),
            (
                "Read a.txt without deleting it and write it to b.txt",
                "Read a.txt and write it to b.txt",
            ),
            ("Delete Ann and Carol but not Bob", "Delete Ann and Carol but"),
            ("Find the files, not folders in /src", "Find the files, in /src"),
            ("Lies a.txt, aber lösche sie nicht", "Lies a.txt,"),
            ("List the files and delete nothing", "List the files and"),
            ("Lis a.txt, mais n’envoie rien", "Lis a.txt,"),
            ("读取 a.txt，不要删除它。", "读取 a.txt，;"),
            ("Do not send it, write or save it", "write or save it"),
            ("List a.txt but not b.txt, delete c.txt", "List a.txt but delete c.txt"),
            ("Don't do that, send the mail to Ann", "send the mail to Ann"),
            ("Don’t do that again, send the mail to Ann", "send the mail to Ann"),
            ("Change nothing, list the files", "list the files"),
            ("Draft the mail but do not send it yet", "Draft the mail but"),
        ] {
            assert_eq!(left(text), rest, "{text}");
        }
    }

    #[test]
    fn other_negations_forbid_nothing() {
        for text in [
            "Don't forget to commit the changes",
            "Do not wait, send it now",
            "Send it without waiting for Bob",
            "Find files that do not match '*.rs'",
            "Show changes that are not yet staged",
            "What did I change but not commit yet?",
            "Why don't you list the files?",
            "I don't know what time it is in Tokyo",
            "Fetch https://example.com without simplification",
            "Commit with the message 'do not delete this'",
            "Create the folder /tmp/x if it does not exist",
            "Find files that should not be there",
            "Find flights with no stops to Las Vegas",
            "Summarize the report of the non-profit Acme",
            "Show me the pas de deux",
            "Find non fiction books",
            "识别 a.png 中的文字",
            "Which files do not have tests yet?",
            "Delete nothing but a.txt",
            "List files with no extension",
            "Do nothing for a while",
            "Delete no more than 5 files",
        ] {
            assert_eq!(left(text), text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
}
