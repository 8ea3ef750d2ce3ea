//! The outline after its questions were merged and completed.

use std::collections::{BTreeMap, BTreeSet};

use super::MergedQuestion;
use super::markdown::folded;
use super::merge_tool::perspective_name;
use crate::outline::{Outline, OutlineQuestion, OutlineSection};

/// The section of questions that fit no other one.
const FURTHER: (&str, &str) = ("further", "Further questions");

/// Leaves out questions that no longer exist, takes over their new words, and adds new ones to the section of their
/// perspective.
pub(super) fn regroup(mut outline: Outline, questions: &[MergedQuestion]) -> Outline {
    let texts: BTreeMap<&str, &str> =
        questions.iter().map(|question| (question.id.as_str(), question.text.as_str())).collect();
    let mut listed = BTreeSet::new();
    for section in &mut outline.sections {
        section.questions.retain(|question| texts.contains_key(question.id.as_str()));
        for question in &mut section.questions {
            question.text = texts[question.id.as_str()].to_owned();
            listed.insert(question.id.clone());
        }
    }
    for question in questions.iter().filter(|question| !listed.contains(&question.id)) {
        let fits = |section: &&mut OutlineSection| {
            section.id == question.perspective
                || folded(&section.heading) == folded(&perspective_name(&question.perspective))
        };
        let new = OutlineQuestion { id: question.id.clone(), text: question.text.clone() };
        match outline.sections.iter_mut().find(fits) {
            Some(section) => section.questions.push(new),
            None => further(&mut outline).questions.push(new),
        }
    }
    outline.sections.retain(|section| !section.questions.is_empty());
    outline
}

/// The section for questions of no other one; added if there is none.
fn further(outline: &mut Outline) -> &mut OutlineSection {
    let (id, heading) = FURTHER;
    let found = outline.sections.iter().position(|section| section.id == id);
    let place = found.unwrap_or_else(|| {
        let (id, heading) = (id.to_owned(), heading.to_owned());
        outline.sections.push(OutlineSection { id, heading, questions: Vec::new() });
        outline.sections.len() - 1
    });
    &mut outline.sections[place]
}
