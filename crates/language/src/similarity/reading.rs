//! Reads a sentence into tokens: numbers by value, names, content words, and what is negated.

use std::collections::HashMap;

use unicode_normalization::char::is_combining_mark;

use super::polarity::{Direction, direction};
use crate::prose::{self, Language};
use crate::stems;
use crate::words::{fold, is_dense};

/// How many content words after a negation are negated.
const SCOPE: usize = 4;

/// Words that say little about a subject.
const LIGHT: [&str; 44] = [
    "according",
    "actually",
    "aspect",
    "basically",
    "common",
    "currently",
    "describe",
    "detail",
    "discuss",
    "exactly",
    "example",
    "exist",
    "explain",
    "find",
    "finding",
    "found",
    "general",
    "generally",
    "importance",
    "important",
    "key",
    "main",
    "mainly",
    "major",
    "note",
    "overall",
    "overview",
    "part",
    "particular",
    "present",
    "primary",
    "report",
    "research",
    "researcher",
    "role",
    "show",
    "shown",
    "significant",
    "significantly",
    "study",
    "suggest",
    "today",
    "type",
    "typically",
];

/// Words after a negation that make it none: `not only`, `no more than`.
const SOFTENERS: [&str; 9] =
    ["fewer", "just", "later", "less", "merely", "more", "only", "simply", "until"];

/// Words that end the scope of a negation.
const TURNS: [&str; 8] =
    ["although", "because", "but", "except", "however", "than", "whereas", "while"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Name,
    Word,
    /// A word that says little about a subject.
    Light,
    Function,
    Negation,
    /// Punctuation that separates clauses.
    Break,
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// The careful stem, the value of a number, or a function word.
    pub(super) key: String,
    /// The shorter stem that searches use.
    pub(super) wide: String,
    pub(super) direction: Option<Direction>,
    /// The number of the negation that it is in.
    pub(super) negation: Option<usize>,
}

impl Token {
    pub(super) fn is_content(&self) -> bool {
        matches!(self.kind, Kind::Number | Kind::Name | Kind::Word | Kind::Light)
    }
}

/// The tokens of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    pub(super) tokens: Vec<Token>,
    negations: usize,
}

impl Reading {
    pub(super) fn of(text: &str, language: Language) -> Self {
        let mut reader = Reader { language, tokens: Vec::new(), value: None, begins: true };
        reader.read(text);
        let mut reading = Self { tokens: reader.tokens, negations: 0 };
        reading.mark_negated();
        reading
    }

    pub(super) fn content(&self) -> impl Iterator<Item = &Token> {
        self.tokens.iter().filter(|token| token.is_content())
    }

    fn mark_negated(&mut self) {
        for at in 0..self.tokens.len() {
            if self.tokens[at].kind != Kind::Negation {
                continue;
            }
            let follows = self.tokens.get(at + 1);
            if follows.is_some_and(|next| SOFTENERS.contains(&next.key.as_str())) {
                continue;
            }
            let scope = self.negations;
            self.negations += 1;
            let mut count = 0;
            for token in &mut self.tokens[at + 1..] {
                let turns = token.kind == Kind::Function && TURNS.contains(&token.key.as_str());
                if token.kind == Kind::Break || turns || count == SCOPE {
                    break;
                }
                if token.is_content() {
                    count += 1;
                    // `not without` says yes.
                    token.negation = if token.negation.is_some() { None } else { Some(scope) };
                }
            }
        }
    }

    /// Whether one text negates what the other states.
    pub(super) fn negates(&self, other: &Self) -> bool {
        self.negates_one_way(other) || other.negates_one_way(self)
    }

    fn negates_one_way(&self, other: &Self) -> bool {
        if self.negations == 0 {
            return false;
        }
        let own = self.statuses();
        let others = other.statuses();
        let mut decided = vec![false; self.negations];
        for token in self.content() {
            let Some(scope) = token.negation else { continue };
            let Some(status) = others.get(token.wide.as_str()) else { continue };
            let both = own.get(token.wide.as_str()).is_some_and(|own| own.stated);
            if decided[scope] || both {
                continue;
            }
            // The first word that both texts have decides.
            decided[scope] = true;
            if !status.negated {
                return true;
            }
        }
        false
    }

    fn statuses(&self) -> HashMap<&str, Status> {
        let mut statuses: HashMap<&str, Status> = HashMap::new();
        for token in self.content() {
            let status = statuses.entry(token.wide.as_str()).or_default();
            status.negated |= token.negation.is_some();
            status.stated |= token.negation.is_none();
        }
        statuses
    }

    /// Whether one text says `more` where the other says `less`.
    pub(super) fn opposes(&self, other: &Self) -> bool {
        let (own, others) = (self.directions(), other.directions());
        own.iter().any(|(scale, own)| {
            others.get(scale).is_some_and(|other| {
                own.up && !own.down && other.down && !other.up
                    || own.down && !own.up && other.up && !other.down
            })
        })
    }

    fn directions(&self) -> HashMap<usize, Sides> {
        let mut sides: HashMap<usize, Sides> = HashMap::new();
        for token in &self.tokens {
            let Some(direction) = token.direction else { continue };
            let sides = sides.entry(direction.scale).or_default();
            if direction.up == token.negation.is_none() {
                sides.up = true;
            } else {
                sides.down = true;
            }
        }
        sides
    }
}

#[derive(Default)]
struct Status {
    negated: bool,
    stated: bool,
}

#[derive(Default)]
struct Sides {
    up: bool,
    down: bool,
}

struct Reader {
    language: Language,
    tokens: Vec<Token>,
    /// The value of the last token, while a scale such as `million` may follow.
    value: Option<f64>,
    /// Whether the next word begins a sentence.
    begins: bool,
}

impl Reader {
    fn read(&mut self, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let length = match c {
                '[' => marker(rest).unwrap_or_else(|| self.punctuation(c)),
                c if c.is_ascii_digit() => self.number(rest),
                c if c.is_alphanumeric() => self.word(rest),
                c => self.punctuation(c),
            };
            rest = &rest[length..];
        }
    }

    fn punctuation(&mut self, c: char) -> usize {
        match c {
            '%' => self.push(Kind::Word, "percent"),
            ',' | ';' | ':' | '(' | ')' | '—' | '，' | '；' | '：' => {
                self.push(Kind::Break, "")
            }
            '.' | '!' | '?' | '。' | '！' | '？' => {
                self.push(Kind::Break, "");
                self.begins = true;
            }
            _ => {}
        }
        c.len_utf8()
    }

    fn number(&mut self, text: &str) -> usize {
        let (mut length, value) = number(text, self.language == Language::ENGLISH);
        self.push_value(value);
        // `20th`, `1990s`.
        for ending in ["th", "st", "nd", "rd", "s"] {
            if let Some(after) = text[length..].strip_prefix(ending)
                && !after.starts_with(char::is_alphanumeric)
            {
                length += ending.len();
                break;
            }
        }
        length
    }

    fn word(&mut self, text: &str) -> usize {
        let dense = text.chars().next().is_some_and(is_dense);
        let inside =
            |c: char| (c.is_alphanumeric() && is_dense(c) == dense) || is_combining_mark(c);
        let mut end = text.find(|c: char| !inside(c)).unwrap_or(text.len());
        if dense {
            for term in stems::terms(&text[..end], self.language) {
                self.push(Kind::Word, &term);
            }
            return end;
        }
        let mut word = &text[..end];
        let mut negated = false;
        let quote = ["'", "\u{2019}"].iter().find_map(|quote| text[end..].strip_prefix(quote));
        if let Some(after) = quote {
            let ends = |rest: &str| !rest.starts_with(char::is_alphanumeric);
            if word.ends_with(['n', 'N']) && after.starts_with(['t', 'T']) && ends(&after[1..]) {
                end = text.len() - after.len() + 1;
                word = &word[..word.len() - 1];
                negated = true;
            } else if after.starts_with(['s', 'S']) && ends(&after[1..]) {
                end = text.len() - after.len() + 1;
            }
        }
        self.push_word(word);
        if negated {
            self.push(Kind::Negation, "not");
        }
        end
    }

    fn push_word(&mut self, word: &str) {
        let folded = fold(word);
        if folded.is_empty() {
            return;
        }
        let english = self.language == Language::ENGLISH;
        if english && self.scale_last(&folded) {
            return;
        }
        let capitals = word.chars().filter(|c| c.is_uppercase()).count();
        let acronym = capitals > 1 && !word.chars().any(char::is_lowercase);
        // German capitalizes every noun.
        let capital = word.starts_with(char::is_uppercase)
            && !self.begins
            && word.chars().nth(1).is_some()
            && self.language.code() != "de";
        if is_negation(&folded, self.language) {
            self.push(Kind::Negation, &folded);
        } else if let Some(value) = value_of(&folded).filter(|_| english) {
            self.push_value_of_word(value);
        } else if acronym || capital {
            self.push_stemmed(Kind::Name, word, &folded);
        } else if stems::is_function_word(&folded, self.language) {
            self.push(Kind::Function, &folded);
        } else {
            self.push_stemmed(Kind::Word, word, &folded);
        }
    }

    /// Multiplies the number before `million`.
    fn scale_last(&mut self, folded: &str) -> bool {
        let scale = match folded {
            "hundred" => 1e2,
            "thousand" => 1e3,
            "million" => 1e6,
            "billion" => 1e9,
            "trillion" => 1e12,
            _ => return false,
        };
        let Some(value) = self.value else { return false };
        self.tokens.pop();
        self.push_value(value * scale);
        true
    }

    fn push_stemmed(&mut self, kind: Kind, word: &str, folded: &str) {
        let wide = stems::stem(word, self.language);
        let english = self.language == Language::ENGLISH;
        let key = if english { prose::stem(folded) } else { wide.clone() };
        let light = kind == Kind::Word && english && LIGHT.binary_search(&folded).is_ok();
        self.add(Token {
            kind: if light { Kind::Light } else { kind },
            direction: direction(&key).filter(|_| english && kind != Kind::Name),
            key,
            wide,
            negation: None,
        });
    }

    /// `thirty-eight` is one number.
    fn push_value_of_word(&mut self, value: f64) {
        let tens = self.value.filter(|tens| value < 10.0 && (20.0..100.0).contains(tens));
        match tens.filter(|tens| tens % 10.0 == 0.0) {
            Some(tens) => {
                self.tokens.pop();
                self.push_value(tens + value);
            }
            None => self.push_value(value),
        }
    }

    fn push_value(&mut self, value: f64) {
        // Six places: `3.2 million` has the digits of `3,200,000`.
        let key = ((value * 1e6).round() / 1e6).to_string();
        self.add(Token {
            wide: key.clone(),
            key,
            kind: Kind::Number,
            direction: None,
            negation: None,
        });
        self.value = Some(value);
    }

    fn push(&mut self, kind: Kind, key: &str) {
        let english = self.language == Language::ENGLISH;
        let direction = direction(key).filter(|_| english && kind != Kind::Break);
        self.add(Token {
            kind,
            key: key.to_owned(),
            wide: key.to_owned(),
            direction,
            negation: None,
        });
    }

    fn add(&mut self, token: Token) {
        self.value = None;
        self.begins &= token.kind == Kind::Break;
        self.tokens.push(token);
    }
}

/// The length of a citation marker such as `[3]`, `[^2]` or `[1, 4]`: its numbers are not numbers of the text.
fn marker(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('[')?;
    let end = inner.bytes().take(40).position(|byte| byte == b']')?;
    let is_marker = end > 0
        && inner.as_bytes()[..end]
            .iter()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'^' | b',' | b' ' | b'-'));
    is_marker.then_some(end + 2)
}

/// The length and the value of a number: `1,000`, `3.5`, and `3,5` where the comma is the decimal mark.
fn number(text: &str, english: bool) -> (usize, f64) {
    let bytes = text.as_bytes();
    let digits =
        |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = digits(0);
    let mut plain = text[..end].to_owned();
    let mut decimal = false;
    while let Some(mark @ (b',' | b'.')) = bytes.get(end).copied() {
        let count = digits(end + 1);
        let groups = count == 3 && (mark == b',') == english && !decimal && end <= 15;
        if groups {
            plain.push_str(&text[end + 1..end + 4]);
        } else if count > 0 && (mark == b'.' || !english && count < 3) && !decimal {
            decimal = true;
            plain.push('.');
            plain.push_str(&text[end + 1..end + 1 + count]);
        } else {
            break;
        }
        end += 1 + count;
    }
    // A longer run is no number that anyone compares.
    let value = plain.get(..plain.len().min(24)).and_then(|plain| plain.parse().ok());
    (end, value.unwrap_or_default())
}

fn value_of(word: &str) -> Option<f64> {
    let value = match word {
        "zero" => 0,
        "two" => 2,
        "three" => 3,
        "four" => 4,
        "five" => 5,
        "six" => 6,
        "seven" => 7,
        "eight" => 8,
        "nine" => 9,
        "ten" => 10,
        "eleven" => 11,
        "twelve" => 12,
        "fifteen" => 15,
        "twenty" => 20,
        "thirty" => 30,
        "forty" => 40,
        "fifty" => 50,
        "sixty" => 60,
        "seventy" => 70,
        "eighty" => 80,
        "ninety" => 90,
        _ => return None,
    };
    Some(f64::from(value))
}

fn is_negation(word: &str, language: Language) -> bool {
    let words: &[&str] = match language.code() {
        "en" => &[
            "not", "no", "never", "none", "neither", "nor", "cannot", "without", "hardly",
            "rarely", "seldom", "barely", "scarcely", "non", "lack", "lacks", "lacked", "lacking",
            "absence", "fail", "fails", "failed", "failing",
        ],
        "de" => &["nicht", "kein", "keine", "keinen", "keinem", "keiner", "nie", "niemals", "ohne"],
        "fr" => &["pas", "jamais", "sans", "aucun", "aucune"],
        "es" => &["no", "nunca", "sin", "ningun", "ninguna"],
        "it" => &["non", "mai", "senza", "nessun", "nessuna"],
        "pt" => &["nao", "nunca", "sem", "nenhum", "nenhuma"],
        "nl" => &["niet", "geen", "nooit", "zonder"],
        "sv" => &["inte", "ej", "aldrig", "utan", "ingen"],
        "ru" => &["не", "нет", "без", "никогда"],
        "pl" => &["nie", "bez", "nigdy"],
        "tr" => &["degil", "asla"],
        _ => &[],
    };
    words.contains(&word)
}
