//! The outline after its questions were merged and completed.

use std::collections::{BTreeMap, BTreeSet};

use notes::text::capitalize;

use super::MergedQuestion;
use super::markdown::folded;
use super::merge_tool::perspective_name;
use crate::outline::{Outline, OutlineQuestion, OutlineSection};
use crate::perspectives::perspective_id;

/// The section of questions that fit no other one.
const FURTHER: (&str, &str) = ("further", "Further questions");

/// What a person calls sections that are new or renamed, by their perspectives.
pub(super) type Headings = BTreeMap<String, String>;

/// Leaves out questions that no longer exist, takes over their new words, and puts each into the section of its
/// perspective: a person may have moved it, or written a section of their own.
pub(super) fn regroup(
    mut outline: Outline,
    questions: &[MergedQuestion],
    headings: &Headings,
) -> Outline {
    for section in &mut outline.sections {
        if let Some(heading) = headings.get(&section.id) {
            section.heading.clone_from(heading);
        }
    }
    let by_id: BTreeMap<&str, &MergedQuestion> =
        questions.iter().map(|question| (question.id.as_str(), question)).collect();
    let mut places: Vec<SectionKey> = outline.sections.iter().map(SectionKey::of).collect();
    let mut listed = BTreeSet::new();
    let mut moved: Vec<&MergedQuestion> = Vec::new();
    for (at, section) in outline.sections.iter_mut().enumerate() {
        section.questions.retain_mut(|question| {
            let Some(now) = by_id.get(question.id.as_str()) else { return false };
            listed.insert(now.id.as_str());
            question.text.clone_from(&now.text);
            let place = places.iter().position(|place| place.holds(&now.perspective));
            let is_new = place.is_none() && headings.contains_key(&now.perspective);
            let stays = !is_new && place.is_none_or(|place| place == at);
            if !stays {
                moved.push(now);
            }
            stays
        });
    }
    let added = questions.iter().filter(|question| !listed.contains(question.id.as_str()));
    for question in moved.into_iter().chain(added) {
        let known = places.iter().position(|place| place.holds(&question.perspective));
        let at = known.unwrap_or_else(|| {
            outline.sections.push(new_section(&question.perspective, headings));
            places.push(SectionKey::new(&question.perspective, outline.sections.last()));
            outline.sections.len() - 1
        });
        let OutlineSection { questions, .. } = &mut outline.sections[at];
        questions.push(OutlineQuestion { id: question.id.clone(), text: question.text.clone() });
    }
    outline.sections.retain(|section| !section.questions.is_empty());
    outline
}

/// The ids and the heading by which a section is recognised.
struct SectionKey {
    ids: [String; 2],
    heading: String,
}

impl SectionKey {
    fn of(section: &OutlineSection) -> Self {
        Self::new(&section.id, Some(section))
    }

    fn new(perspective: &str, section: Option<&OutlineSection>) -> Self {
        let id = section.map_or("", |section| &section.id);
        let heading = section.map_or("", |section| &section.heading);
        Self { ids: [id.to_owned(), perspective.to_owned()], heading: folded(heading) }
    }

    fn holds(&self, perspective: &str) -> bool {
        self.ids.iter().any(|id| id == perspective)
            || self.heading == folded(&perspective_name(perspective))
    }
}

/// The section of a perspective that the outline does not have.
fn new_section(perspective: &str, headings: &Headings) -> OutlineSection {
    let (id, heading) = match (perspective, headings.get(perspective)) {
        (_, Some(heading)) => (perspective_id(heading), heading.clone()),
        ("", None) => (FURTHER.0.to_owned(), FURTHER.1.to_owned()),
        (name, None) => {
            let name = perspective_name(name);
            (perspective_id(&name), capitalize(&name))
        }
    };
    OutlineSection { id, heading, questions: Vec::new() }
}
