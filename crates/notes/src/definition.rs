//! Sentences that say what the topic is.

use language::prose::Language;

use crate::intent::content_stems;

/// How clearly a text says what the topic is: `A heat pump is a machine that …`; none if it does not.
pub fn definition(text: &str, about: &[String], language: Language) -> Option<u8> {
    const VERBS: [(&str, u8); 10] = [
        (" is a ", 3),
        (" is an ", 3),
        (" is the ", 3),
        (" refers to ", 3),
        (" means ", 3),
        (" bezeichnet ", 3),
        (" ist ein", 3),
        (" are ", 1),
        (" sind ", 1),
        (" heißt ", 1),
    ];
    let lower = text.to_lowercase();
    let found = VERBS.iter().filter_map(|(verb, clear)| Some((lower.find(verb)?, *clear)));
    let (at, clear) = found.min()?;
    let named = content_stems(&lower[..at], language);
    let subject = !about.is_empty()
        && about.iter().all(|stem| named.contains(stem))
        && named.len() <= about.len();
    subject.then_some(clear)
}
