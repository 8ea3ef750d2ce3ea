//! How much a line of a résumé says about what a job asks for.

use crate::fit::Words;
use crate::jobs::Job;
use crate::skills::synonyms;

const MUST: f64 = 2.0;
const NICE: f64 = 1.0;
/// Words of the role and of the job's tasks say less than its requirements.
const ROLE: f64 = 0.5;

/// What a job asks for, as words.
pub(super) struct Target {
    requirements: Vec<Requirement>,
    role: Words,
    tasks: Vec<Words>,
}

struct Requirement {
    text: String,
    weight: f64,
    /// The requirement and its other names.
    phrases: Vec<Words>,
}

impl Target {
    pub(super) fn new(role: &str, job: Option<&Job>) -> Self {
        let weighted = job.into_iter().flat_map(|job| {
            let must = job.must.iter().map(|text| (text, MUST));
            must.chain(job.nice.iter().map(|text| (text, NICE)))
        });
        let requirements = weighted.map(|(text, weight)| {
            let names = std::iter::once(text.as_str()).chain(synonyms(text));
            Requirement { text: text.clone(), weight, phrases: names.map(Words::of).collect() }
        });
        let tasks = job.into_iter().flat_map(|job| &job.responsibilities);
        Self {
            requirements: requirements.collect(),
            role: Words::of(role),
            tasks: tasks.map(|task| Words::of(task)).collect(),
        }
    }

    /// The relevance of a text: 0 if it has nothing of the job.
    pub(super) fn relevance(&self, text: &str) -> f64 {
        let words = Words::claimed(text);
        let found = self.requirements.iter().filter(|requirement| requirement.is_in(&words));
        let tasks = self.tasks.iter().map(|task| words.share(task)).fold(0.0, f64::max);
        found.map(|requirement| requirement.weight).sum::<f64>()
            + ROLE * (words.share(&self.role) + if tasks >= 0.5 { tasks } else { 0.0 })
    }

    /// Whether a text has a requirement of the job.
    pub(super) fn matches(&self, text: &str) -> bool {
        let words = Words::claimed(text);
        self.requirements.iter().any(|requirement| requirement.is_in(&words))
    }

    /// The requirements that texts have, and those that none has.
    pub(super) fn divide<'a>(
        &self,
        texts: impl Iterator<Item = &'a str>,
    ) -> (Vec<String>, Vec<String>) {
        let texts: Vec<Words> = texts.map(Words::claimed).collect();
        let found = |requirement: &&Requirement| texts.iter().any(|words| requirement.is_in(words));
        let (matched, missing): (Vec<_>, Vec<_>) = self.requirements.iter().partition(found);
        let names = |list: Vec<&Requirement>| list.iter().map(|one| one.text.clone()).collect();
        (names(matched), names(missing))
    }
}

impl Requirement {
    fn is_in(&self, words: &Words) -> bool {
        self.phrases.iter().any(|phrase| words.find(phrase).is_some())
            || self.phrases.first().is_some_and(|phrase| words.share(phrase) >= 1.0)
    }
}
