//! Degrees that a job asks for.

use std::sync::LazyLock;

use regex::Regex;

/// The longest degree with its subjects, in words.
const MAX_DEGREE_WORDS: usize = 20;

/// A degree whose subjects are alternatives is one item: "Bachelor's degree in Logistics, Business or Engineering".
pub(super) fn find(text: &str) -> Option<String> {
    // "… or a related discipline and have a record of publication"
    let text = FURTHER.splitn(text, 2).next().unwrap_or(text);
    let text = text.trim().trim_end_matches(['.', ';', ',']).trim();
    let words = text.split_whitespace().count();
    (words <= MAX_DEGREE_WORDS && DEGREE.is_match(text))
        .then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

static FURTHER: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(r"(?i)\s+and\s+(?:have|hold|be|bring|at\s+least)\s")
        .expect("a pattern that compiles")
});

static DEGREE: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(
        r"(?ix)^(?:(?:currently|pursuing|enrolled\s+in|studying\s+for|working\s+towards?|hold(?:ing)?|an?|completed|relevant|university|abgeschlossenes?|abgeschlossene[rn]?|ein|une?|un)\s+)*
        (?:bachelor|master|b\.?sc|m\.?sc|degree|diploma|ph\.?d|doctorate|studium|hochschulstudium|hochschulabschluss|diplôme|licence|licenciatura|grado|fp\s)
        [^;:.]*\s(?:in|of|der|des|im|en|de)\s[^;:.]*\s(?:or|oder|ou|o|u)\s[^;:.]+$",
    )
    .expect("a pattern that compiles")
});
