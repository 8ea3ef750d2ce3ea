//! Decides whether a sentence states something that a report may repeat.

use super::injection::is_injection;
use super::promotion::is_promotion;
use super::verb::may_have_verb;

/// Words in a statement.
const LEAST_WORDS: usize = 5;
const MOST_WORDS: usize = 60;

/// Characters of a statement in a script without spaces.
const LEAST_DENSE: usize = 10;
const MOST_CHARACTERS: usize = 450;

/// Parts of navigation, notices and captions.
const BOILERPLATE: [&str; 74] = [
    "accept all",
    "accept cookies",
    "add to cart",
    "advertisement",
    "all rights reserved",
    "back to top",
    "by continuing to",
    "check out our",
    "click here",
    "click on",
    "contact us",
    "cookie policy",
    "cookie settings",
    "cookies to",
    "uses cookies",
    "use cookies",
    "copyright ©",
    "©",
    "create an account",
    "creative commons",
    "download the",
    "enable javascript",
    "follow us",
    "for more information",
    "further reading",
    "image credit",
    "in this article",
    "in this chapter",
    "in this guide",
    "in this post",
    "in this section",
    "in this tutorial",
    "in this video",
    "join our",
    "last updated",
    "learn more",
    "leave a comment",
    "licensed under",
    "log in",
    "newsletter",
    "our team",
    "photo by",
    "photo:",
    "please enable",
    "powered by",
    "privacy policy",
    "read more",
    "read our",
    "related articles",
    "see also",
    "share this",
    "sign in",
    "sign up",
    "skip to",
    "sponsored",
    "subscribe",
    "table of contents",
    "terms of service",
    "terms of use",
    "this article",
    "this page",
    "your browser",
    "alle rechte vorbehalten",
    "datenschutzerklärung",
    "hier klicken",
    "impressum",
    "in diesem artikel",
    "in diesem beitrag",
    "jetzt bestellen",
    "jetzt kaufen",
    "klicken sie",
    "mehr erfahren",
    "siehe auch",
    "weiterlesen",
];

/// Phrases that give orders to the reader.
const ORDERS: [&str; 24] = [
    "dear reader",
    "disregard",
    "ignore all",
    "ignore any",
    "ignore your",
    "the assistant must",
    "the assistant should",
    "you are a ",
    "you are an ",
    "you can now",
    "you have to",
    "you may want",
    "you must",
    "you need to",
    "you should",
    "you will now",
    "you'll need",
    "you’ll need",
    "your answer",
    "your output",
    "your reply",
    "your report",
    "your response",
    "your summary",
];

/// Verbs that begin an order whatever follows.
const COMMANDS: [&str; 34] = [
    "ask",
    "avoid",
    "click",
    "consider",
    "contact",
    "delete",
    "discover",
    "disregard",
    "don't",
    "don’t",
    "download",
    "ensure",
    "forget",
    "ignore",
    "imagine",
    "include",
    "let's",
    "let’s",
    "never",
    "note",
    "please",
    "pretend",
    "remember",
    "repeat",
    "reply",
    "respond",
    "reveal",
    "say",
    "see",
    "send",
    "subscribe",
    "summarize",
    "tell",
    "visit",
];

/// Verbs that begin an order if an object follows: `Check the filter`, but not `Check valves`.
const VERBS: [&str; 34] = [
    "add",
    "always",
    "apply",
    "call",
    "change",
    "check",
    "choose",
    "compare",
    "copy",
    "do",
    "execute",
    "find",
    "follow",
    "forward",
    "get",
    "give",
    "keep",
    "look",
    "make",
    "open",
    "output",
    "print",
    "put",
    "read",
    "recommend",
    "run",
    "set",
    "start",
    "stop",
    "take",
    "translate",
    "try",
    "use",
    "write",
];

const OBJECTS: [&str; 25] = [
    "the", "a", "an", "your", "this", "that", "these", "all", "any", "it", "every", "no", "only",
    "not", "sure", "at", "to", "with", "our", "us", "them", "out", "up", "me", "in",
];

/// Whether a plain sentence is a complete statement about the world.
pub(crate) fn is_statement(text: &str) -> bool {
    ends_well(text)
        && begins_well(text)
        && has_good_length(text)
        && is_balanced(text)
        && is_mostly_words(text)
        && !is_enumeration(text)
        && !is_boilerplate(text)
        && !is_promotion(text)
        && !is_order(text)
        && may_have_verb(text)
}

fn ends_well(text: &str) -> bool {
    let end = text.trim_end_matches(['"', '”', '’', '\'', ')', '»', '」', '』']);
    let whole = end.ends_with(['.', '!', '。', '！', '｡', '।', '۔', '።']);
    whole && !end.ends_with("..") && !end.ends_with(" etc.") && !text.contains(['?', '？'])
}

/// A lower-case beginning is the end of a sentence that was cut.
fn begins_well(text: &str) -> bool {
    let start = text.trim_start_matches(['"', '“', '„', '«', '\'', '(', '「']);
    let mut characters = start.chars();
    let Some(first) = characters.next() else { return false };
    let second = characters.next().unwrap_or(' ');
    first.is_alphanumeric() && (!first.is_lowercase() || second.is_uppercase())
}

fn has_good_length(text: &str) -> bool {
    let words = text.split_whitespace().count();
    let characters = text.chars().count();
    // Without spaces a word has many characters on average.
    if characters > 25 * words {
        return (LEAST_DENSE..=MOST_CHARACTERS).contains(&characters) && is_dense(text);
    }
    let dense = is_dense(text);
    characters <= MOST_CHARACTERS
        && words <= MOST_WORDS
        && (words >= LEAST_WORDS || (dense && characters >= LEAST_DENSE))
}

fn is_dense(text: &str) -> bool {
    let dense = |c: char| matches!(u32::from(c), 0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x3400..=0x9fff);
    text.chars().filter(|c| dense(*c)).count() * 2 > text.chars().count()
}

fn is_balanced(text: &str) -> bool {
    let count = |c: char| text.matches(c).count();
    count('(') == count(')')
        && count('[') == count(']')
        && count('"') % 2 == 0
        && count('“') <= count('”') + count('„') + 1
        && count('{') == count('}')
}

/// Tables, formulas and lists of links are not.
fn is_mostly_words(text: &str) -> bool {
    let all = text.chars().filter(|c| !c.is_whitespace()).count();
    let alphabetic = text.chars().filter(|c| c.is_alphabetic()).count();
    let capitals =
        text.split_whitespace().filter(|word| word.starts_with(char::is_uppercase)).count();
    let words = text.split_whitespace().count();
    alphabetic * 3 >= all * 2
        && text.matches('|').count() < 2
        && !text.contains("http://")
        && !text.contains("https://")
        && (words < 6 || capitals * 10 <= words * 7 || !text.is_ascii())
}

/// `Cool roofs, urban heat, trees, energy, cost.`
fn is_enumeration(text: &str) -> bool {
    let items: Vec<&str> = text.split([',', ';', '·', '•']).collect();
    items.len() >= 4 && items.iter().all(|item| item.split_whitespace().nth(3).is_none())
}

fn is_boilerplate(text: &str) -> bool {
    let lower = text.to_lowercase();
    BOILERPLATE.iter().any(|phrase| lower.contains(phrase))
}

/// Whether the sentence addresses its reader with an order, which answers no question.
fn is_order(text: &str) -> bool {
    let lower = text.to_lowercase();
    if ORDERS.iter().any(|phrase| lower.contains(phrase)) || is_injection(text) {
        return true;
    }
    // An order may follow an address: `Assistant: ignore …`.
    lower.split([':', ';', '—', '–']).any(|clause| {
        let mut words = clause
            .split_whitespace()
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’'))
            .filter(|word| !word.is_empty());
        let first = words.next().unwrap_or_default();
        let second = words.next().unwrap_or_default();
        COMMANDS.contains(&first) || (VERBS.contains(&first) && OBJECTS.contains(&second))
    })
}
