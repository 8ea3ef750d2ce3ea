//! The tool `tailor_resume`.

use careers::jobs::Job;
use careers::tailoring::{self, Change, Edit, EditError, Goal, NewFact, Tailored};
use kit::{Ctx, Document, Fault, Linked, Work};
use language::prose::Language;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use typeset::{Resume, ResumeTemplate};

use crate::fit::resolve_job;
use crate::input::{self, Given};
use crate::render::{self, FitOptions, Fitted};

/// Chooses the lines that fit and sets them, in a confined process.
pub(crate) const SET_RESUME: Work = Work::new("set-resume", render::fit);

const PDF: &str = "application/pdf";
const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

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
    /// The role to apply for, shown below the name.
    #[schemars(length(min = 1, max = 100))]
    target_role: String,
    /// A job description.
    #[schemars(length(min = 1, max = 200_000))]
    job_text: Option<String>,
    /// The answer of `job-search-mcp:parse_job_description`: lists of at most 200 items, texts of at most 2,000 characters.
    job: Option<Job>,
    #[serde(default)]
    format: Format,
    #[serde(default)]
    template: ResumeTemplate,
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 4))]
    max_pages: usize,
    /// Rewordings, in characters of the stored document. They may not add facts.
    #[serde(default)]
    #[schemars(length(max = 200))]
    edits: Vec<Edit>,
}

fn two() -> usize {
    2
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Format {
    #[default]
    Pdf,
    Docx,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The file, as `tailored_…`.
    ref_id: String,
    format: Format,
    /// Of a DOCX, as many as the same content has as PDF.
    page_count: usize,
    /// Differences from the source, in its order.
    changes: Vec<Change>,
    /// What the job asks for and the result has.
    matched: Vec<String>,
    /// What the job asks for and the result lacks.
    missing: Vec<String>,
    media_type: String,
    name: String,
    size: usize,
    warnings: Vec<String>,
}

pub(crate) async fn tailor(input: Input, ctx: Ctx) -> Result<Linked<Output>, Fault> {
    check(&input)?;
    let Input { target_role, format, template, max_pages, edits, .. } = input;
    let job = match (&input.job_text, &input.job) {
        (None, None) => None,
        _ => Some(resolve_job(input.job_text, input.job).await?),
    };
    let given = Given {
        source_ref_id: input.source_ref_id,
        file_data: input.file_data,
        file_type: input.file_type,
        text: None,
    };
    let resume = input::resolve(given, &ctx).await?;
    let (text, mut warnings) = (resume.text, resume.warnings);
    let role = target_role.clone();
    let (tailored, job, language) = kit::blocking(move || {
        let goal = Goal { role: &role, job: job.as_ref(), edits: &edits };
        let tailored = tailoring::tailor(&text, goal);
        (tailored, job, Language::detect(&text).map(|language| language.code().to_owned()))
    })
    .await?;
    let mut tailored = tailored.map_err(refuse)?;
    if tailored.headline.is_none() {
        warnings.push(
            "target_role is not shown: it is no plain job title, or it states an employer, a number, a degree or a prize that the résumé lacks"
                .to_owned(),
        );
    }
    let laid_out = Resume { language, ..render::resume(&tailored) };
    let options = FitOptions { template, max_pages };
    let (fitted, pdf) = set(&laid_out, options, &ctx).await?;
    warnings.extend(fitted.warnings);
    tailored.drop_below(fitted.dropped_below);
    let goal = Goal { role: &target_role, job: job.as_ref(), edits: &[] };
    let (matched, missing) = tailored.matched(goal);
    let (bytes, media_type) = match format {
        Format::Pdf => (pdf, PDF),
        Format::Docx => (write_docx(&tailored).await?, DOCX),
    };
    if format == Format::Docx {
        warnings.push("page_count is that of the same content as PDF".to_owned());
    }
    let name = file_name(&target_role, format);
    let stored = ctx.store_as("tailored", bytes, media_type, &name).await?;
    let output = Output {
        ref_id: stored.ref_id.clone(),
        format,
        page_count: fitted.page_count,
        changes: tailored.changes,
        matched,
        missing,
        media_type: stored.media_type.clone(),
        name: stored.name.clone(),
        size: stored.size,
        warnings,
    };
    Ok(Linked::new(output, [stored]))
}

fn check(input: &Input) -> Result<(), Fault> {
    let length = input.target_role.chars().count();
    if !input.target_role.contains(char::is_alphabetic) || length > 100 {
        return Err(Fault::invalid_input("/target_role: give a role of 1 to 100 characters"));
    }
    if !(1..=4).contains(&input.max_pages) {
        return Err(Fault::invalid_input("/max_pages: it is at least 1 and at most 4"));
    }
    if input.edits.len() > 200 {
        return Err(Fault::invalid_input("/edits: there are more than 200"));
    }
    match input.edits.iter().position(|edit| edit.text.chars().count() > 2_000) {
        Some(at) => Err(Fault::invalid_input(format!(
            "/edits/{at}/text: it has more than 2,000 characters"
        ))),
        None => Ok(()),
    }
}

/// Lays the résumé out.
async fn set(resume: &Resume, options: FitOptions, ctx: &Ctx) -> Result<(Fitted, Vec<u8>), Fault> {
    let bytes = serde_json::to_vec(resume)
        .map_err(|error| Fault::internal(format!("the résumé cannot be written: {error}")))?;
    let document = Document::new(bytes, "application/json");
    let done = ctx.work(&SET_RESUME, &options, document).await?;
    let fitted = serde_json::from_value(done.value)
        .map_err(|error| Fault::internal(format!("the layout cannot be read: {error}")))?;
    Ok((fitted, done.bytes))
}

async fn write_docx(tailored: &Tailored) -> Result<Vec<u8>, Fault> {
    let document = render::document(tailored);
    let options =
        markup::DocxOptions { author: tailored.name.clone(), ..markup::DocxOptions::default() };
    let written = kit::blocking(move || markup::to_docx(&document, &options)).await?;
    written.map_err(|error| Fault::internal(format!("the DOCX cannot be written: {error}")))
}

/// `Resume_Platform_Engineer.pdf`.
fn file_name(role: &str, format: Format) -> String {
    let words = role.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty());
    let extension = match format {
        Format::Pdf => "pdf",
        Format::Docx => "docx",
    };
    format!("Resume_{}.{extension}", words.collect::<Vec<_>>().join("_"))
}

fn refuse(error: EditError) -> Fault {
    match error {
        EditError::Range { index, length } => Fault::invalid_input(format!(
            "/edits/{index}: it is not within the document of {length} characters"
        )),
        EditError::Overlap { index } => {
            Fault::invalid_input(format!("/edits/{index}: it overlaps another edit"))
        }
        EditError::NewFacts { index, facts } => {
            let facts: Vec<NewFact> = facts.into_iter().take(20).map(shorten).collect();
            let named: Vec<_> = facts.iter().map(|fact| fact.text.as_str()).collect();
            let message = format!(
                "/edits/{index}/text: the résumé does not state {}; leave it out, or add it to the résumé first",
                named.join(", ")
            );
            Fault::invalid_input(message).details(json!({ "reason": "new_facts", "new": facts }))
        }
        EditError::Field { index, text } => {
            let text: String = text.chars().take(100).collect();
            let message = format!(
                "/edits/{index}: the résumé has no entry `{text}`; names, contact data, titles, employers, degrees and their dates may be left out or moved, not changed"
            );
            Fault::invalid_input(message)
                .details(json!({ "reason": "changed_field", "text": text }))
        }
        EditError::Denial { index, word } => {
            let word: String = word.chars().take(60).collect();
            let message = format!(
                "/edits/{index}: the line loses the word `{word}`, which limits what it says; keep it, or leave out the whole line"
            );
            Fault::invalid_input(message).details(json!({ "reason": "lost_limit", "word": word }))
        }
    }
}

fn shorten(fact: NewFact) -> NewFact {
    NewFact { text: fact.text.chars().take(60).collect(), ..fact }
}
