//! Names in the languages of which words are known. A capital says little there, in German nothing: a name needs evidence.

mod candidates;
mod evidence;
mod text;

use std::collections::HashSet;
use std::ops::Range;

use candidates::{Candidate, Form, candidates};
use evidence::Cue;
use text::Text;

use super::cues;
use super::runs::Run;
use super::verdict::{Verdict, postcode_after, verdict};
use crate::languages::Words;
use crate::lists::{self, FAMILY, GIVEN};
use crate::tokens::Token;
use crate::{Finding, Kind};

/// A name that is sure says that its parts are names in the rest of the text.
const SURE: f32 = 0.8;

/// A candidate and what it was taken for.
struct Judged {
    candidate: Candidate,
    words: &'static Words,
    verdict: Option<Verdict>,
}

impl Judged {
    fn is_person(&self, least: f32) -> bool {
        let person = |found: &Verdict| found.kind == Kind::Person && found.confidence >= least;
        self.verdict.as_ref().is_some_and(person)
    }
}

pub(super) fn find(
    text: &str,
    tokens: &[Token],
    parts: &[(Range<usize>, &'static Words)],
    taken: &[Range<usize>],
    found: &mut Vec<Finding>,
) {
    let text = Text::new(text, tokens, parts);
    let mut judged: Vec<Judged> = Vec::new();
    for (part, words) in parts {
        for candidate in candidates(&text, words, part.clone(), taken) {
            let after_person = judged.last().is_some_and(|before| {
                before.is_person(0.0)
                    && evidence::is_listed_after(&text, &before.candidate, &candidate)
            });
            let verdict = text.judge(&candidate, words, after_person);
            judged.push(Judged { candidate, words, verdict });
        }
    }
    text.settle_lists(&mut judged);
    text.repeat(&mut judged);
    let judged = join_reversed(&text, judged);
    for Judged { candidate, verdict, .. } in judged {
        let Some(Verdict { kind, confidence, reason }) = verdict else { continue };
        found.push(Finding::new(kind, candidate.start..candidate.end, confidence, reason));
        if kind == Kind::Gpe {
            postcode_after(tokens, candidate.tokens.end, found);
        }
    }
    for (part, words) in parts {
        text::addresses(&text, words, part.clone(), found);
    }
}

impl Text<'_> {
    fn judge(
        &self,
        candidate: &Candidate,
        words: &'static Words,
        after_person: bool,
    ) -> Option<Verdict> {
        match candidate.form {
            Form::Company => {
                return verdict(Kind::Organization, 0.85, "word for a company or institution");
            }
            Form::Institution => {
                return verdict(Kind::Organization, 0.66, "word for a company or institution");
            }
            Form::Place => return verdict(Kind::Gpe, 0.75, "name of a city"),
            Form::Country => return verdict(Kind::Gpe, 0.9, "country or state"),
            Form::Role => return None,
            Form::Name => {}
        }
        let cue = evidence::cue(self, candidate, words);
        if cue.is_strong() {
            return self.named(candidate, words, cue);
        }
        let run = Run { tokens: candidate.tokens.clone(), first: false, company: false };
        if let Some(kind) = cues::sure(self.tokens, &run) {
            return verdict(kind, 0.85, "words before it say what it is");
        }
        let name = &candidate.words;
        let city = name.len() == 1 && lists::is_city(&name[0]);
        if city && cue == Cue::Place {
            return verdict(Kind::Gpe, 0.66, "name of a city");
        }
        if cue == Cue::Thing {
            return None;
        }
        let person = if name.len() > 1 {
            self.full_name(candidate, words, cue, after_person)
        } else {
            self.single_name(candidate, words, cue, after_person)
        };
        person.or_else(|| {
            if city && !self.is_common(words, &name[0]) && cue != Cue::Article {
                return verdict(Kind::Gpe, 0.65, "name of a city");
            }
            None
        })
    }

    /// After a form of address, a greeting, a role and such, only words that are never names are none.
    fn named(&self, candidate: &Candidate, words: &Words, cue: Cue) -> Option<Verdict> {
        let name = &candidate.words;
        let listed = |word: &str| lists::name(word) != 0;
        let known = name.iter().any(|word| listed(word) && !self.is_common(words, word));
        let common = self.is_common(words, &name[0]);
        let fits = match cue {
            Cue::Address { short } => {
                known || listed(&name[0]) && !short || !common && (!short || name.len() > 1)
            }
            Cue::Label => known || name.len() > 1 && !common,
            Cue::Close => known || !common,
            // `el agente Rey`; in German the word may be the object of a verb.
            Cue::Role if listed(&name[0]) && !words.is_german() => true,
            _ => known || !common && (name.len() > 1 || !self.is_heading(candidate)),
        };
        let confidence = if known { 0.88 } else { SURE };
        if fits && !words.is_roles(&name[0]) {
            return verdict(Kind::Person, confidence, cue.reason());
        }
        None
    }

    /// Words in capitals, as in headings.
    fn is_heading(&self, candidate: &Candidate) -> bool {
        self.tokens[candidate.tokens.clone()].iter().all(|token| token.upper)
    }

    fn full_name(
        &self,
        candidate: &Candidate,
        words: &Words,
        cue: Cue,
        after_person: bool,
    ) -> Option<Verdict> {
        let name = &candidate.words;
        let mark = |word: &String| lists::name(word);
        let later = name[1..].iter().any(|word| mark(word) != 0 && !self.is_common(words, word));
        let common = self.is_common(words, &name[0]);
        if mark(&name[0]) & GIVEN != 0 && (!common || later) {
            let confidence = if common { 0.75 } else { 0.85 };
            return verdict(Kind::Person, confidence, "given name");
        }
        if matches!(cue, Cue::Said | Cue::Apposition) && !common {
            return verdict(Kind::Person, 0.7, "words around it");
        }
        let place = name.len() == 2 && lists::is_city(&name.join(" "));
        if place {
            return verdict(Kind::Gpe, 0.75, "name of a city");
        }
        let family = name.iter().any(|word| {
            mark(word) & FAMILY != 0 && !self.is_common(words, word) && !lists::is_word(word)
        });
        if family && !common && cue != Cue::Article {
            return verdict(Kind::Person, 0.62, "family name");
        }
        if after_person && !common && !words.is_german() {
            return verdict(Kind::Person, 0.6, "in a list with a name");
        }
        None
    }

    fn single_name(
        &self,
        candidate: &Candidate,
        words: &Words,
        cue: Cue,
        after_person: bool,
    ) -> Option<Verdict> {
        let word = &candidate.words[0];
        let mark = lists::name(word);
        let common = self.is_common(words, word);
        let article = cue == Cue::Article;
        if mark & GIVEN != 0 && !common && (!article || words.names_have_articles()) {
            return verdict(Kind::Person, 0.7, "given name");
        }
        if article {
            return None;
        }
        let family = mark & FAMILY != 0 && !lists::is_word(word);
        if candidate.initials && !common {
            return verdict(Kind::Person, 0.66, "initial and a name");
        }
        if family && !common {
            let confidence = if candidate.first && cue != Cue::Said { 0.55 } else { 0.62 };
            return verdict(Kind::Person, confidence, "family name");
        }
        let hinted = matches!(cue, Cue::Said | Cue::Apposition) || after_person;
        if mark != 0 && hinted {
            return verdict(Kind::Person, 0.6, "words around it");
        }
        let plain = !common && !words.is_roles(word) && !self.is_heading(candidate);
        let said = cue == Cue::Said && !candidate.first;
        let listed = after_person && !words.is_german();
        if mark == 0 && plain && (said || listed || cue == Cue::Apposition && !lists::is_city(word))
        {
            return verdict(Kind::Person, 0.52, "words around it");
        }
        None
    }

    /// Takes two words before a sure name in a list for a name: `Fatou Ndiaye e Matteo Ruggieri`.
    fn settle_lists(&self, judged: &mut [Judged]) {
        for at in (1..judged.len()).rev() {
            let (earlier, later) = judged.split_at_mut(at);
            let (before, next) = (&mut earlier[at - 1], &later[0]);
            let name = &before.candidate.words;
            let unknown = before.verdict.is_none()
                && before.candidate.form == Form::Name
                && name.len() > 1
                && !name.iter().any(|word| self.is_common(before.words, word));
            if unknown
                && next.is_person(0.6)
                && next.candidate.words.len() > 1
                && evidence::is_listed_after(self, &before.candidate, &next.candidate)
                && !evidence::is_noun_here(self, &before.candidate, before.words)
            {
                before.verdict = verdict(Kind::Person, 0.6, "in a list with a name");
            }
        }
    }

    /// Takes parts of sure names for names wherever they occur.
    fn repeat(&self, judged: &mut [Judged]) {
        let known: HashSet<String> = judged
            .iter()
            .filter(|judged| judged.is_person(SURE))
            .flat_map(|judged| &judged.candidate.words)
            .filter(|word| word.chars().count() > 2)
            .cloned()
            .collect();
        let is_known = |word: &str| {
            known.contains(word) || word.strip_suffix('s').is_some_and(|stem| known.contains(stem))
        };
        for judged in judged {
            let Judged { candidate, words, .. } = &*judged;
            let weak = judged
                .verdict
                .as_ref()
                .is_none_or(|found| found.confidence < 0.75 && found.kind != Kind::Organization);
            if weak
                && candidate.form != Form::Institution
                && candidate.words.iter().all(|word| is_known(word))
                && !evidence::is_noun_here(self, candidate, words)
            {
                judged.verdict = verdict(Kind::Person, SURE, "part of a name in this text");
            }
        }
    }
}

/// `Hartmann, Uwe` at the beginning of a line is one name.
fn join_reversed(text: &Text<'_>, judged: Vec<Judged>) -> Vec<Judged> {
    let mut joined: Vec<Judged> = Vec::with_capacity(judged.len());
    for next in judged {
        if let Some(last) = joined.last_mut()
            && evidence::is_reversed(text, &last.candidate, &next.candidate)
        {
            last.candidate.end = next.candidate.end;
            last.candidate.tokens.end = next.candidate.tokens.end;
            last.verdict = verdict(Kind::Person, SURE, "family name before a given name");
            continue;
        }
        joined.push(next);
    }
    joined
}

#[cfg(test)]
mod tests;
