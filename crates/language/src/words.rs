//! Splits text into words and normalizes them.

mod concepts;
mod stem;
mod stop;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

pub use concepts::related_stems;
pub use stem::stem;
pub use stop::is_stop_word;

/// The class of a character for splitting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
    /// Scripts written without spaces between words.
    Dense,
    Other,
}

/// One part of a written word: `getUserID` has three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece<'a> {
    text: &'a str,
    dense: bool,
}

/// The normalized words of a text: parts of `camelCase`, `snake_case`, `dotted.names` and the like, followed
/// by the whole where there were several, in lower case without accents; pairs of characters where a script has no
/// spaces.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in runs(text) {
        let pieces = pieces(run);
        for piece in &pieces {
            if piece.dense {
                push_pairs(piece.text, &mut words);
            } else {
                words.push(fold(piece.text));
            }
        }
        if pieces.len() > 1 && !pieces.iter().any(|piece| piece.dense) {
            words.push(fold(run));
        }
    }
    // Folding removes a run of marks entirely.
    words.retain(|word| !word.is_empty());
    words
}

/// The parts of words as written, without stop words: the input of a model.
pub fn spoken(text: &str) -> Vec<&str> {
    runs(text)
        .flat_map(pieces)
        .map(|piece| piece.text)
        .filter(|piece| !is_stop_word(&fold(piece)))
        .collect()
}

/// Lower case, compatibility forms made plain, accents dropped.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkd()
        .filter(|c| !('\u{300}'..='\u{36f}').contains(c))
        // Composed again, so that a Hangul syllable stays one character.
        .nfc()
        .flat_map(char::to_lowercase)
        // A capital such as İ turns into a letter and an accent.
        .filter(|c| !('\u{300}'..='\u{36f}').contains(c))
        .collect()
}

pub(crate) fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c))
        .filter(|run| !run.is_empty())
}

fn pieces(run: &str) -> Vec<Piece<'_>> {
    let mut classes: Vec<(usize, Class)> = Vec::with_capacity(run.len());
    for (at, c) in run.char_indices() {
        let class = match classes.last() {
            // A mark belongs to the letter that carries it.
            Some(&(_, before)) if is_combining_mark(c) => before,
            _ => class(c),
        };
        classes.push((at, class));
    }
    let mut pieces = Vec::new();
    let mut start = 0;
    for (i, pair) in classes.windows(2).enumerate() {
        let ((_, before), (at, here)) = (pair[0], pair[1]);
        let after = classes.get(i + 2).map(|&(_, class)| class);
        let cut = match (before, here) {
            // `HTTPServer`: the last capital opens the next word.
            (Class::Upper, Class::Upper) => after == Some(Class::Lower),
            (Class::Upper, Class::Lower) => false,
            _ => before != here,
        };
        if cut {
            pieces.push(Piece { text: &run[start..at], dense: before == Class::Dense });
            start = at;
        }
    }
    if let Some(&(_, last)) = classes.last() {
        pieces.push(Piece { text: &run[start..], dense: last == Class::Dense });
    }
    pieces
}

fn class(c: char) -> Class {
    if is_dense(c) {
        Class::Dense
    } else if c.is_numeric() {
        Class::Digit
    } else if c.is_uppercase() {
        Class::Upper
    } else if c.is_lowercase() {
        Class::Lower
    } else {
        Class::Other
    }
}

/// Han, kana, Hangul and their half- and full-width forms, Thai, Lao, Burmese and Khmer.
pub(crate) fn is_dense(c: char) -> bool {
    matches!(u32::from(c),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1100..=0x11ff | 0x1780..=0x17ff
        | 0x3005..=0x3007 | 0x3040..=0x30ff | 0x3130..=0x318f | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff
        | 0xff66..=0xffdc | 0x20000..=0x323af)
}

fn push_pairs(text: &str, words: &mut Vec<String>) {
    let folded: Vec<char> = fold(text).chars().collect();
    if folded.len() < 2 {
        words.push(folded.into_iter().collect());
        return;
    }
    words.extend(folded.windows(2).map(|pair| pair.iter().collect::<String>()));
}

#[cfg(test)]
mod tests;
