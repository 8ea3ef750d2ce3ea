//! Reads job descriptions in English, German, French and Spanish, as lists, prose or `key: value` lines.

mod companies;
mod degrees;
pub(crate) mod header;
mod index;
mod labels;
mod lines;
mod locations;
mod mode;
mod pay;
mod phrases;
mod requirements;
mod sentences;
mod signals;
mod tables;
mod titles;
mod words;
mod years;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use mode::{Contract, Level, Remote};
pub use pay::{Pay, Period};
pub use signals::{Finding, FindingKind};
pub use years::Years;

use lines::Line;
use words::{Field, Section};

/// A job by its description. What is not stated is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    pub title: Option<String>,
    pub level: Option<Level>,
    /// What the job asks for.
    #[serde(default)]
    pub must: Vec<String>,
    /// What is welcome.
    #[serde(default)]
    pub nice: Vec<String>,
    pub years: Option<Years>,
    pub pay: Option<Pay>,
    pub location: Option<String>,
    pub remote: Option<Remote>,
    pub contract: Option<Contract>,
    pub company: Option<String>,
    #[serde(default)]
    pub responsibilities: Vec<String>,
}

/// What a text says about a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The job, if the text describes one.
    pub job: Option<Job>,
    pub findings: Vec<Finding>,
}

/// The most lines of a text that are read.
const MAX_LINES: usize = 5_000;

/// What a text states, and whether it describes a job.
struct Stated {
    job: Job,
    is_job: bool,
    /// Whether a heading or a key names what is asked for.
    listed: bool,
}

/// Reads a text.
pub fn parse(text: &str) -> Parsed {
    let Stated { job, is_job, .. } = read(text);
    if !is_job {
        return Parsed { job: None, findings: Vec::new() };
    }
    let findings = signals::findings(text, job.pay.is_some());
    Parsed { job: Some(job), findings }
}

/// Reads a text that the caller calls a job: a list of requirements is enough.
pub fn parse_given(text: &str) -> Option<Job> {
    let Stated { job, is_job, listed } = read(text);
    (is_job || listed).then_some(job)
}

fn read(text: &str) -> Stated {
    let lines: Vec<Line> = lines::read(text).into_iter().take(MAX_LINES).collect();
    let mut header = header::read(&lines);
    header.title = header.title.or_else(|| phrases::title(&lines));
    // Parts of the first lines are a guess: a name below "About" is surer.
    if value(&lines, Field::Company, |name| Some(name.len())).is_none() {
        header.company = phrases::company(text).or(header.company);
    }
    let requirements = requirements::read(&lines);
    let listed = requirements.listed;
    let hiring = header.hiring;
    let level = header
        .title
        .as_deref()
        .and_then(mode::level)
        .or_else(|| value(&lines, Field::Level, mode::level));
    let job = Job {
        level,
        must: requirements.must,
        nice: requirements.nice,
        years: find_years(&lines),
        pay: find_pay(&lines),
        location: header.location.clone(),
        remote: value(&lines, Field::Mode, mode::remote_value)
            .or_else(|| value(&lines, Field::Location, mode::remote))
            .or_else(|| first(&lines, mode::remote)),
        contract: value(&lines, Field::Contract, mode::contract)
            .or_else(|| first(&lines, mode::contract)),
        company: header.company.clone(),
        responsibilities: responsibilities(&lines),
        title: header.title,
    };
    let is_job = signals::is_job(text, &lines, &job, listed, hiring);
    Stated { job, is_job, listed }
}

/// What a reader finds in the value of a field.
fn value<T>(lines: &[Line], field: Field, read: impl Fn(&str) -> Option<T>) -> Option<T> {
    let mut values =
        lines.iter().filter_map(|line| line.field.as_ref()).filter(|(name, _)| *name == field);
    values.find_map(|(_, value)| read(value))
}

/// What a reader finds in the first line that has it; lines of sections come last.
fn first<T>(lines: &[Line], read: impl Fn(&str) -> Option<T>) -> Option<T> {
    let plain = lines.iter().filter(|line| line.section == Section::None);
    let rest = lines.iter().filter(|line| line.section != Section::None);
    plain.chain(rest).find_map(|line| read(&line.text))
}

fn find_years(lines: &[Line]) -> Option<Years> {
    let named = value(lines, Field::Years, |text| years::find(text, true));
    named.or_else(|| {
        let (asked, rest): (Vec<&Line>, Vec<&Line>) =
            lines.iter().partition(|line| line.section == Section::Must);
        let found = asked.iter().chain(&rest).find_map(|line| years::find(&line.text, false));
        found.or_else(|| asked.iter().find_map(|line| years::find(&line.text, true)))
    })
}

fn find_pay(lines: &[Line]) -> Option<Pay> {
    if let Some((pay, _)) = value(lines, Field::Pay, |text| pay::find(text, true)) {
        return Some(pay);
    }
    let mut best: Option<(Pay, u8)> = None;
    for sentence in lines.iter().flat_map(|line| sentences::sentences(&line.text)) {
        if let Some((pay, sure)) = pay::find(sentence, false).filter(|(_, sure)| *sure >= 2)
            && best.as_ref().is_none_or(|(_, before)| sure > *before)
        {
            best = Some((pay, sure));
        }
    }
    best.map(|(pay, _)| pay)
}

fn responsibilities(lines: &[Line]) -> Vec<String> {
    let own = lines.iter().filter(|line| line.section == Section::Responsibilities);
    own.flat_map(|line| match &line.field {
        Some((_, value)) => value.split(';').map(|part| part.trim().to_owned()).collect(),
        None => vec![line.text.clone()],
    })
    .collect()
}

#[cfg(test)]
mod tests;
