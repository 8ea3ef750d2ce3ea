//! The quality of a text: checks, what they found, and a score whose parts add up.

mod consistency;
mod issue;
mod layout;
mod links;
mod placeholders;
mod readability;
mod spelled;
mod text;

pub use issue::{Check, Issue, Part, Severity};
pub use readability::Readability;

use crate::spelling::Dictionary;
use issue::{Outcome, rounded};
use text::Text;

/// The quality of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Quality {
    /// From 0 to 100: the total of all contributions.
    pub score: f64,
    pub parts: Vec<Part>,
    pub issues: Vec<Issue>,
    pub readability: Readability,
}

/// Checks a text. Spelling is checked if there is a dictionary for its language.
pub fn check(
    source: &str,
    language: Option<&str>,
    checks: &[Check],
    dictionary: Option<&Dictionary>,
) -> Quality {
    let text = Text::read(source);
    let readability = Readability::of(&text, language);
    let mut outcomes: Vec<(Check, Outcome)> = Vec::new();
    for check in checks {
        let outcome = match check {
            Check::Spelling => dictionary.map(|dictionary| spelled::check(&text, dictionary)),
            Check::Readability => Some(readability.check(&text)),
            Check::Structure => Some(layout::check(&text)),
            Check::Links => Some(links::check(&text)),
            Check::Placeholders => Some(placeholders::check(&text)),
            Check::Consistency => Some(consistency::check(&text)),
        };
        outcomes.extend(outcome.map(|outcome| (*check, outcome)));
    }
    combine(outcomes, readability)
}

fn combine(outcomes: Vec<(Check, Outcome)>, readability: Readability) -> Quality {
    let total: f64 = outcomes.iter().map(|(check, _)| check.weight()).sum();
    let mut quality = Quality { score: 0.0, parts: Vec::new(), issues: Vec::new(), readability };
    for (check, outcome) in outcomes {
        let weight = rounded(check.weight() / total, 4);
        let value = rounded(outcome.value.clamp(0.0, 1.0), 4);
        let contribution = rounded(100.0 * weight * value, 2);
        quality.score += contribution;
        quality.parts.push(Part { check, weight, value, contribution, evidence: outcome.evidence });
        quality.issues.extend(outcome.issues);
    }
    quality.score = rounded(quality.score, 2).clamp(0.0, 100.0);
    quality.issues.sort_by_key(|issue| (issue.start, issue.end, issue.check));
    quality
}

#[cfg(test)]
mod tests;
