use std::collections::HashMap;

use unicode_normalization::char::is_combining_mark;

use crate::words::fold;

/// Runs of Han characters up to this length are taken for words.
const LONGEST_DENSE: usize = 4;

/// How a term is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    Plain,
    /// `Berlin`.
    Capital,
    /// `NATO`.
    Acronym,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    /// Characters of a script without spaces, not yet cut into words.
    Dense,
    /// Function characters between such words.
    Glue,
}

/// One word of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term<'a> {
    /// The original spelling.
    pub text: &'a str,
    /// In lower case without accents.
    pub folded: String,
    /// The common stem of its forms.
    pub stem: String,
    /// The index of its sentence.
    pub sentence: usize,
    /// Whether it begins its sentence.
    pub first: bool,
    /// Whether punctuation separates it from the previous term.
    pub apart: bool,
    /// Whether it is a function word.
    pub stop: bool,
    pub case: Case,
    pub(super) kind: Kind,
}

impl Term<'_> {
    /// Whether the term is a content word.
    pub fn carries_meaning(&self) -> bool {
        !self.stop && self.kind != Kind::Number
    }

    /// Whether its script is written without spaces.
    pub fn is_dense(&self) -> bool {
        self.kind == Kind::Dense
    }
}

/// The terms of one sentence.
pub fn terms(sentence: &str, index: usize) -> Vec<Term<'_>> {
    let mut found: Vec<Term<'_>> = Vec::new();
    let mut apart = false;
    let mut rest = sentence;
    while let Some(first) = rest.chars().next() {
        if !first.is_alphanumeric() {
            apart |= !first.is_whitespace();
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (length, kind) = run(rest);
        let (text, after) = rest.split_at(length);
        rest = after;
        let folded = fold(text);
        if !folded.is_empty() {
            found.push(Term {
                stem: stem(&folded),
                folded,
                text,
                sentence: index,
                first: found.is_empty(),
                apart,
                stop: false,
                case: case(text),
                kind,
            });
            apart = false;
        }
    }
    found
}

/// The end of a term, and its kind. A hyphen or an apostrophe within a word belongs to it.
fn run(text: &str) -> (usize, Kind) {
    let script = script(text.chars().next().unwrap_or_default());
    if script != Script::Spaced {
        let end = text
            .char_indices()
            .find(|(_, c)| self::script(*c) != script && !is_combining_mark(*c) && *c != 'ー')
            .map_or(text.len(), |(at, _)| at);
        let kind = match script {
            Script::Hiragana => Kind::Glue,
            _ => Kind::Dense,
        };
        return (end, kind);
    }
    let mut end = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let inside =
            (c.is_alphanumeric() && self::script(c) == Script::Spaced) || is_combining_mark(c);
        let joins = matches!(c, '-' | '\u{2010}' | '.')
            && characters.peek().is_some_and(|(_, next)| next.is_alphanumeric())
            && (c != '.' || (end > 0 && text[..at].ends_with(|c: char| c.is_ascii_digit())));
        if !inside && !joins {
            break;
        }
        end = at + c.len_utf8();
    }
    let word = &text[..end];
    let number = word.chars().all(|c| c.is_numeric() || !c.is_alphanumeric());
    (end, if number { Kind::Number } else { Kind::Word })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Spaced,
    Han,
    Hiragana,
    Katakana,
    /// Thai, Lao, Burmese, Khmer.
    SouthEast,
}

fn script(c: char) -> Script {
    match u32::from(c) {
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff => Script::SouthEast,
        0x3041..=0x309f => Script::Hiragana,
        0x30a0..=0x30ff | 0x31f0..=0x31ff | 0xff66..=0xff9f => Script::Katakana,
        0x3005..=0x3007
        | 0x3400..=0x4dbf
        | 0x4e00..=0x9fff
        | 0xf900..=0xfaff
        | 0x20000..=0x323af => Script::Han,
        _ => Script::Spaced,
    }
}

fn case(text: &str) -> Case {
    let alphabetic = || text.chars().filter(|c| c.is_alphabetic());
    if alphabetic().nth(1).is_some() && alphabetic().all(char::is_uppercase) {
        return Case::Acronym;
    }
    if text.starts_with(char::is_uppercase) { Case::Capital } else { Case::Plain }
}

/// The stem of a word: without the plural ending, `ing` and `ed`. Less is cut than for a search, where a wrong match costs
/// little: `station` and `state` stay two words.
pub(crate) fn stem(word: &str) -> String {
    if word.len() <= 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let vowel = |text: &str| text.bytes().any(|byte| b"aeiouy".contains(&byte));
    let singular = match word {
        word if word.ends_with("ies") && word.len() > 4 => format!("{}y", &word[..word.len() - 3]),
        word if ["sses", "shes", "ches", "xes", "zes"].iter().any(|end| word.ends_with(end)) => {
            word[..word.len() - 2].to_owned()
        }
        word if word.ends_with('s')
            && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) =>
        {
            word[..word.len() - 1].to_owned()
        }
        word => word.to_owned(),
    };
    let cut = ["ing", "ed"].iter().find_map(|end| singular.strip_suffix(end));
    let Some(cut) = cut.filter(|cut| cut.len() > 2 && vowel(cut)) else {
        return singular
            .strip_suffix('e')
            .filter(|cut| cut.len() > 3)
            .unwrap_or(&singular)
            .to_owned();
    };
    // `planned`: the letter was doubled for the ending.
    match cut.as_bytes() {
        [.., a, b] if a == b && !b"lsz".contains(b) => cut[..cut.len() - 1].to_owned(),
        _ => cut.to_owned(),
    }
}

/// Chinese characters that are mostly function words.
const HAN_GLUE: &str = "的了是在和与與也就都而及或这這那有不为為以对對等被把从從到个個之其并並但我你他她它们們将將已于於所";

/// Splits long runs of Han characters: at function characters, and then into the parts that the text repeats.
pub(super) fn cut_dense(terms: &mut Vec<Term<'_>>) {
    if !terms.iter().any(Term::is_dense) {
        return;
    }
    let mut cut: Vec<Term<'_>> = Vec::with_capacity(terms.len());
    for term in terms.drain(..) {
        if !term.is_dense() || script(term.text.chars().next().unwrap_or_default()) != Script::Han {
            cut.push(term);
            continue;
        }
        let mut apart = term.apart;
        let like = without_forms(&term);
        for part in term.text.split_inclusive(|c| HAN_GLUE.contains(c)) {
            let word = part.trim_end_matches(|c| HAN_GLUE.contains(c));
            if !word.is_empty() {
                cut.push(Term {
                    text: word,
                    folded: fold(word),
                    stem: fold(word),
                    apart,
                    ..like.clone()
                });
            }
            apart = word.len() < part.len();
        }
    }
    let repeated = repeated(&cut);
    for term in cut {
        if term.is_dense() && term.text.chars().count() > LONGEST_DENSE {
            split(&term, &repeated, terms);
        } else {
            terms.push(term);
        }
    }
}

/// Parts of two to four characters that occur more than once.
fn repeated<'a>(terms: &[Term<'a>]) -> HashMap<&'a str, u32> {
    let mut counts = HashMap::new();
    for term in terms.iter().filter(|term| term.is_dense()) {
        let ends: Vec<usize> =
            term.text.char_indices().map(|(at, _)| at).chain([term.text.len()]).collect();
        for length in 2..=LONGEST_DENSE {
            for window in ends.windows(length + 1) {
                *counts.entry(&term.text[window[0]..window[length]]).or_insert(0) += 1;
            }
        }
    }
    counts.retain(|_, count| *count > 1);
    counts
}

/// The term without its forms, which are as long as it is: a copy for each of its parts would take time with the square of
/// its length.
fn without_forms<'a>(term: &Term<'a>) -> Term<'a> {
    let mut like = term.clone();
    (like.folded, like.stem) = (String::new(), String::new());
    like
}

fn split<'a>(term: &Term<'a>, repeated: &HashMap<&str, u32>, into: &mut Vec<Term<'a>>) {
    let mut rest = term.text;
    let mut apart = term.apart;
    let like = without_forms(term);
    while !rest.is_empty() {
        let ends: Vec<usize> = rest
            .char_indices()
            .map(|(at, _)| at)
            .chain([rest.len()])
            .take(LONGEST_DENSE + 1)
            .collect();
        // The most frequent part; of two with equal frequency, the longer one.
        let best = ends
            .iter()
            .enumerate()
            .skip(2)
            .filter_map(|(length, end)| Some((repeated.get(&rest[..*end])?, length, *end)))
            .max_by_key(|(count, length, _)| (**count, *length));
        let end = best.map_or(ends[ends.len().min(3) - 1], |(_, _, end)| end);
        let (word, after) = rest.split_at(end);
        into.push(Term { text: word, folded: fold(word), stem: fold(word), apart, ..like.clone() });
        apart = false;
        rest = after;
    }
}
