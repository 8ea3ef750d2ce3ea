//! The tool `extract_profile`.

use careers::resumes::{Contact, Education, Position, Profile, Timeline};
use careers::skills::{Lexicon, synonyms};
use kit::{Ctx, Fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::input::{self, Given};
use crate::json_resume;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// A `ref_id` of `parse_document`.
    source_ref_id: Option<String>,
    /// The résumé in base64; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_data: Option<String>,
    /// Its media type; the bytes count.
    file_type: Option<String>,
    /// The résumé as text or Markdown.
    #[schemars(length(min = 1))]
    text: Option<String>,
    #[serde(default)]
    format: Format,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Format {
    #[default]
    Profile,
    /// The schema of jsonresume.org.
    JsonResume,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// In the JSON Resume format, if that was asked for; the other fields are empty then.
    #[serde(skip_serializing_if = "Option::is_none")]
    json_resume: Option<Value>,
    contact: Contact,
    experience: Vec<Position>,
    education: Vec<Education>,
    skills: Vec<String>,
    skill_details: Vec<SkillDetail>,
    timeline: Timeline,
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct SkillDetail {
    name: String,
    /// One spelling for all synonyms of the skill.
    canonical: String,
    /// Its identifier in ESCO.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Where it is in the document, in characters.
    spans: Vec<Span>,
}

#[derive(Serialize, JsonSchema)]
struct Span {
    start: usize,
    end: usize,
}

pub(crate) async fn extract(input: Input, ctx: Ctx) -> Result<Output, Fault> {
    let Input { source_ref_id, file_data, file_type, text, format } = input;
    let resume = input::resolve(Given { source_ref_id, file_data, file_type, text }, &ctx).await?;
    let warnings = resume.warnings;
    let text = resume.text;
    let today = input::today();
    let (profile, details) = kit::blocking(move || {
        let profile = careers::resumes::profile(&text);
        let details: Vec<SkillDetail> =
            profile.skills.iter().map(|skill| detail(skill, &text)).collect();
        (profile, details)
    })
    .await?;
    if format == Format::JsonResume {
        let empty = Profile::default();
        return Ok(Output {
            json_resume: Some(json_resume::write(&profile)),
            contact: empty.contact,
            experience: empty.experience,
            education: empty.education,
            skills: empty.skills,
            skill_details: Vec::new(),
            timeline: Timeline::default(),
            warnings,
        });
    }
    Ok(Output {
        json_resume: None,
        timeline: Timeline::of(&profile.experience, today),
        contact: profile.contact,
        experience: profile.experience,
        education: profile.education,
        skills: profile.skills,
        skill_details: details,
        warnings,
    })
}

/// The most positions that are given for one skill.
const MAX_SPANS: usize = 20;

fn detail(skill: &str, text: &str) -> SkillDetail {
    let lower = skill.to_lowercase();
    let canonical = synonyms(skill)
        .into_iter()
        .map(str::to_lowercase)
        .chain([lower.clone()])
        .min_by_key(|name| (name.len(), name.clone()));
    let inside = |sign: Option<char>| sign.is_some_and(char::is_alphanumeric);
    let spans = text.match_indices(skill).filter(|(at, found)| {
        !inside(text[..*at].chars().next_back()) && !inside(text[at + found.len()..].chars().next())
    });
    let spans = spans.take(MAX_SPANS).map(|(at, found)| {
        let start = text[..at].chars().count();
        Span { start, end: start + found.chars().count() }
    });
    SkillDetail {
        name: skill.to_owned(),
        canonical: canonical.unwrap_or_else(|| lower.clone()),
        id: Lexicon::shipped().esco_id(&lower).map(str::to_owned),
        spans: spans.collect(),
    }
}
