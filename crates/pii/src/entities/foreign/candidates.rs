//! Words that may be one name, in languages where a capital alone says nothing.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::text::{Bare, Text, bare, is_address, is_name_article, is_particle};
use crate::entities::runs::phrase;
use crate::languages::{Sort, Words};
use crate::lists::{self, FAMILY, GIVEN, is_company_word};
use crate::tokens::Token;

/// The most words of a name, and of an institution.
const LONGEST: usize = 6;

/// The most characters with dots before a name or after a company.
const DOTTED: usize = 4;

/// What the words of a candidate say at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Name,
    /// The role of a person: no name, unless this text uses it as one.
    Role,
    Company,
    Institution,
    Place,
    Country,
}

/// Words that may be one name.
pub(super) struct Candidate {
    pub(super) tokens: Range<usize>,
    /// The first byte, after an article that is attached.
    pub(super) start: usize,
    pub(super) end: usize,
    /// In lower case, without initials and particles.
    pub(super) words: Vec<String>,
    pub(super) initials: bool,
    /// Whether a sentence or a line begins with it.
    pub(super) first: bool,
    pub(super) form: Form,
}

/// Particles that only follow another one, as `la` in `de la Vega`.
const SECOND: [&str; 6] = ["la", "las", "los", "le", "der", "den"];

/// Small words inside names of institutions.
static WITHIN: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("within-institution"));

pub(super) fn candidates(
    text: &Text<'_>,
    words: &'static Words,
    part: Range<usize>,
    taken: &[Range<usize>],
) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut at = part.start;
    let before = taken.partition_point(|range| range.end <= at);
    let mut taken = taken[before..].iter().peekable();
    while at < part.end {
        while taken.peek().is_some_and(|range| range.end <= at) {
            taken.next();
        }
        let limit = match taken.peek() {
            Some(range) if range.start <= at => {
                at = range.end;
                continue;
            }
            Some(range) => range.start.min(part.end),
            None => part.end,
        };
        let reader = Reader { text, words, limit };
        let (candidate, next) = reader.candidate(at);
        found.extend(candidate);
        at = next.max(at + 1);
    }
    found
}

struct Reader<'a, 't> {
    text: &'a Text<'t>,
    words: &'static Words,
    /// The token after the last.
    limit: usize,
}

impl<'t> Reader<'_, 't> {
    fn token(&self, at: usize) -> Option<&'t Token> {
        self.text.tokens.get(at).filter(|_| at < self.limit)
    }

    /// A capitalised word at a token. Words with several digits are codes.
    fn proper(&self, at: usize) -> Option<Bare<'t>> {
        let token = self.token(at).filter(|token| token.is_word())?;
        let word = bare(self.text.text, token);
        let code = word.lower.chars().filter(char::is_ascii_digit).count() > 1;
        (word.capital && !code).then_some(word)
    }

    /// A capitalised word that is no function word.
    fn name_word(&self, at: usize) -> Option<Bare<'t>> {
        let word = self.proper(at)?;
        let letter = word.lower.chars().count() == 1;
        let function = self.words.is_function(word.lower) || self.words.is(Sort::Greet, word.lower);
        let address = is_address(self.text, self.words, at);
        (!letter && !function && !address).then_some(word)
    }

    /// The candidate that begins at a token, and where to read on.
    fn candidate(&self, at: usize) -> (Option<Candidate>, usize) {
        if let Some(length) = self.place(at, 1, lists::is_country) {
            return (self.whole(at, at + length, Form::Country), at + length);
        }
        let initials = self.initials(at);
        if let Some(start) = initials.or_else(|| self.particles(at)) {
            let (candidate, next) = self.name(start);
            let Some(mut candidate) = candidate else { return (None, next) };
            candidate.initials = initials.is_some();
            candidate.start = self.text.tokens[at].start;
            candidate.tokens.start = at;
            return (Some(candidate), next);
        }
        let Some(word) = self.name_word(at) else { return (None, at + 1) };
        let thing = self.words.is(Sort::Thing, word.lower);
        let institution = self.words.is(Sort::Institution, word.lower);
        if (thing || institution) && !self.after_address(at) {
            let end = self.chain(at);
            if end > at + 1 {
                let form = if institution { Form::Institution } else { Form::Role };
                let form = if self.is_city(at, end) { Form::Place } else { form };
                let form = if self.company(at, end).is_some() { Form::Company } else { form };
                let end = self.company(at, end).unwrap_or(end);
                return (self.whole(at, end, form), end);
            }
        }
        if let Some(length) = self.place(at, 2, lists::is_city)
            && lists::name(word.lower) & GIVEN == 0
        {
            return (self.whole(at, at + length, Form::Place), at + length);
        }
        let role = self.words.is_role(word.lower);
        if role && self.company(at, at + 1).is_none() {
            return (self.whole(at, at + 1, Form::Role), at + 1);
        }
        self.name(at)
    }

    /// A candidate of a known form.
    fn whole(&self, from: usize, to: usize, form: Form) -> Option<Candidate> {
        let (first, last) = (self.token(from)?, self.text.tokens.get(to - 1)?);
        let start = bare(self.text.text, first).start;
        let words = self.text.tokens[from..to]
            .iter()
            .filter(|token| token.is_word())
            .map(|token| bare(self.text.text, token).lower.to_owned())
            .collect();
        Some(Candidate {
            tokens: from..to,
            start,
            end: last.end,
            words,
            initials: false,
            first: first.first,
            form,
        })
    }

    /// `A.` and `J. M.` before a name: where the name begins.
    fn initials(&self, at: usize) -> Option<usize> {
        let mut end = at;
        while end < at + 2 * DOTTED
            && self.proper(end).is_some_and(|word| word.lower.chars().count() == 1)
            && !is_address(self.text, self.words, end)
            && self.token(end + 1).is_some_and(|dot| dot.is_mark('.'))
        {
            end += 2;
        }
        (end > at && self.name_word(end).is_some()).then_some(end)
    }

    /// Whether a form of address is directly before a token.
    fn after_address(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| {
            let dot = usize::from(self.text.tokens[before].is_mark('.'));
            before.checked_sub(dot).is_some_and(|at| is_address(self.text, self.words, at))
        })
    }

    /// `Van der Velde`, `Frau von Stein`, `von der Heide, Philipp`: where the word after the particles is.
    fn particles(&self, at: usize) -> Option<usize> {
        let particle = |at: usize| {
            self.token(at).is_some_and(|token| token.is_word() && is_particle(&token.lower))
        };
        let mut next = at;
        while next < at + 3 && particle(next) {
            next += 1;
        }
        let word = self.name_word(next).filter(|_| next > at)?;
        let token = &self.text.tokens[at];
        let family = lists::name(word.lower) != 0;
        let noble = ["von", "van", "vom"].contains(&token.lower.as_str());
        let comma = self.token(next + 1).is_some_and(|token| token.is_mark(','));
        let begins = self.after_address(at)
            || token.capital && !token.first
            || token.first && family && noble && comma;
        begins.then_some(next)
    }

    /// A name of one word or several, or a company.
    fn name(&self, at: usize) -> (Option<Candidate>, usize) {
        let Some(first) = self.name_word(at) else { return (None, at + 1) };
        let mut names: Vec<(usize, &str)> = vec![(at, first.lower)];
        let mut end = at + 1;
        while names.len() < LONGEST {
            let Some(next) = self.extend(&names, end) else { break };
            if let Some(word) = self.name_word(next - 1) {
                names.push((next - 1, word.lower));
            }
            end = next;
        }
        if let Some(end) = self.company(at, end) {
            return (self.whole(at, end, Form::Company), end);
        }
        // A noun before a name: `Ratsvorsitzender Bartsch`, `Montag Petra`.
        let given = |word: &str| lists::name(word) & GIVEN != 0 && !self.words.is_common(word);
        while names.len() > 1
            && (self.words.is_role(names[0].1)
                || self.words.is_common(names[0].1) && given(names[1].1)
                || lists::name(names[0].1) == 0
                    && (given(names[1].1) || self.words.is_common(names[0].1)))
        {
            names.remove(0);
        }
        // `Robert Schuman Stiftung`
        if let [(_, _), .., (_, last)] = names[..]
            && self.words.is(Sort::Institution, last)
            && lists::name(last) == 0
        {
            return (self.whole(names[0].0, end, Form::Institution), end);
        }
        let from = names[0].0;
        let Some(mut candidate) = self.whole(from, end, Form::Name) else { return (None, end) };
        candidate.words = names.into_iter().map(|(_, word)| word.to_owned()).collect();
        // After a noun that was dropped no sentence begins.
        candidate.first &= from == at;
        (Some(candidate), end)
    }

    /// The end of a name with what follows, if it is part of it.
    fn extend(&self, names: &[(usize, &str)], end: usize) -> Option<usize> {
        let token = self.token(end)?;
        let (_, last) = *names.last()?;
        let mark = lists::name(last);
        let usual = mark != 0 && !self.words.is_common(last);
        if usual && is_name_article(self.text.text, token) {
            return Some(end + 1);
        }
        if let Some(word) = self.name_word(end) {
            let noun = self.words.is_common(word.lower) || lists::name(word.lower) == 0;
            let stops = (self.words.is_role(word.lower) || self.words.is(Sort::Thing, word.lower))
                && lists::name(word.lower) & FAMILY == 0
                || self.words.is_german() && noun && is_genitive(last);
            return (!token.first && !word.elided && !stops).then_some(end + 1);
        }
        // `Rolf K.`, `John F. Kennedy`
        let initial = self.proper(end).is_some_and(|word| word.lower.chars().count() == 1);
        if initial && self.token(end + 1).is_some_and(|dot| dot.is_mark('.')) {
            let given = mark & GIVEN != 0;
            return (given || self.name_word(end + 2).is_some()).then_some(end + 2);
        }

        let family = |word: &Bare<'_>| {
            lists::name(word.lower) & FAMILY != 0 && lists::name(word.lower) & GIVEN == 0
        };
        // `Ortega y Gasset`, `Vila i Puig`
        let connects = ["y", "i", "e"].contains(&token.lower.as_str());
        if connects && names.len() > 1 && self.name_word(end + 1).is_some_and(|word| family(&word))
        {
            return Some(end + 2);
        }

        let mut next = end;
        while next < end + 3 && self.token(next).is_some_and(|token| is_particle(&token.lower)) {
            next += 1;
        }
        let lone = next == end + 1 && SECOND.contains(&token.lower.as_str()) && !token.capital;
        let word = self.name_word(next).filter(|_| next > end && !lone && usual)?;
        // `Marta Ruiz de Madrid`
        let from_place = lists::is_city(word.lower) && lists::name(word.lower) & FAMILY == 0;
        // `de la Torre`, but not `von der Post`.
        let noun = self.words.is_common(word.lower)
            && (self.words.is_german() || lists::name(word.lower) & FAMILY == 0);
        (!from_place && !noun).then_some(next + 1)
    }

    /// `Plaza Mayor`, `Iglesia de San Pedro`, `Universität Göttingen`: where the name of a thing ends.
    fn chain(&self, at: usize) -> usize {
        let mut end = at + 1;
        while end < at + 2 * LONGEST {
            if self.proper(end).is_some_and(|word| !self.words.is_function(word.lower))
                && !self.text.tokens[end].first
            {
                end += 1;
                continue;
            }
            let mut next = end;
            while next < end + 2
                && self
                    .token(next)
                    .is_some_and(|token| token.is_word() && WITHIN.contains(token.lower.as_str()))
            {
                next += 1;
            }
            let elided = self
                .token(next)
                .is_some_and(|token| token.is_word() && bare(self.text.text, token).elided);
            if next == end && !elided || self.proper(next).is_none() {
                break;
            }
            end = next + 1;
        }
        end
    }

    /// How many words at a place are the name of a place.
    fn place(&self, at: usize, shortest: usize, is_place: impl Fn(&str) -> bool) -> Option<usize> {
        self.proper(at)?;
        (shortest..=4).rev().find(|length| {
            let words = self.text.tokens.get(at..at + length).unwrap_or_default();
            at + length <= self.limit
                && words.iter().all(Token::is_word)
                && words.last().is_some_and(|last| last.capital)
                && is_place(&phrase(words))
        })
    }

    fn is_city(&self, from: usize, to: usize) -> bool {
        lists::is_city(&phrase(&self.text.tokens[from..to]))
    }

    /// The end of a company whose form is in the words or after them: `Krüger & Söhne AG`, `Filati Piave S.p.A.`
    fn company(&self, from: usize, to: usize) -> Option<usize> {
        let inside = (from + 1..to).rev().find(|at| {
            let token = &self.text.tokens[*at];
            token.is_word() && token.capital && is_company_word(&token.lower)
        });
        let form = |at: usize| self.proper(at).is_some_and(|word| is_company_word(word.lower));
        let mut end = to;
        let mut formed = false;
        loop {
            if form(end) {
                (end, formed) = (end + 1, true);
            } else if self.token(end).is_some_and(|token| token.is_mark('&') || token.is_mark('.'))
                && (form(end + 1) || end == to && self.ampersand(end))
            {
                formed |= form(end + 1);
                end += 2;
            } else {
                break;
            }
        }
        let comma = usize::from(self.token(end).is_some_and(|token| token.is_mark(',')));
        let dotted = self.dotted_form(end + comma);
        // `Sp` is taken for a part of the name.
        let dotted = dotted.or_else(|| self.dotted_form(end - 1).filter(|_| end > from + 1));
        if let Some(dotted) = dotted {
            return Some(dotted);
        }
        if formed { Some(end) } else { inside.map(|_| to) }
    }

    /// `& Söhne`
    fn ampersand(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| token.is_mark('&')) && self.proper(at + 1).is_some()
    }

    /// `S.A.`, `S.p.A.`, `e. V.`: one letter after another; and `Sp. z o.o.`
    fn dotted_form(&self, at: usize) -> Option<usize> {
        let polish = ["sp", ".", "z", "o", ".", "o", "."];
        if (at..)
            .zip(polish)
            .all(|(at, part)| self.token(at).is_some_and(|token| token.lower == part))
        {
            return Some(at + polish.len());
        }
        let mut characters = String::new();
        let mut end = at;
        while end < at + 2 * DOTTED
            && let (Some(letter), Some(dot)) = (self.token(end), self.token(end + 1))
            && letter.is_word()
            && letter.lower.chars().count() == 1
            && dot.is_mark('.')
        {
            characters.push_str(&letter.lower);
            end += 2;
        }
        ["sa", "sl", "sau", "slu", "spa", "srl", "snc", "sas", "ev", "bv", "nv", "sc", "sp"]
            .contains(&characters.as_str())
            .then_some(end)
    }
}

/// `annas` before what she has.
fn is_genitive(word: &str) -> bool {
    lists::name(word) == 0 && word.strip_suffix('s').is_some_and(|stem| lists::name(stem) != 0)
}
