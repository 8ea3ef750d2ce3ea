//! The words of a text, with the clauses that they belong to.

use super::lexicon;

/// A word or an emoji.
#[derive(Debug)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    pub(super) start: usize,
    /// In lower case, with straight apostrophes.
    pub(super) folded: String,
    /// Counts the marks that end a clause before it.
    pub(super) clause: usize,
    pub(super) emoji: bool,
    /// Whether it is in capitals.
    pub(super) shouted: bool,
}

/// The tokens of a text. French elisions, such as `n'`, are tokens of their own.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut at = 0;
    let mut clause = 0;
    std::iter::from_fn(move || {
        while let Some(c) = text[at..].chars().next() {
            if c.is_alphanumeric() {
                let length = word_length(&text[at..]);
                let token = word(&text[at..at + length], at, clause);
                at += length;
                return Some(token);
            }
            let start = at;
            at += c.len_utf8();
            if lexicon::is_emoji(c) {
                clause += 1;
                let text = &text[start..at];
                let folded = String::new();
                return Some(Token { text, start, folded, clause, emoji: true, shouted: false });
            }
            clause += usize::from(ends_clause(c));
        }
        None
    })
}

fn word(text: &str, start: usize, clause: usize) -> Token<'_> {
    let folded: String = text.replace('’', "'").to_lowercase();
    let shouted = text.chars().nth(2).is_some() && text.chars().all(|c| !c.is_lowercase());
    let shouted = shouted && text.chars().all(char::is_alphabetic);
    Token { text, start, folded, clause, emoji: false, shouted }
}

fn word_length(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    let mut end = 0;
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let apostrophe = matches!(c, '\'' | '’');
        // An elision: `n'est` is `n` and `est`; `don't` is one word.
        let elided = apostrophe && at <= 2;
        let joins = (apostrophe && !elided || c == '-') && next.is_some_and(char::is_alphanumeric);
        if !(c.is_alphanumeric() || joins || ('\u{300}'..='\u{36f}').contains(&c)) {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}

fn ends_clause(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '\n' | '–' | '—' | '(' | ')' | '…' | '¡' | '¿')
}
