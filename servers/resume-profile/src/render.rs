//! A tailored résumé as a layout and as a document.

use careers::tailoring::{LineKind, Tailored, TailoredPart};
use kit::{Done, Refused};
use markup::{Block, Document, Item, Section, escape_line};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use typeset::{
    PageSize, PartKind, Resume, ResumePart, ResumeSection, ResumeTemplate, TypesetError, fit_resume,
};

/// What the layout is asked for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct FitOptions {
    pub template: ResumeTemplate,
    pub max_pages: usize,
}

/// What the layout says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Fitted {
    pub page_count: usize,
    pub dropped_below: usize,
    pub warnings: Vec<String>,
}

/// Sets a résumé, in a confined process.
pub(crate) fn fit(options: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    let broken =
        |error: serde_json::Error| Refused::new("damaged", format!("it cannot be read: {error}"));
    let options: FitOptions = serde_json::from_value(options).map_err(broken)?;
    let resume: Resume = serde_json::from_slice(&bytes).map_err(broken)?;
    let fitted = fit_resume(&resume, options.template, PageSize::A4, options.max_pages);
    let fitted = fitted.map_err(|error| match error {
        TypesetError::TooLarge { what: "pages that cannot be shortened", limit } => Refused::new(
            "too_large",
            format!("it does not fit on {limit} pages even with positions, degrees and skills alone; raise max_pages"),
        ),
        error => Refused::new(error.kind(), error.to_string()),
    })?;
    let value = Fitted {
        page_count: fitted.pdf.pages,
        dropped_below: fitted.dropped_below,
        warnings: fitted.pdf.warnings,
    };
    Ok(Done { value: serde_json::to_value(value).map_err(broken)?, bytes: fitted.pdf.bytes })
}

/// The lines of a résumé for the layout.
pub(crate) fn resume(tailored: &Tailored) -> Resume {
    let sections = tailored.sections.iter().map(|section| ResumeSection {
        heading: section.heading.clone().unwrap_or_default(),
        parts: section.parts.iter().map(part).collect(),
    });
    Resume {
        name: tailored.name.clone().unwrap_or_default(),
        headline: tailored.headline.clone().unwrap_or_default(),
        contact: tailored.contact.iter().map(|item| linked(item)).collect(),
        sections: sections.collect(),
        language: None,
    }
}

fn part(part: &TailoredPart) -> ResumePart {
    let kind = match part.kind {
        LineKind::Line => PartKind::Line,
        LineKind::Bullet => PartKind::Bullet,
        LineKind::Dated => PartKind::Dated,
        LineKind::Name => PartKind::Name,
    };
    ResumePart {
        kind,
        text: part.text.clone(),
        dates: part.dates.clone(),
        drop_order: part.drop_order,
    }
}

/// Contact data that can be followed becomes a link.
fn linked(item: &str) -> String {
    let word =
        !item.contains(char::is_whitespace) && !item.contains(['[', ']', '(', ')', '<', '>']);
    if word && item.contains('@') && !item.contains("://") {
        format!("[{item}](mailto:{item})")
    } else if word && (item.starts_with("https://") || item.starts_with("http://")) {
        format!("[{item}]({item})")
    } else {
        item.to_owned()
    }
}

/// The lines of a résumé as a document.
pub(crate) fn document(tailored: &Tailored) -> Document {
    let mut opening = Vec::new();
    opening
        .extend(tailored.headline.iter().map(|role| Block::Paragraph { text: escape_line(role) }));
    if !tailored.contact.is_empty() {
        let items: Vec<String> = tailored.contact.iter().map(|item| linked(item)).collect();
        opening.push(Block::Paragraph { text: items.join(" · ") });
    }
    let mut sections = vec![Section { heading: String::new(), level: 2, blocks: opening }];
    for section in &tailored.sections {
        sections.push(Section {
            heading: section.heading.clone().unwrap_or_default(),
            level: 2,
            blocks: blocks(&section.parts),
        });
    }
    let title = escape_line(tailored.name.as_deref().unwrap_or_default());
    Document { title, sections, references: Vec::new() }
}

fn blocks(parts: &[TailoredPart]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for part in parts {
        let text = part.text.clone();
        match (part.kind, blocks.last_mut()) {
            (LineKind::Bullet, Some(Block::List { items })) => {
                items.push(Item { text, ..Item::default() });
            }
            (LineKind::Bullet, _) => {
                blocks.push(Block::List { items: vec![Item { text, ..Item::default() }] });
            }
            (LineKind::Line, _) => blocks.push(Block::Paragraph { text }),
            (LineKind::Name, _) => blocks.push(Block::Paragraph { text: strong(&text) }),
            (LineKind::Dated, _) => {
                let parts = [strong(&text), escape_line(&part.dates)];
                let parts: Vec<String> =
                    parts.into_iter().filter(|part| !part.is_empty()).collect();
                blocks.push(Block::Paragraph { text: parts.join(" · ") });
            }
        }
    }
    blocks
}

fn strong(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("**{text}**") }
}
