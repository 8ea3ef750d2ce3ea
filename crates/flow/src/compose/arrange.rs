//! Decides where each claim goes: which question, which paragraph, which order.

use std::collections::BTreeSet;

use language::prose::Language;
use notes::definition::definition;
use notes::intent::{Intent, asked_stems, content_stems, topic_stems};
use notes::quantity::{YEAR, quantities};

use super::claims::{Claim, ReportQuestion};

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

/// By how much a claim must answer a question better than those that it was noted for.
const MUCH_BETTER: f64 = 0.25;

/// The claims by question, each list in the order of the text, and those of the lead.
#[derive(Debug, Default)]
pub(super) struct Arranged {
    pub(super) lead: Vec<usize>,
    pub(super) questions: Vec<Vec<usize>>,
}

pub(super) fn arrange(
    title: &str,
    asked: &[ReportQuestion<'_>],
    claims: &[Claim],
    language: Language,
) -> Arranged {
    let about = topic_stems(title, language);
    let intents: Vec<Intent> =
        asked.iter().map(|question| Intent::of(question.text, language)).collect();
    let fit = Fits { asked, intents: &intents, about: &about, language }.of(claims);
    let mut questions = assign(asked, claims, &fit);
    for (question, list) in questions.iter_mut().enumerate() {
        // Best first; the order among equals is that of the notes.
        list.sort_by(|a, b| fit[*b][question].total_cmp(&fit[*a][question]).then(a.cmp(b)));
        list.truncate(MAX_PER_QUESTION);
    }
    join_disputes(&mut questions, claims);
    let lead = Lead { about, asked, claims, fit: &fit, language };
    let lead = lead.choose(&mut questions);
    join_history(&mut questions, asked, &intents);
    for (list, intent) in questions.iter_mut().zip(&intents) {
        order(list, claims, intent);
    }
    Arranged { lead, questions }
}

/// How well claims answer questions.
struct Fits<'a> {
    asked: &'a [ReportQuestion<'a>],
    intents: &'a [Intent],
    about: &'a [String],
    language: Language,
}

impl Fits<'_> {
    /// For each claim and question, how well it answers; nothing where the claim was noted for other questions and answers
    /// none of them much worse.
    fn of(&self, claims: &[Claim]) -> Vec<Vec<f64>> {
        let wanting: Vec<BTreeSet<String>> = self
            .asked
            .iter()
            .map(|question| asked_stems(question.text, self.language).into_iter().collect())
            .collect();
        claims.iter().map(|claim| self.of_claim(claim, &wanting)).collect()
    }

    fn of_claim(&self, claim: &Claim, wanting: &[BTreeSet<String>]) -> Vec<f64> {
        let stems = content_stems(&claim.text, self.language);
        let names_topic = self.about.iter().all(|stem| stems.contains(stem));
        let fit = |question: usize| {
            let shared = stems.iter().filter(|stem| wanting[question].contains(*stem)).count();
            let share = shared as f64 / wanting[question].len().max(1) as f64;
            share + KIND * self.intents[question].fit(&claim.text, &stems)
        };
        let noted = claim.questions.iter().copied().map(fit).fold(0.0, f64::max);
        let answers = |question: usize| {
            let intent = &self.intents[question];
            intent.is_known() && intent.is_answer(&claim.text, &stems, names_topic)
        };
        let of_question = |question: usize| match fit(question) {
            fit if claim.questions.contains(&question) => fit,
            fit if fit >= noted + MUCH_BETTER && answers(question) => fit,
            _ => 0.0,
        };
        (0..self.asked.len()).map(of_question).collect()
    }
}

/// Gives each claim to the question that it fits best, and no question less than it can have.
fn assign(asked: &[ReportQuestion<'_>], claims: &[Claim], fit: &[Vec<f64>]) -> Vec<Vec<usize>> {
    let mut questions = vec![Vec::new(); asked.len()];
    for (index, claim) in claims.iter().enumerate().filter(|(_, claim)| !claim.general) {
        let offers =
            |question: &usize| claim.questions.contains(question) || fit[index][*question] > 0.0;
        let best = (0..asked.len())
            .filter(offers)
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
                && !claim.general
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

/// Puts what happened under the first question of its section, so that all of it is in the order of the years.
fn join_history(questions: &mut [Vec<usize>], asked: &[ReportQuestion<'_>], intents: &[Intent]) {
    for question in 1..asked.len() {
        let same_section = |other: &usize| {
            asked[*other].section == asked[question].section && intents[*other].asks_for_years()
        };
        if intents[question].asks_for_years()
            && let Some(first) = (0..question).find(same_section)
        {
            let moved = std::mem::take(&mut questions[question]);
            questions[first].extend(moved);
        }
    }
}

/// Chooses the lead: a definition of the topic, and the best answer of each long section.
struct Lead<'a> {
    about: Vec<String>,
    asked: &'a [ReportQuestion<'a>],
    claims: &'a [Claim],
    fit: &'a [Vec<f64>],
    language: Language,
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
        // A definition answers no question best, and may have lost its place to better answers.
        let all: Vec<(usize, usize)> = (0..self.claims.len())
            .filter(|index| self.claims[*index].disputes.is_empty())
            .map(|index| (self.place_of(index, questions), index))
            .collect();
        let mut chosen: Vec<(usize, usize)> = Vec::new();
        // A short report has a lead only if something says clearly what the topic is.
        let least = if placed.len() < LONG_SECTION { 2 } else { 0 };
        chosen.extend(best(&all, |_, index| {
            let clear = definition(&self.claims[index].text, &self.about, self.language)?;
            (clear > least).then_some(f64::from(clear))
        }));
        let room = if placed.len() < LONG_SECTION {
            MAX_LEAD - chosen.len()
        } else {
            usize::from(chosen.is_empty())
        };
        chosen.extend(self.general(&all, &chosen, room));
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
        self.remove_definitions(questions);
        chosen.into_iter().map(|(_, index)| index).collect()
    }

    /// The plainest statements about the topic that answer no question. A short report has all for which there is room,
    /// another has one unless it has been said what the topic is.
    fn general(
        &self,
        all: &[(usize, usize)],
        chosen: &[(usize, usize)],
        room: usize,
    ) -> Vec<(usize, usize)> {
        let value = |index: usize| {
            let claim = &self.claims[index];
            claim.sources.len() as f64 - specific(&claim.text, self.language)
        };
        let is_general =
            |place: &&(usize, usize)| self.claims[place.1].general && !chosen.contains(place);
        let mut found: Vec<(usize, usize)> = all.iter().filter(is_general).copied().collect();
        found.sort_by(|a, b| value(b.1).total_cmp(&value(a.1)).then(a.1.cmp(&b.1)));
        found.truncate(room);
        found
    }

    /// The question that holds a claim, or one that it was noted for.
    fn place_of(&self, index: usize, questions: &[Vec<usize>]) -> usize {
        let held = questions.iter().position(|list| list.contains(&index));
        held.or_else(|| self.claims[index].questions.first().copied()).unwrap_or_default()
    }

    /// Removes definitions of the topic from questions that do not ask for one.
    fn remove_definitions(&self, questions: &mut [Vec<usize>]) {
        for (question, list) in questions.iter_mut().enumerate() {
            let intent = Intent::of(self.asked[question].text, self.language);
            list.retain(|index| {
                let text = &self.claims[*index].text;
                let stems = content_stems(text, self.language);
                definition(text, &self.about, self.language).is_none()
                    || !self.claims[*index].disputes.is_empty()
                    || intent.is_answer(text, &stems, true)
            });
        }
    }

    /// How well a claim represents its section: it answers the question, names the topic, is supported by several
    /// sources, and can be understood without details.
    fn value(&self, question: usize, index: usize) -> Option<f64> {
        let claim = &self.claims[index];
        let start: Vec<&str> = claim.text.split_whitespace().take(10).collect();
        let named = content_stems(&start.join(" "), self.language);
        let share = self.about.iter().filter(|stem| named.contains(stem)).count() as f64
            / self.about.len().max(1) as f64;
        let lower = format!(" {} ", claim.text.to_lowercase());
        let vague = [" such ", " this ", " these ", " my ", " our ", " we ", " he ", " she "];
        let vague = vague.iter().any(|word| lower.contains(word)) && !lower.contains(" such as ");
        let sources = (claim.sources.len() - 1) as f64;
        let value = self.fit[index][question] + share + 0.4 * sources.min(2.0);
        (share >= 0.5 && !vague).then_some(value - 0.2 * specific(&claim.text, self.language))
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

/// How much a claim goes into detail.
fn specific(text: &str, language: Language) -> f64 {
    let numbers = quantities(text).len() as f64;
    let capital = |word: &&str| word.starts_with(char::is_uppercase);
    // All nouns of German have a capital.
    let names = match language.code() {
        "de" => 0.0,
        _ => text.split_whitespace().skip(1).filter(capital).count() as f64,
    };
    let words = text.split_whitespace().count() as f64;
    // `The programme …` follows another sentence in its source.
    let definite = if text.starts_with("The ") { 0.5 } else { 0.0 };
    numbers + 0.5 * names.min(4.0) + (words - 20.0).max(0.0) / 20.0 + definite
}

/// General claims first, and what happened in the order of the years; claims that contradict each other stay together.
fn order(list: &mut Vec<usize>, claims: &[Claim], intent: &Intent) {
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
    let text = |group: &Vec<usize>| claims[group[0]].text.as_str();
    if intent.asks_for_years() {
        groups.sort_by(|a, b| first_year(text(a)).total_cmp(&first_year(text(b))));
    } else {
        let level = |group: &Vec<usize>| (2.0 * specific(text(group), intent.language())).round();
        groups.sort_by(|a, b| level(a).total_cmp(&level(b)));
    }
    list.extend(groups.into_iter().flatten());
}

/// The year of a claim; what has none comes first.
fn first_year(text: &str) -> f64 {
    let years = quantities(text).into_iter().filter(|quantity| quantity.unit == YEAR);
    years.map(|year| year.low).fold(f64::INFINITY, f64::min).min(MAX_YEAR) % MAX_YEAR
}

/// Beyond all years of claims.
const MAX_YEAR: f64 = 10_000.0;

/// Cuts the sentences of a section, given by question, into paragraphs of three to five where it can. Claims that contradict
/// each other belong together and are not cut apart.
pub(super) fn paragraphs(
    questions: &[&[usize]],
    belong: impl Fn(usize, usize) -> bool,
) -> Vec<Vec<usize>> {
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
    parts.into_iter().flat_map(|part| split(&part, &belong)).collect()
}

fn split(part: &[usize], belong: &impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let pieces = part.len().div_ceil(MOST_SENTENCES);
    let size = part.len().div_ceil(pieces.max(1)).max(1);
    let mut split: Vec<Vec<usize>> = Vec::new();
    for claim in part {
        match split.last_mut() {
            Some(last)
                if last.len() < size || last.last().is_some_and(|one| belong(*one, *claim)) =>
            {
                last.push(*claim);
            }
            _ => split.push(vec![*claim]),
        }
    }
    split
}
