//! Splits a text into sentences of tokens.

/// A word or a sign of a text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub start: usize,
    pub end: usize,
    /// Whether a comma is between this token and the one before it.
    pub after_comma: bool,
}

/// Signs that are tokens of their own at the start of a word.
const OPENING: &str = "([{\"“„«‹‘'•*·–—-";
/// Signs that are tokens of their own at the end of a word.
const CLOSING: &str = ".,;:!?)]}\"”“»›’'…";

/// The sentences of a text: lines, cut after the signs that end a sentence. Commas are no tokens.
pub fn sentences(text: &str) -> impl Iterator<Item = Vec<Token>> {
    let mut offset = 0;
    text.split_inclusive('\n').flat_map(move |line| {
        let tokens = tokens(line, offset);
        offset += line.len();
        cut(text, tokens)
    })
}

/// The tokens of a text that is one sentence.
pub fn tokens(line: &str, offset: usize) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut comma = false;
    for word in line.split_whitespace() {
        // cannot fail: the word is a part of the line.
        let start = word.as_ptr() as usize - line.as_ptr() as usize;
        split_signs(word, offset + start, &mut comma, &mut tokens);
    }
    tokens
}

/// Splits leading and trailing signs off a word.
fn split_signs(word: &str, offset: usize, comma: &mut bool, tokens: &mut Vec<Token>) {
    let mut push = |start: usize, end: usize, sign: &str| {
        if sign == "," {
            *comma = true;
        } else {
            let after_comma = std::mem::take(comma);
            tokens.push(Token { start: offset + start, end: offset + end, after_comma });
        }
    };
    let mut start = 0;
    for (at, sign) in word.char_indices() {
        start = at;
        if !OPENING.contains(sign) {
            break;
        }
        push(at, at + sign.len_utf8(), &word[at..at + sign.len_utf8()]);
        start = at + sign.len_utf8();
    }
    let rest = &word[start..];
    let body = rest.trim_end_matches(|sign| CLOSING.contains(sign));
    if !body.is_empty() {
        push(start, start + body.len(), body);
    }
    for (at, sign) in rest[body.len()..].char_indices() {
        let at = start + body.len() + at;
        push(at, at + sign.len_utf8(), &word[at..at + sign.len_utf8()]);
    }
}

/// Cuts the tokens of a line after a full stop, question or exclamation mark before a capital.
fn cut(text: &str, tokens: Vec<Token>) -> Vec<Vec<Token>> {
    let mut sentences = Vec::new();
    let mut current = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        current.push(*token);
        let ends = matches!(&text[token.start..token.end], "." | "!" | "?");
        let capital = tokens.get(index + 1).is_some_and(|next| {
            text[next.start..next.end].starts_with(|first: char| first.is_uppercase())
        });
        if ends && capital {
            sentences.push(std::mem::take(&mut current));
        }
    }
    if !current.is_empty() {
        sentences.push(current);
    }
    sentences
}
