//! Decides where each claim goes: which question, which paragraph, which order.

use std::collections::BTreeSet;

use super::claims::{Asked, Claim};
use crate::notes::intent::{Intent, asked_stems, content_stems, topic_stems};
use crate::notes::quantity::quantities;

/// The most claims under one question; disputes may add more.
const MAX_PER_QUESTION: usize = 5;

/// The most sentences of the lead.
const MAX_LEAD: usize = 4;

/// Claims of a section that has one to spare for the lead.
const LONG_SECTION: usize = 4;

/// Sentences of a paragraph.
const LEAST_SENTENCES: usize = 3;
const MOST_SENTENCES: usize = 5;

/// How much the kind of the answer counts when a claim fits several questions.
const KIND: f64 = 0.9;

/// The claims by question, each list in the order of the text, and those of the lead.
#[derive(Debug, Default)]
pub(super) struct Arranged {
    pub(super) lead: Vec<usize>,
    pub(super) questions: Vec<Vec<usize>>,
}

pub(super) fn arrange(title: &str, asked: &[Asked<'_>], claims: &[Claim]) -> Arranged {
    let fit = fits(asked, claims);
    let mut questions = assign(asked, claims, &fit);
    for (question, list) in questions.iter_mut().enumerate() {
        // Best first; the order among equals is that of the notes.
        list.sort_by(|a, b| fit[*b][question].total_cmp(&fit[*a][question]).then(a.cmp(b)));
        list.truncate(MAX_PER_QUESTION);
    }
    join_disputes(&mut questions, claims);
    let lead = Lead { about: topic_stems(title), asked, claims, fit: &fit }.choose(&mut questions);
    for list in &mut questions {
        order(list, claims);
    }
    Arranged { lead, questions }
}

/// How well each claim answers each of its questions.
fn fits(asked: &[Asked<'_>], claims: &[Claim]) -> Vec<Vec<f64>> {
    let intents: Vec<Intent> = asked.iter().map(|question| Intent::of(question.text)).collect();
    let wanting: Vec<BTreeSet<String>> =
        asked.iter().map(|question| asked_stems(question.text).into_iter().collect()).collect();
    claims
        .iter()
        .map(|claim| {
            let stems = content_stems(&claim.text);
            let mut fit = vec![0.0; asked.len()];
            for question in &claim.questions {
                let shared = stems.iter().filter(|stem| wanting[*question].contains(*stem)).count();
                let share = shared as f64 / wanting[*question].len().max(1) as f64;
                fit[*question] = share + KIND * intents[*question].fit(&claim.text, &stems);
            }
            fit
        })
        .collect()
}

/// Gives each claim to the question that it fits best, and no question less than it can have.
fn assign(asked: &[Asked<'_>], claims: &[Claim], fit: &[Vec<f64>]) -> Vec<Vec<usize>> {
    let mut questions = vec![Vec::new(); asked.len()];
    for (index, claim) in claims.iter().enumerate() {
        let best = claim
            .questions
            .iter()
            .copied()
            .max_by(|a, b| fit[index][*a].total_cmp(&fit[index][*b]).then(b.cmp(a)));
        if let Some(best) = best {
            questions[best].push(index);
        }
    }
    for question in 0..asked.len() {
        if !questions[question].is_empty() {
            continue;
        }
        let offers = claims.iter().enumerate().filter(|(index, claim)| {
            let holder = questions.iter().position(|list: &Vec<usize>| list.contains(index));
            claim.questions.contains(&question)
                && holder.is_some_and(|holder| questions[holder].len() > 2)
        });
        let best = offers
            .map(|(index, _)| index)
            .max_by(|a, b| fit[*a][question].total_cmp(&fit[*b][question]).then(b.cmp(a)));
        if let Some(best) = best {
            for list in &mut questions {
                list.retain(|index| *index != best);
            }
            questions[question].push(best);
        }
    }
    questions
}

/// Puts claims that contradict each other under one question.
fn join_disputes(questions: &mut [Vec<usize>], claims: &[Claim]) {
    let placed: Vec<(usize, usize)> = questions
        .iter()
        .enumerate()
        .flat_map(|(question, list)| list.iter().map(move |index| (question, *index)))
        .collect();
    let mut moved = BTreeSet::new();
    for (question, index) in placed {
        if moved.contains(&index) {
            continue;
        }
        for other in &claims[index].disputes {
            if moved.contains(other) {
                continue;
            }
            for list in questions.iter_mut() {
                list.retain(|held| held != other);
            }
            let list = &mut questions[question];
            let at = list.iter().position(|held| *held == index).map_or(list.len(), |at| at + 1);
            list.insert(at, *other);
            moved.extend([index, *other]);
        }
    }
}

/// Chooses the lead: a definition of the topic, and the best answer of each long section.
struct Lead<'a> {
    about: Vec<String>,
    asked: &'a [Asked<'a>],
    claims: &'a [Claim],
    fit: &'a [Vec<f64>],
}

impl Lead<'_> {
    /// Takes the claims of the lead out of their places.
    fn choose(&self, questions: &mut [Vec<usize>]) -> Vec<usize> {
        let placed: Vec<(usize, usize)> = questions
            .iter()
            .enumerate()
            .flat_map(|(question, list)| list.iter().map(move |index| (question, *index)))
            .filter(|(_, index)| self.claims[*index].disputes.is_empty())
            .collect();
        if placed.len() < LONG_SECTION {
            return Vec::new();
        }
        let mut chosen: Vec<(usize, usize)> = Vec::new();
        chosen.extend(best(&placed, |_, index| {
            Some(f64::from(definition(&self.claims[index].text, &self.about)?))
        }));
        let sections: BTreeSet<usize> = self.asked.iter().map(|asked| asked.section).collect();
        for section in sections {
            let own: Vec<(usize, usize)> = placed
                .iter()
                .filter(|place| self.asked[place.0].section == section && !chosen.contains(place))
                .copied()
                .collect();
            if chosen.len() < MAX_LEAD && own.len() >= LONG_SECTION {
                chosen.extend(best(&own, |question, index| self.value(question, index)));
            }
        }
        for (question, index) in &chosen {
            questions[*question].retain(|held| held != index);
        }
        chosen.into_iter().map(|(_, index)| index).collect()
    }

    /// How well a claim represents its section: it answers the question, names the topic, is supported by several
    /// sources, and can be understood without details.
    fn value(&self, question: usize, index: usize) -> Option<f64> {
        let claim = &self.claims[index];
        let start: Vec<&str> = claim.text.split_whitespace().take(10).collect();
        let named = content_stems(&start.join(" "));
        let share = self.about.iter().filter(|stem| named.contains(stem)).count() as f64
            / self.about.len().max(1) as f64;
        let lower = format!(" {} ", claim.text.to_lowercase());
        let vague = [" such ", " this ", " these ", " my ", " our ", " we ", " he ", " she "];
        let vague = vague.iter().any(|word| lower.contains(word)) && !lower.contains(" such as ");
        let sources = (claim.sources.len() - 1) as f64;
        let value = self.fit[index][question] + share + 0.4 * sources.min(2.0);
        (share >= 0.5 && !vague).then_some(value - 0.2 * specific(&claim.text))
    }
}

/// The place with the highest value; the first of equals.
fn best(
    places: &[(usize, usize)],
    value: impl Fn(usize, usize) -> Option<f64>,
) -> Option<(usize, usize)> {
    let valued = places.iter().filter_map(|place| Some((value(place.0, place.1)?, *place)));
    valued.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, place)| place)
}

/// How clearly a text says what the topic is: `A heat pump is a machine that …`; none if it does not.
fn definition(text: &str, about: &[String]) -> Option<u8> {
    const VERBS: [(&str, u8); 7] = [
        (" is a ", 3),
        (" is an ", 3),
        (" is the ", 3),
        (" refers to ", 3),
        (" ist ein", 3),
        (" are ", 1),
        (" sind ", 1),
    ];
    let lower = text.to_lowercase();
    let found = VERBS.iter().filter_map(|(verb, clear)| Some((lower.find(verb)?, *clear)));
    let (at, clear) = found.min()?;
    let named = content_stems(&lower[..at]);
    let subject = !about.is_empty()
        && about.iter().all(|stem| named.contains(stem))
        && named.len() <= about.len();
    subject.then_some(clear)
}

/// How much a claim goes into detail.
fn specific(text: &str) -> f64 {
    let numbers = quantities(text).len() as f64;
    let names =
        text.split_whitespace().skip(1).filter(|word| word.starts_with(char::is_uppercase)).count()
            as f64;
    let words = text.split_whitespace().count() as f64;
    numbers + 0.5 * names.min(4.0) + (words - 20.0).max(0.0) / 20.0
}

/// General claims first; claims that contradict each other stay together.
fn order(list: &mut Vec<usize>, claims: &[Claim]) {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for index in list.drain(..) {
        let disputed = |group: &&mut Vec<usize>| {
            group.iter().any(|held| claims[*held].disputes.contains(&index))
        };
        match groups.iter_mut().find(disputed) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    let level = |group: &Vec<usize>| (2.0 * specific(&claims[group[0]].text)).round() / 2.0;
    groups.sort_by(|a, b| level(a).total_cmp(&level(b)));
    list.extend(groups.into_iter().flatten());
}

/// Cuts the sentences of a section, given by question, into paragraphs of three to five where it can.
pub(super) fn paragraphs(questions: &[&[usize]]) -> Vec<Vec<usize>> {
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for list in questions {
        match parts.last_mut() {
            Some(last)
                if last.len() < LEAST_SENTENCES && last.len() + list.len() <= MOST_SENTENCES =>
            {
                last.extend(*list);
            }
            _ => parts.push(list.to_vec()),
        }
    }
    // A short rest joins the paragraph before it.
    if let [.., before, last] = &parts[..]
        && last.len() < LEAST_SENTENCES
        && before.len() + last.len() <= MOST_SENTENCES
    {
        let last = parts.pop().unwrap_or_default();
        if let Some(before) = parts.last_mut() {
            before.extend(last);
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.into_iter().flat_map(|part| split(&part)).collect()
}

fn split(part: &[usize]) -> Vec<Vec<usize>> {
    let pieces = part.len().div_ceil(MOST_SENTENCES);
    let size = part.len().div_ceil(pieces.max(1)).max(1);
    part.chunks(size).map(<[usize]>::to_vec).collect()
}
