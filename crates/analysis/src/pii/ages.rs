//! Ages of people.

use std::sync::LazyLock;

use regex::Regex;

use super::network::regex;
use super::surroundings::Surroundings;
use super::{Finding, Kind};

/// The number is the group; the words around it say that it is an age.
static AGES: LazyLock<[Regex; 4]> = LazyLock::new(|| {
    [
        regex(
            r"(?i)\b(1?\d{1,2})(?:\s*|-)(?:years?|yrs?|months?)(?:\s+|-)(?:olds?|of age|young)\b",
        ),
        regex(r"(?i)\b(1?\d{1,2})\s*(?:y/?o|yo)\b"),
        regex(
            r"(?i)\b(?:aged?|turn(?:s|ed|ing)?|age\s+(?:of|is|was)|ages)\s*:?\s*(?:just\s+)?(1?\d{1,2})\b",
        ),
        regex(
            r"(?i)\b(?:i'm|i am|he is|he's|she is|she's|who is|is now|was only)\s+(?:only\s+|just\s+|now\s+|already\s+)?(\d{1,2})(?:\s+(?:and|but|now|today|years)\b|\s*[.,!?;]|\s*$)",
        ),
    ]
});

pub(super) fn find(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    for (index, pattern) in AGES.iter().enumerate() {
        for hit in pattern.captures_iter(around.text) {
            let Some(age) = hit.get(1) else { continue };
            let fits = age.as_str().parse::<u32>().is_ok_and(|years| (1..=120).contains(&years));
            let attached =
                around.char_after(age.end()).is_some_and(|c| matches!(c, '%' | '/' | ':'))
                    && !hit[0].to_lowercase().contains("y/o");
            if fits && !attached {
                let confidence = if index < 2 { 0.9 } else { 0.75 };
                found.push(Finding::new(
                    Kind::Age,
                    age.range(),
                    confidence,
                    "number that words call an age",
                ));
            }
        }
    }
}
