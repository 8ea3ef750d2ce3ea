//! The tool `parse_document`.

use careers::resumes::{Profile, Section, SectionKind};
use kit::{Ctx, Fault, Linked};
use language::prose::Language;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::input::{self, MAX_PAGES, Resume};

/// Résumés of more pages are rarely read to their end.
const USUAL_PAGES: usize = 3;
const USUAL_WORDS: usize = 1_500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The résumé in base64; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_data: String,
    /// Its media type; the bytes count.
    file_type: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The document as Markdown, for `source_ref_id` of other tools.
    ref_id: String,
    /// The name of the stored document.
    name: String,
    /// Its size in bytes.
    size: usize,
    page_count: usize,
    /// The kind of the given file.
    media_type: String,
    /// ISO 639-1, if it was recognized.
    language: Option<String>,
    characters: usize,
    /// Whether the document has no text.
    scanned: bool,
    truncated: bool,
    /// By headings, in characters of the stored document.
    sections: Vec<Section>,
    /// Parts that automatic screening reads badly.
    findings: Vec<Finding>,
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Finding {
    kind: FindingKind,
    message: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FindingKind {
    NoContact,
    NoDates,
    MissingSection,
    TooLong,
}

pub(crate) async fn parse(input: Input, ctx: Ctx) -> Result<Linked<Output>, Fault> {
    let mut resume = input::read_file(&input.file_data, input.file_type.as_deref(), &ctx).await?;
    if resume.is_scanned() {
        resume.warnings.push(
            "the document has no text; image-ocr-mcp:extract_document reads scanned pages"
                .to_owned(),
        );
    }
    let text = resume.text.clone();
    let read = move || {
        (
            careers::resumes::sections(&text),
            careers::resumes::profile(&text),
            Language::detect(&text),
        )
    };
    let (sections, profile, language) = kit::blocking(read).await?;
    let findings =
        if resume.is_scanned() { Vec::new() } else { findings(&resume, &profile, &sections) };
    let stored =
        ctx.store_as("doc", resume.text.clone().into_bytes(), "text/markdown", "resume.md").await?;
    let output = Output {
        ref_id: stored.ref_id.clone(),
        name: stored.name.clone(),
        size: stored.size,
        page_count: resume.page_count,
        language: language.map(|language| language.code().to_owned()),
        characters: resume.text.chars().count(),
        scanned: resume.is_scanned(),
        truncated: resume.truncated || resume.page_count > MAX_PAGES,
        media_type: resume.media_type,
        sections,
        findings,
        warnings: resume.warnings,
    };
    Ok(Linked::new(output, [stored]))
}

fn findings(resume: &Resume, profile: &Profile, sections: &[Section]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |kind, message: String| findings.push(Finding { kind, message });
    if profile.contact.email.is_none() && profile.contact.phone.is_none() {
        add(
            FindingKind::NoContact,
            "neither a mail address nor a phone number was found".to_owned(),
        );
    }
    if profile.experience.is_empty() {
        add(
            FindingKind::NoDates,
            "no position with dates was found; write them as `03/2018 – 05/2021`".to_owned(),
        );
    }
    for (kind, name) in [
        (SectionKind::Experience, "experience"),
        (SectionKind::Education, "education"),
        (SectionKind::Skills, "skills"),
    ] {
        if !sections.iter().any(|section| section.kind == kind) {
            add(FindingKind::MissingSection, format!("no heading for {name} was found"));
        }
    }
    let words = resume.text.split_whitespace().count();
    if resume.page_count > USUAL_PAGES || words > USUAL_WORDS {
        add(
            FindingKind::TooLong,
            format!("{} pages and {words} words; {USUAL_PAGES} pages are usual", resume.page_count),
        );
    }
    findings
}
