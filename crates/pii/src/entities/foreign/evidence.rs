//! What the words around a candidate say about it.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::candidates::Candidate;
use super::text::{Text, address_end, bare, is_address, is_particle};
use crate::languages::{Sort, Words};
use crate::lists::{self, FAMILY, GIVEN};
use crate::tokens::{Form, Token};

/// The cue closest to a candidate, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cue {
    /// `Herr`, `doña`; one character at the beginning of a line, such as `D.`, may number it.
    Address {
        short: bool,
    },
    Greeting,
    Label,
    /// The end of a letter is above it.
    Close,
    /// `Nachbarin`, `el agente`.
    Role,
    /// `…, directora`
    Apposition,
    /// A verb of what people do is next to it.
    Said,
    /// `rue`, `Klasse`
    Thing,
    Place,
    Article,
    None,
}

impl Cue {
    /// Whether it makes a name of nearly every word.
    pub(super) fn is_strong(self) -> bool {
        matches!(
            self,
            Self::Address { .. } | Self::Greeting | Self::Label | Self::Close | Self::Role
        )
    }

    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Address { .. } => "after a form of address",
            Self::Greeting => "after a greeting",
            Self::Label => "after a word for people and a colon",
            Self::Close => "below the end of a letter",
            Self::Role => "after what a person is",
            _ => "words around it",
        }
    }
}

/// How many tokens of a line are read for what begins it.
const LINE: usize = 40;

/// What the words around a candidate say.
pub(super) fn cue(text: &Text<'_>, candidate: &Candidate, words: &Words) -> Cue {
    let reader = Reader { text, words, tokens: text.tokens };
    let at = candidate.tokens.start;
    if let Some(short) = reader.address_before(at) {
        return Cue::Address { short };
    }
    if reader.greeting_before(at) {
        return Cue::Greeting;
    }
    if reader.label_before(at) {
        return Cue::Label;
    }
    if reader.close_above(at) {
        return Cue::Close;
    }
    if reader.role_before(at) {
        return Cue::Role;
    }
    let end = candidate.tokens.end;
    if reader.role_after(end) {
        return Cue::Apposition;
    }
    let thing = reader.before(at, 1).is_some_and(|word| words.is(Sort::Thing, word));
    if thing || reader.street_before(at) {
        return Cue::Thing;
    }
    if reader.article_before(candidate) {
        return Cue::Article;
    }
    if reader.said_before(at) || reader.said_after(end) {
        return Cue::Said;
    }
    let place = reader.before(at, 1).is_some_and(|word| words.is(Sort::Place, word));
    if place { Cue::Place } else { Cue::None }
}

/// Whether an article says that a candidate is a noun here: `der Koch`, `ein guter Wolf`.
pub(super) fn is_noun_here(text: &Text<'_>, candidate: &Candidate, words: &Words) -> bool {
    let reader = Reader { text, words, tokens: text.tokens };
    let given = candidate.words.iter().any(|word| lists::name(word) & GIVEN != 0);
    let common = candidate.words.iter().any(|word| words.is_common(word));
    reader.article_before(candidate) && (common || !given || !words.names_have_articles())
}

/// `A, B`, `A und B` on one line.
pub(super) fn is_listed_after(text: &Text<'_>, before: &Candidate, next: &Candidate) -> bool {
    let Some(between) = text.tokens.get(before.tokens.end..next.tokens.start) else { return false };
    let joins = |token: &Token| {
        token.is_mark(',')
            || token.is_mark('&')
            || token.is_word()
                && ["und", "y", "et", "e", "ed", "en", "i", "oraz", "o", "u", "ou", "oder", "con"]
                    .contains(&token.lower.as_str())
    };
    (1..=2).contains(&between.len()) && between.iter().all(joins)
}

/// `Hartmann, Uwe;` at the beginning of a line.
pub(super) fn is_reversed(text: &Text<'_>, before: &Candidate, next: &Candidate) -> bool {
    let comma = text
        .tokens
        .get(before.tokens.end..next.tokens.start)
        .is_some_and(|between| between.len() == 1 && between[0].is_mark(','));
    let ends = text.tokens.get(next.tokens.end).is_none_or(|token| {
        token.is_break() || token.is_mark(';') || token.is_mark('|') || token.is_mark('(')
    });
    let line = before.tokens.start.checked_sub(1).is_none_or(|at| text.tokens[at].is_break());
    let particle = is_particle(&text.tokens[before.tokens.start].lower);
    let family = before.words.iter().all(|word| lists::name(word) != 0)
        && before.words.first().is_some_and(|word| particle || lists::name(word) & FAMILY != 0);
    let given = next.words.iter().all(|word| lists::name(word) & GIVEN != 0);
    comma && ends && line && family && given
}

/// Words of streets, which may be in lower case and have small words after them.
static STREETS: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("before-street"));

static AUXILIARIES: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("auxiliary"));

struct Reader<'a, 't> {
    text: &'a Text<'t>,
    words: &'a Words,
    tokens: &'t [Token],
}

impl<'t> Reader<'_, 't> {
    /// The word so many tokens before a token, on the same line.
    fn before(&self, at: usize, back: usize) -> Option<&'t str> {
        let token = &self.tokens[at.checked_sub(back)?];
        token.is_word().then(|| bare(self.text.text, token).lower)
    }

    fn is(&self, sort: Sort, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| {
            token.is_word() && self.words.is(sort, bare(self.text.text, token).lower)
        })
    }

    /// The first token of the line of a token, if it is near.
    fn line(&self, at: usize) -> usize {
        let back = self.tokens[..at].iter().rev().take(LINE).take_while(|token| !token.is_break());
        at - back.count()
    }

    /// Whether the last words before are a form of address, and whether that may be a number.
    fn address_before(&self, at: usize) -> Option<bool> {
        let from = at.saturating_sub(6);
        let address = (from..at).rev().find(|&place| is_address(self.text, self.words, place))?;
        let mut end = address_end(self.tokens, address);
        // `Frau Kollegin`, `Sr. Alcalde D.`, `Herrn Prof.`
        while end < at && self.tokens[end].is_word() && self.words.is_role(&self.tokens[end].lower)
        {
            end += 1;
        }
        let token = &self.tokens[address];
        (end == at).then_some(token.first && token.lower.chars().count() == 1)
    }

    /// `Hallo Jens`, `Mi querida Ana`, `Hola, Nuria`.
    fn greeting_before(&self, at: usize) -> bool {
        let line = self.line(at);
        at - line <= 5
            && (line..at).any(|place| place <= line + 2 && self.is(Sort::Greet, place))
            && self.tokens[line..at]
                .iter()
                .all(|token| token.is_word() || token.is_mark(',') || token.is_mark('¡'))
            && self.tokens[line..at].iter().filter(|token| token.is_mark(',')).count() < 2
    }

    /// `Anwesend: A, B und C`, `gez. A`.
    fn label_before(&self, at: usize) -> bool {
        let line = self.line(at);
        // A list below its label.
        let above = line >= 2
            && self.tokens[line - 2].is_mark(':')
            && self.is(Sort::Label, line.wrapping_sub(3));
        if above && line == at {
            return true;
        }
        let listed = |place: usize| {
            let token = &self.tokens[place];
            let short = |token: &Token| token.lower.chars().count() <= 4;
            match token.form {
                Form::Word => token.capital || short(token),
                Form::Mark('.') => place > line && short(&self.tokens[place - 1]),
                Form::Mark(mark) => matches!(mark, ',' | ';' | ':'),
                _ => false,
            }
        };
        let names = (line..at).rev().take_while(|&place| listed(place));
        let mut colon = names.filter(|&place| self.tokens[place].is_mark(':'));
        if colon.next().is_some_and(|place| place > line && self.label_word(line, place)) {
            return true;
        }
        let dot = at > line + 1 && self.tokens[at - 1].is_mark('.');
        dot && ["gez", "fdo", "firm"].contains(&self.tokens[at - 2].lower.as_str())
    }

    /// Whether the words from the beginning of a line to a colon are a label: `Secretaria`, `CONCEJALES/AS`.
    fn label_word(&self, line: usize, colon: usize) -> bool {
        colon - line <= 4
            && (line..colon).any(|place| self.is(Sort::Label, place) || self.is(Sort::Role, place))
    }

    /// `Mit freundlichen Grüßen` on the line above.
    fn close_above(&self, at: usize) -> bool {
        let line = self.line(at);
        if line != at || line < 2 {
            return false;
        }
        let above = self.line(line - 1);
        line - above <= 9 && (above..line - 1).any(|place| self.is(Sort::Close, place))
    }

    /// `Nachbarin Gudrun`, `la alcaldesa, Noelia`.
    fn role_before(&self, at: usize) -> bool {
        let comma = usize::from(at > 0 && self.tokens[at - 1].is_mark(','));
        let Some(place) = at.checked_sub(1 + comma) else { return false };
        let token = &self.tokens[place];
        if !token.is_word() || !self.words.is_role(bare(self.text.text, token).lower) {
            return false;
        }
        // In German a role is a noun; elsewhere `Director, Ana` on a line of its own is one too.
        token.capital == self.words.is_german() || token.first || comma == 0
    }

    /// `…, Geschäftsführerin`, `…, la directora`.
    fn role_after(&self, end: usize) -> bool {
        let comma = self.tokens.get(end).is_some_and(|token| token.is_mark(','));
        let mut at = end + usize::from(comma);
        let article = self.is(Sort::Article, at);
        at += usize::from(article);
        let role = |at: usize| {
            self.tokens.get(at).is_some_and(|token| {
                token.is_word() && self.words.is_role(bare(self.text.text, token).lower)
            })
        };
        let adjective =
            || self.tokens.get(at).is_some_and(|token| token.is_word() && !token.capital);
        comma && (role(at) || adjective() && role(at + 1))
    }

    /// `calle de`, `rue du`, `plaza de la`.
    fn street_before(&self, at: usize) -> bool {
        let from = at.saturating_sub(3);
        let street = (from..at).rev().find(|&place| {
            let token = &self.tokens[place];
            token.is_word() && STREETS.contains(token.lower.as_str())
        });
        street.is_some_and(|street| {
            self.tokens[street + 1..at].iter().all(|token| is_particle(&token.lower))
        })
    }

    /// `der Koch`, `ein guter Koch`, `l'Anna`.
    fn article_before(&self, candidate: &Candidate) -> bool {
        let at = candidate.tokens.start;
        if candidate.start > self.tokens[at].start {
            let attached = self.tokens[at].lower.split(['\'', '’']).next().unwrap_or_default();
            return ["l", "un", "all", "dell", "dall", "nell", "sull", "quell", "quest"]
                .contains(&attached);
        }
        let Some(word) = self.before(at, 1) else { return false };
        if self.words.is(Sort::Article, word) {
            return true;
        }
        let adjective = self.words.is_german()
            && !self.tokens[at - 1].capital
            && ["e", "en", "er", "es", "em"].iter().any(|ending| word.ends_with(ending));
        adjective && self.before(at, 2).is_some_and(|word| self.words.is(Sort::Article, word))
    }

    fn said_before(&self, at: usize) -> bool {
        self.before(at, 1).is_some_and(|word| self.words.is(Sort::Say, word))
    }

    /// `Molina propone`, `Bruno ha spiegato`, `« … », a-t-il` and such.
    fn said_after(&self, end: usize) -> bool {
        let verb = |at: usize| self.is(Sort::Say, at) || self.is(Sort::Act, at);
        let auxiliary = |token: &Token| AUXILIARIES.contains(token.lower.as_str());
        verb(end) || verb(end + 1) && self.tokens.get(end).is_some_and(auxiliary)
    }
}
