//! Résumés as PDF: a layout of its own, and the choice of what fits on a number of pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::TypesetError;
use crate::fonts::Fonts;
use crate::inline::{Inline, Run};
use crate::layout::{Layout, PageSize};
use crate::render::{Pdf, render};

const TEMPLATE: &str = include_str!("templates/resume.typ");
/// Lines and bullets.
const MAX_PARTS: usize = 5_000;
const MAX_BYTES: usize = 1 << 20;

/// A résumé. Its texts are inline Markdown, except name, headline and dates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    pub name: String,
    /// Below the name.
    pub headline: String,
    pub contact: Vec<String>,
    pub sections: Vec<ResumeSection>,
    /// ISO 639.
    pub language: Option<String>,
}

/// A heading, which may be empty, and what follows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumeSection {
    pub heading: String,
    pub parts: Vec<ResumePart>,
}

/// A line of a résumé.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumePart {
    pub kind: PartKind,
    pub text: String,
    /// Of a dated line.
    pub dates: String,
    /// Parts with low numbers are left out first where there are too many; those without one never.
    pub drop_order: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    #[default]
    Line,
    Bullet,
    /// A position or degree, with its dates at the right.
    Dated,
    /// A line that belongs to the next one, such as a company above a dated title.
    Name,
}

/// The look of a résumé.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ResumeTemplate {
    /// A centred name, and rules below headings.
    #[default]
    Classic,
    /// Smaller type and margins.
    Compact,
    /// Black on white, contact data in lines: the safest for automatic screening.
    Plain,
}

/// A résumé that fits, and what it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedResume {
    pub pdf: Pdf,
    /// Parts whose order is lower are left out.
    pub dropped_below: usize,
}

#[derive(Serialize)]
struct Content<'a> {
    template: ResumeTemplate,
    tight: bool,
    page: &'static str,
    language: &'a str,
    name: &'a str,
    headline: &'a str,
    contact: &'a [Vec<Run>],
    sections: Vec<SectionContent>,
}

#[derive(Serialize)]
struct SectionContent {
    heading: Vec<Run>,
    parts: Vec<PartContent>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum PartContent {
    Dated { runs: Vec<Run>, dates: String },
    Name { runs: Vec<Run> },
    Line { runs: Vec<Run> },
    Bullets { items: Vec<Vec<Run>> },
}

/// Sets a résumé on at most `max_pages` pages: closer lines first, then without as few parts as needed, in their order.
/// [`TypesetError::TooLarge`] if what may not be left out needs more pages.
pub fn fit_resume(
    resume: &Resume,
    template: ResumeTemplate,
    page: PageSize,
    max_pages: usize,
) -> Result<FittedResume, TypesetError> {
    check_size(resume)?;
    let set = |tight: bool, dropped: usize| set_resume(resume, template, page, tight, dropped);
    for tight in [false, true] {
        let pdf = set(tight, 0)?;
        if pdf.pages <= max_pages {
            return Ok(FittedResume { pdf, dropped_below: 0 });
        }
    }
    let parts = resume.sections.iter().flat_map(|section| &section.parts);
    let all = parts.filter_map(|part| part.drop_order).max().map_or(0, |last| last + 1);
    let mut best = set(true, all)?;
    if best.pages > max_pages {
        return Err(TypesetError::TooLarge {
            what: "pages that cannot be shortened",
            limit: max_pages,
        });
    }
    // Fewer parts never need more pages, so the least number that fits is found by halving.
    let (mut fits, mut exceeds) = (all, 0);
    while fits - exceeds > 1 {
        let middle = exceeds + (fits - exceeds) / 2;
        let pdf = set(true, middle)?;
        if pdf.pages <= max_pages {
            (fits, best) = (middle, pdf);
        } else {
            exceeds = middle;
        }
    }
    Ok(FittedResume { pdf: best, dropped_below: fits })
}

fn set_resume(
    resume: &Resume,
    template: ResumeTemplate,
    page: PageSize,
    tight: bool,
    dropped_below: usize,
) -> Result<Pdf, TypesetError> {
    let mut inline = Inline::default();
    let layout = Layout { language: resume.language.clone(), ..Layout::default() };
    let (name, headline) = (inline.clean(&resume.name), inline.clean(&resume.headline));
    let contact: Vec<Vec<Run>> = resume.contact.iter().map(|line| inline.runs(line)).collect();
    let sections =
        resume.sections.iter().map(|section| content_of(section, dropped_below, &mut inline));
    let content = Content {
        template,
        tight,
        page: page.name(),
        language: layout.language_code(),
        name: &name,
        headline: &headline,
        contact: &contact,
        sections: sections.collect(),
    };
    let mut pdf = render(TEMPLATE, &content, Vec::new())?;
    pdf.warnings.extend(Fonts::shipped().warn_about(&inline.seen));
    Ok(pdf)
}

/// A section with its bullets in lists; without its heading if nothing of it is left.
fn content_of(
    section: &ResumeSection,
    dropped_below: usize,
    inline: &mut Inline,
) -> SectionContent {
    let mut parts = Vec::new();
    for part in &section.parts {
        if part.drop_order.is_some_and(|order| order < dropped_below) {
            continue;
        }
        let runs = inline.runs(&part.text);
        match (part.kind, parts.last_mut()) {
            (PartKind::Bullet, Some(PartContent::Bullets { items })) => items.push(runs),
            (PartKind::Bullet, _) => parts.push(PartContent::Bullets { items: vec![runs] }),
            (PartKind::Line, _) => parts.push(PartContent::Line { runs }),
            (PartKind::Name, _) => parts.push(PartContent::Name { runs }),
            (PartKind::Dated, _) => {
                parts.push(PartContent::Dated { runs, dates: inline.clean(&part.dates) });
            }
        }
    }
    let left = section.parts.is_empty() || !parts.is_empty();
    let heading = if left { inline.runs(&section.heading) } else { Vec::new() };
    SectionContent { heading, parts }
}

fn check_size(resume: &Resume) -> Result<(), TypesetError> {
    let parts = || resume.sections.iter().flat_map(|section| &section.parts);
    let bytes = parts().map(|part| part.text.len() + part.dates.len()).sum::<usize>()
        + resume.contact.iter().map(String::len).sum::<usize>();
    if parts().count() > MAX_PARTS {
        return Err(TypesetError::TooLarge { what: "lines", limit: MAX_PARTS });
    }
    if bytes > MAX_BYTES {
        return Err(TypesetError::TooLarge { what: "bytes of text", limit: MAX_BYTES });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
