//! Clauses that deny: "no experience with Python" is no evidence of Python.

/// What a clause that denies has, in six languages.
const DENIALS: [&str; 34] = [
    "no experience",
    "no prior experience",
    "no professional experience",
    "no hands-on experience",
    "no knowledge",
    "no exposure",
    "not experienced",
    "not familiar",
    "not yet used",
    "unfamiliar with",
    "never used",
    "never worked with",
    "without experience",
    "without knowledge",
    "lack of experience",
    "lack experience",
    "have not used",
    "have not worked with",
    "haven't used",
    "did not use",
    "do not know",
    "don't know",
    "keine erfahrung",
    "keine kenntnisse",
    "ohne erfahrung",
    "ohne kenntnisse",
    "aucune expérience",
    "pas d'expérience",
    "sans expérience",
    "sin experiencia",
    "ninguna experiencia",
    "sem experiência",
    "nessuna esperienza",
    "senza esperienza",
];

/// A text with spaces in place of its clauses that deny, so that all else keeps its place.
pub(super) fn without(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for clause in clauses(text) {
        let plain = clause.to_lowercase().replace('’', "'");
        if DENIALS.iter().any(|denial| plain.contains(denial)) {
            out.extend(clause.chars().map(|_| ' '));
        } else {
            out.push_str(clause);
        }
    }
    out
}

/// The parts of a text that end with a sentence, a semicolon or before "but".
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = |at: usize| {
            rest[..at].ends_with(['.', ';', '!', '?'])
                || [" but ", " aber ", " mais ", " pero "]
                    .iter()
                    .any(|but| rest[at..].starts_with(but))
        };
        let end = rest.match_indices(' ').map(|(at, _)| at).find(|at| *at > 0 && ends(*at));
        let (clause, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(clause)
    })
}
