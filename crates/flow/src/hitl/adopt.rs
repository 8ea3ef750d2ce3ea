//! Gives the parts of an edited outline their ids back: people see no ids, so parts are known by their text.

use std::collections::{BTreeMap, BTreeSet};

use language::similarity::similarity;
use proto::digest;

use super::markdown::{Draft, folded, one_line};
use crate::outline::{Outline, OutlineQuestion, OutlineSection};

/// From which similarity on an edited text keeps the id of the text before.
const SAME: f64 = 0.5;

/// An edited outline with the ids of the outline before. A part keeps its id if its text is the same or similar, wherever it
/// is now; a section also if it has most of its questions. What is new gets an id that depends on its text.
pub fn adopt(before: &Outline, draft: Draft) -> Outline {
    let old: Vec<&OutlineQuestion> =
        before.sections.iter().flat_map(|section| &section.questions).collect();
    let old_texts: Vec<String> = old.iter().map(|question| one_line(&question.text)).collect();
    let new_texts: Vec<&str> = draft
        .sections
        .iter()
        .flat_map(|section| section.questions.iter().map(String::as_str))
        .collect();
    let found =
        find_pairs(&old_texts, &new_texts, |old, new| similarity(&old_texts[old], new_texts[new]));
    let mut ids = Ids::of(old.iter().map(|question| question.id.as_str()));
    let mut question_ids = (0..new_texts.len())
        .map(|new| match found.get(&new) {
            Some(place) => old[*place].id.clone(),
            None => ids.new_id("q", new_texts[new]),
        })
        .collect::<Vec<_>>()
        .into_iter();
    let contents: Vec<Vec<OutlineQuestion>> = draft
        .sections
        .iter()
        .map(|section| {
            let questions = section.questions.iter().zip(question_ids.by_ref());
            questions.map(|(text, id)| OutlineQuestion { id, text: text.clone() }).collect()
        })
        .collect();

    let old_headings: Vec<String> =
        before.sections.iter().map(|section| one_line(&section.heading)).collect();
    let new_headings: Vec<&str> =
        draft.sections.iter().map(|section| section.heading.as_str()).collect();
    let found = find_pairs(&old_headings, &new_headings, |old, new| {
        let shared = share_of_ids(&before.sections[old].questions, &contents[new]);
        let similar = similarity(&old_headings[old], new_headings[new]);
        // One of them will do; of two sections that have it, the one with more of the other wins.
        shared.max(similar) + shared.min(similar) / 10.0
    });
    let mut ids = Ids::of(before.sections.iter().map(|section| section.id.as_str()));
    let sections = draft.sections.iter().zip(contents).enumerate();
    let sections = sections.map(|(place, (section, questions))| OutlineSection {
        id: match found.get(&place) {
            Some(old) => before.sections[*old].id.clone(),
            None => ids.new_id("s", &section.heading),
        },
        heading: section.heading.clone(),
        questions,
    });
    Outline { sections: sections.collect(), title: draft.title.clone() }
}

/// The share of questions that two sections have in common.
fn share_of_ids(old: &[OutlineQuestion], new: &[OutlineQuestion]) -> f64 {
    let ids: BTreeSet<&str> = old.iter().map(|question| question.id.as_str()).collect();
    let common = new.iter().filter(|question| ids.contains(question.id.as_str())).count();
    common as f64 / old.len().max(new.len()).max(1) as f64
}

/// Which old text each new one was: first equal texts, then the most similar ones. Each old text is used once.
fn find_pairs(
    old: &[String],
    new: &[&str],
    likeness: impl Fn(usize, usize) -> f64,
) -> BTreeMap<usize, usize> {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, text) in old.iter().enumerate().rev() {
        places.entry(folded(text)).or_default().push(place);
    }
    let mut found = BTreeMap::new();
    let mut used = vec![false; old.len()];
    for (place, text) in new.iter().enumerate() {
        if let Some(equal) = places.get_mut(&folded(text)).and_then(Vec::pop) {
            used[equal] = true;
            found.insert(place, equal);
        }
    }
    let mut similar = Vec::new();
    for one in (0..old.len()).filter(|one| !used[*one]) {
        for other in (0..new.len()).filter(|other| !found.contains_key(other)) {
            let likeness = likeness(one, other);
            if likeness >= SAME {
                similar.push((likeness, one, other));
            }
        }
    }
    similar.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    for (_, one, other) in similar {
        if !used[one] && !found.contains_key(&other) {
            used[one] = true;
            found.insert(other, one);
        }
    }
    found
}

/// The ids that are taken.
pub(super) struct Ids(BTreeSet<String>);

impl Ids {
    pub(super) fn of<'a>(taken: impl Iterator<Item = &'a str>) -> Self {
        Self(taken.map(str::to_owned).collect())
    }

    /// An id that depends on the text, and on a number if it is taken.
    pub(super) fn new_id(&mut self, kind: &str, text: &str) -> String {
        let digest = digest(folded(text).as_bytes());
        let hex: String = digest.as_bytes()[..4].iter().map(|byte| format!("{byte:02x}")).collect();
        let mut id = format!("{kind}-{hex}");
        for number in 2_usize.. {
            if self.0.insert(id.clone()) {
                break;
            }
            id = format!("{kind}-{hex}-{number}");
        }
        id
    }
}
