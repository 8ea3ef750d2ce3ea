//! The few lines of a report that are no claims, in the language of its questions.

use language::prose::{Language, Prose};

use crate::outline::Outline;

/// Fixed lines in one language.
#[derive(Debug)]
pub(super) struct Phrases {
    pub(super) lead: &'static str,
    /// The heading of a lead without a sentence.
    pub(super) about: &'static str,
    pub(super) unanswered: &'static str,
    /// Under a heading whose questions have their answers under others.
    pub(super) elsewhere: &'static str,
    pub(super) nothing: &'static str,
    pub(super) disputed: &'static str,
    /// How the report was written.
    pub(super) extractive: &'static str,
    pub(super) by_model: &'static str,
}

const ENGLISH: Phrases = Phrases {
    lead: "In brief",
    about: "About this report",
    elsewhere: "The other sections have what was found on these questions.",
    unanswered: "No source that was read answers:",
    nothing: "No source that was read answers any question of this outline.",
    disputed: "disputed",
    extractive: "Every sentence with a citation was taken from the cited source; no language model was used.",
    by_model: "A language model wrote this report; sentences that the quotes of their sources do not support were left out.",
};

const GERMAN: Phrases = Phrases {
    lead: "Kurz gefasst",
    about: "Zu diesem Bericht",
    elsewhere: "Was zu diesen Fragen gefunden wurde, steht in den anderen Abschnitten.",
    unanswered: "Keine gelesene Quelle beantwortet:",
    nothing: "Keine gelesene Quelle beantwortet eine Frage dieser Gliederung.",
    disputed: "disputed / umstritten",
    extractive: "Jeder Satz mit Beleg stammt aus der genannten Quelle; kein Sprachmodell wurde verwendet.",
    by_model: "Ein Sprachmodell hat diesen Bericht geschrieben; Sätze, die die Zitate ihrer Quellen nicht stützen, fehlen.",
};

/// The lines for a report on this outline.
pub(super) fn phrases(outline: &Outline) -> &'static Phrases {
    let questions = outline.sections.iter().flat_map(|section| &section.questions);
    let text: Vec<&str> = questions.take(20).map(|question| question.text.as_str()).collect();
    let text = text.join(" ");
    let text: String = text.chars().take(4_000).collect();
    match Prose::read(&text).language.map(Language::code) {
        Some("de") => &GERMAN,
        _ => &ENGLISH,
    }
}
