//! The text as tokens: words, numbers, punctuation and line breaks.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::lists;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Alphabetic characters, with apostrophes and hyphens inside.
    Word,
    /// Begins with a digit.
    Number,
    Mark(char),
    /// One line break or more.
    Break,
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) form: Form,
    /// The word in lower case, without a possessive ending, which is a token of its own.
    pub(super) lower: String,
    pub(super) capital: bool,
    /// Whether all of its characters are capitals, and there are two or more.
    pub(super) upper: bool,
    /// Whether a sentence or a line begins with it.
    pub(super) first: bool,
}

impl Token {
    pub(super) fn is_word(&self) -> bool {
        self.form == Form::Word
    }

    pub(super) fn is_number(&self) -> bool {
        self.form == Form::Number
    }

    pub(super) fn is_mark(&self, mark: char) -> bool {
        self.form == Form::Mark(mark)
    }

    pub(super) fn is_break(&self) -> bool {
        self.form == Form::Break
    }
}

/// The tokens of a text, in order.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut all: Vec<Token> = Vec::new();
    let mut at = 0;
    let mut first = true;
    while let Some(c) = text[at..].chars().next() {
        let end = at + length(&text[at..], c);
        let form = form(&text[at..end], c);
        let written = &text[at..end];
        if let Some(form) = form
            && !(form == Form::Break && all.last().is_some_and(Token::is_break))
        {
            let token = Token {
                start: at,
                end,
                form,
                lower: written.to_lowercase(),
                capital: c.is_uppercase() || is_elided(written),
                upper: is_upper(written),
                first,
            };
            first = begins_next(form, first, all.last(), &token);
            all.push(token);
        }
        at = end;
    }
    all
}

fn form(written: &str, c: char) -> Option<Form> {
    if c.is_alphabetic() {
        Some(Form::Word)
    } else if c.is_ascii_digit() {
        Some(Form::Number)
    } else if written.contains('\n') {
        Some(Form::Break)
    } else if c.is_whitespace() {
        None
    } else {
        Some(Form::Mark(c))
    }
}

/// `d'Aubigny`: the particle is part of the name.
fn is_elided(written: &str) -> bool {
    let mut chars = written.chars();
    matches!(chars.next(), Some('d' | 'l'))
        && matches!(chars.next(), Some('\'' | '’'))
        && chars.next().is_some_and(char::is_uppercase)
}

fn is_upper(written: &str) -> bool {
    written.chars().filter(|c| c.is_alphabetic()).count() > 1
        && !written.chars().any(char::is_lowercase)
}

/// Whether a sentence begins after a token. The dot of `Mr.` or of an initial ends none.
fn begins_next(form: Form, first: bool, before: Option<&Token>, token: &Token) -> bool {
    match form {
        Form::Break => true,
        Form::Mark('.') => !before.is_some_and(|word| {
            word.is_word()
                && word.end == token.start
                && (word.lower.chars().count() == 1 || is_abbreviation(&word.lower))
        }),
        Form::Mark('!' | '?' | ':' | '>' | '•' | '*' | ';') => true,
        Form::Mark('"' | '“' | '”' | '\'' | '(' | '-' | '–') => first,
        _ => false,
    }
}

/// The end of a postal code in two groups that begins at a token: `90210-1234`, `3610-114`, `00-950`.
pub(super) fn hyphenated_code(tokens: &[Token], at: usize) -> Option<usize> {
    let (first, dash, second) = (tokens.get(at)?, tokens.get(at + 1)?, tokens.get(at + 2)?);
    let attached = dash.is_mark('-') && dash.start == first.end && second.start == dash.end;
    let digits = |token: &Token| token.lower.chars().all(|c| c.is_ascii_digit());
    let lengths = (first.lower.len(), second.lower.len());
    (attached && digits(first) && digits(second) && matches!(lengths, (5, 4) | (4 | 5 | 2, 3)))
        .then_some(at + 3)
}

static ABBREVIATIONS: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("abbreviation"));

pub(super) fn is_abbreviation(word: &str) -> bool {
    ABBREVIATIONS.contains(word)
}

/// The bytes of the token that begins with `c`.
fn length(rest: &str, c: char) -> usize {
    if c == '\n' || c == '\r' {
        return rest.len() - rest.trim_start_matches(['\n', '\r', ' ', '\t']).len();
    }
    if c.is_alphabetic() {
        return word_length(rest);
    }
    if c.is_ascii_digit() {
        return rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
    }
    c.len_utf8()
}

fn word_length(rest: &str) -> usize {
    let mut end = 0;
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c) {
            end = at + c.len_utf8();
            continue;
        }
        let next = chars.peek().map(|(_, next)| *next);
        let joins = matches!(c, '\'' | '’' | '-' | '‐') && next.is_some_and(char::is_alphabetic);
        if !joins || is_possessive(&rest[at..]) {
            break;
        }
    }
    end
}

/// `'s` at the end of a word.
fn is_possessive(rest: &str) -> bool {
    let mut chars = rest.chars();
    matches!(chars.next(), Some('\'' | '’'))
        && matches!(chars.next(), Some('s' | 'S'))
        && !chars.next().is_some_and(char::is_alphanumeric)
}
