//! The tool `parse_job_description`.

use careers::jobs::{Contract, Finding, Level, Pay, Remote, Years};
use careers::skills::{SkillSpan, SpanKind};
use kit::{Computed, Ctx, Done, Fault, Refused, Work};
use language::prose::Language;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Reads a description, a long one in a confined process.
pub(crate) const PARSE: Work = Work::new("parse-job-description", parse_text);

/// The longest text, in characters.
const MAX_CHARACTERS: usize = 2_000_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The job description, unless a file is given.
    #[schemars(length(min = 1))]
    text: Option<String>,
    /// The text in a file; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_text: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether the text describes a job.
    is_job: bool,
    title: Option<String>,
    /// By a word of the title or a stated level only.
    level: Option<Level>,
    /// What the job asks for.
    must: Vec<String>,
    /// What is welcome.
    nice: Vec<String>,
    years: Option<Years>,
    pay: Option<Pay>,
    location: Option<String>,
    remote: Option<Remote>,
    contract: Option<Contract>,
    company: Option<String>,
    responsibilities: Vec<String>,
    /// Skills in the text, also in one that is no job description.
    skill_spans: Vec<Span>,
    /// What a candidate should be careful about; `no_pay` has no place in the text.
    findings: Vec<Finding>,
}

/// A skill in the text, in characters.
#[derive(Serialize, JsonSchema)]
struct Span {
    r#type: SpanType,
    start: usize,
    end: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SpanType {
    /// What one does.
    Skill,
    /// What one knows.
    Knowledge,
}

pub(crate) async fn parse(input: Input, ctx: Ctx) -> Result<Computed<Output>, Fault> {
    let text = match (input.text, input.file_text) {
        (Some(text), None) | (None, Some(text)) => text,
        (Some(_), Some(_)) => {
            return Err(Fault::invalid_input("/text: give a text or a file, not both"));
        }
        (None, None) => return Err(Fault::invalid_input("/text: give a text, or a file")),
    };
    if !text.contains(char::is_alphabetic) {
        return Err(Fault::invalid_input("/text: it has no words"));
    }
    if text.chars().count() > MAX_CHARACTERS {
        return Err(Fault::invalid_input(format!(
            "/text: it has more than {MAX_CHARACTERS} characters"
        )));
    }
    ctx.compute(&PARSE, &(), &text).await
}

fn parse_text(_: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    kit::compute(&bytes, |(): (), text| Ok(read(text)))
}

fn read(text: &str) -> Output {
    let parsed = careers::jobs::parse(text);
    let is_job = parsed.job.is_some();
    let job = parsed.job.unwrap_or_default();
    Output {
        is_job,
        title: job.title,
        level: job.level,
        must: job.must,
        nice: job.nice,
        years: job.years,
        pay: job.pay,
        location: job.location,
        remote: job.remote,
        contract: job.contract,
        company: job.company,
        responsibilities: job.responsibilities,
        skill_spans: in_characters(text, &spans(text)),
        findings: parsed.findings,
    }
}

/// The model was trained on English; other languages share its term lists.
fn spans(text: &str) -> Vec<SkillSpan> {
    match Language::detect(text) {
        Some(language) if language.code() != "en" => careers::skills::listed_terms(text),
        _ => careers::skills::skill_spans(text),
    }
}

fn in_characters(text: &str, spans: &[SkillSpan]) -> Vec<Span> {
    let (mut byte, mut character) = (0, 0);
    let mut count = |to: usize| {
        character += text[byte..to].chars().count();
        byte = to;
        character
    };
    spans
        .iter()
        .map(|span| Span {
            r#type: match span.kind {
                SpanKind::Skill => SpanType::Skill,
                SpanKind::Knowledge => SpanType::Knowledge,
            },
            start: count(span.start),
            end: count(span.end),
        })
        .collect()
}
