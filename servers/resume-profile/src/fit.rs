//! The tools `score_fit` and `rank_jobs`.

use careers::fit::{self, Candidate, Fit, Part};
use careers::jobs::Job;
use careers::resumes::Profile;
use kit::{Ctx, Fault, Skipped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::input::{self, Given};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FitInput {
    /// A `ref_id` of `parse_document`.
    source_ref_id: Option<String>,
    /// The résumé in base64; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_data: Option<String>,
    /// Its media type; the bytes count.
    file_type: Option<String>,
    /// The answer of `extract_profile`.
    profile: Option<Profile>,
    /// A job description.
    #[schemars(length(min = 1, max = 200_000))]
    job_text: Option<String>,
    /// The answer of `job-search-mcp:parse_job_description`: lists of at most 200 items, texts of at most 2,000 characters.
    job: Option<Job>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RankInput {
    /// A `ref_id` of `parse_document`.
    source_ref_id: Option<String>,
    /// The résumé in base64; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_data: Option<String>,
    /// Its media type; the bytes count.
    file_type: Option<String>,
    /// The answer of `extract_profile`.
    profile: Option<Profile>,
    /// Job descriptions.
    #[schemars(length(min = 1, max = 50))]
    jobs: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Ranking {
    /// The best first.
    ranking: Vec<Ranked>,
    warnings: Vec<String>,
    /// Texts that are not recognised as job descriptions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<Skipped>,
}

#[derive(Serialize, JsonSchema)]
struct Ranked {
    /// The place in `jobs`, counted from 0.
    index: usize,
    score: f64,
    parts: Vec<Part>,
    missing_must: Vec<String>,
}

pub(crate) async fn score_fit(input: FitInput, ctx: Ctx) -> Result<Fit, Fault> {
    let FitInput { source_ref_id, file_data, file_type, profile, job_text, job } = input;
    let job = resolve_job(job_text, job).await?;
    let given = Given { source_ref_id, file_data, file_type, text: None };
    let (candidate, _) = candidate(given, profile, &ctx).await?;
    let fit = kit::blocking(move || fit::score(&candidate, &job)).await?;
    fit.ok_or_else(|| {
        Fault::invalid_input("/job: it states neither requirements, nor years, nor a title")
    })
}

pub(crate) async fn rank_jobs(input: RankInput, ctx: Ctx) -> Result<Ranking, Fault> {
    let RankInput { source_ref_id, file_data, file_type, profile, jobs } = input;
    let given = Given { source_ref_id, file_data, file_type, text: None };
    let (candidate, warnings) = candidate(given, profile, &ctx).await?;
    let fits = kit::blocking(move || {
        let fits =
            jobs.iter().map(|text| fit::score(&candidate, &careers::jobs::parse_given(text)?));
        fits.collect::<Vec<Option<Fit>>>()
    })
    .await?;
    let (mut ranking, mut skipped) = (Vec::new(), Vec::new());
    for (index, fit) in fits.into_iter().enumerate() {
        let Some(fit) = fit else {
            skipped.push(Skipped {
                what: format!("/jobs/{index}"),
                why: "it is not recognised as a job description".to_owned(),
                fix: "give its title and its requirements, each on a line of its own".to_owned(),
            });
            continue;
        };
        ranking.push(Ranked {
            index,
            score: fit.score,
            parts: fit.parts,
            missing_must: fit.missing_must,
        });
    }
    if ranking.is_empty() {
        return Err(no_job("/jobs/0"));
    }
    ranking.sort_by(|left, right| right.score.total_cmp(&left.score));
    Ok(Ranking { ranking, warnings, skipped })
}

/// The job that a text or a parsed description gives.
pub(crate) async fn resolve_job(text: Option<String>, job: Option<Job>) -> Result<Job, Fault> {
    match (text, job) {
        (Some(text), None) => kit::blocking(move || careers::jobs::parse_given(&text))
            .await?
            .ok_or_else(|| no_job("/job_text")),
        (None, Some(job)) => check_job(&job).map(|()| job),
        _ => Err(Fault::invalid_input("/job_text: give `job_text` or `job`")),
    }
}

/// The most items of a list of a job.
const MAX_ITEMS: usize = 200;
/// The most characters of a text of a job.
const MAX_CHARACTERS: usize = 2_000;

fn check_job(job: &Job) -> Result<(), Fault> {
    let long = |text: &String| text.chars().nth(MAX_CHARACTERS).is_some();
    let lists =
        [("must", &job.must), ("nice", &job.nice), ("responsibilities", &job.responsibilities)];
    for (name, list) in lists {
        if list.len() > MAX_ITEMS {
            return Err(Fault::invalid_input(format!("/job/{name}: it has more than 200 items")));
        }
        if let Some(at) = list.iter().position(long) {
            return Err(too_long(&format!("{name}/{at}")));
        }
    }
    let texts = [("title", &job.title), ("location", &job.location), ("company", &job.company)];
    match texts.iter().find(|(_, text)| text.as_ref().is_some_and(long)) {
        Some((name, _)) => Err(too_long(name)),
        None => Ok(()),
    }
}

fn too_long(name: &str) -> Fault {
    Fault::invalid_input(format!("/job/{name}: it has more than 2,000 characters"))
}

fn no_job(path: &str) -> Fault {
    Fault::invalid_input(format!(
        "{path}: it is not recognised as a job description; give the title and the requirements, each on a line of its own, \
         such as `Essential: Python`"
    ))
}

async fn candidate(
    given: Given,
    profile: Option<Profile>,
    ctx: &Ctx,
) -> Result<(Candidate, Vec<String>), Fault> {
    let today = input::today();
    match profile {
        Some(profile) if given.is_none() => {
            Ok((Candidate::of_profile(&profile, today), Vec::new()))
        }
        Some(_) => Err(Fault::invalid_input("/profile: give a profile, or a reference, or a file")),
        None => {
            let resume = input::resolve(given, ctx).await?;
            let text = resume.text;
            let candidate = kit::blocking(move || Candidate::of_document(&text, today)).await?;
            Ok((candidate, resume.warnings))
        }
    }
}
