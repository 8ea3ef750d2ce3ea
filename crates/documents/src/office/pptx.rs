//! PowerPoint: slides in the order in which they are shown, each with its notes.

use extraction::text::{Block, Text};
use extraction::{Extracted, Form, Limits, Metadata, Unreadable, markdown};

use super::flow::Flow;
use super::{Links, Package};
use crate::xml::{Node, Xml};

pub(crate) fn read(bytes: &[u8], form: Form, limits: &Limits) -> Result<Extracted, Unreadable> {
    let mut package = Package::open(bytes, limits)?;
    let (name, presentation) = package.main("ppt/presentation.xml")?;
    // Slides have backgrounds and shapes of any colour, so white text is not a sign of hiding.
    let markdown = form.is_markdown();
    let flow = Flow { paragraphs: Some(Block::Line), dark: true, markdown, ..Flow::default() };
    let written = Flow {
        paragraphs: Some(Block::Line),
        dark: true,
        notes: true,
        markdown,
        ..Flow::default()
    };
    let relations = package.relations(&name)?;
    let mut text = Text::new(limits.text);
    let mut shown = 0;
    for id in slide_ids(&presentation, limits)? {
        let Some(relation) = relations.iter().find(|relation| relation.id == id) else { continue };
        let Some(slide) = package.part(&relation.part)? else { continue };
        if is_hidden(&slide, limits)? {
            let mut hidden = Text::new(limits.text);
            flow.read(&slide, &Links::new(), limits, &mut hidden)?;
            text.hide(&hidden.finish(1, Metadata::default()).text);
            continue;
        }
        shown += 1;
        text.on_page(shown);
        text.set_off();
        let links = package.hyperlinks(&relation.part)?;
        let label = format!("Slide {shown}");
        if !markdown {
            text.block(Block::Line, &label);
        } else if !has_title(&slide, limits)? {
            text.block(Block::Paragraph, &markdown::heading(2, &label));
        }
        flow.read(&slide, &links, limits, &mut text)?;
        for line in package.diagrams(&relation.part)? {
            flow.write(&line, &mut text);
        }
        for notes in package.related(&relation.part, "notesSlide")? {
            let Some(notes) = package.part(&notes)? else { continue };
            text.set_off();
            written.read(&notes, &Links::new(), limits, &mut text)?;
        }
    }
    let meta = package.metadata()?;
    Ok(text.finish(shown, meta))
}

/// The relations of the slides, in order.
pub(super) fn slide_ids(presentation: &str, limits: &Limits) -> Result<Vec<String>, Unreadable> {
    let mut xml = Xml::new(presentation, limits);
    let mut ids = Vec::new();
    loop {
        match xml.next()? {
            Node::Open(element) if element.name() == "sldId" => {
                ids.extend(element.prefixed("id"));
            }
            Node::End => return Ok(ids),
            Node::Open(_) | Node::Close(_) | Node::Text(_) => {}
        }
    }
}

/// Whether a slide shows a title with text.
fn has_title(slide: &str, limits: &Limits) -> Result<bool, Unreadable> {
    let mut xml = Xml::new(slide, limits);
    let (mut in_title, mut hidden) = (false, false);
    loop {
        match xml.next()? {
            Node::Open(element) => match element.name() {
                "sp" => (in_title, hidden) = (false, false),
                "cNvPr" => {
                    hidden = matches!(element.attribute("hidden").as_deref(), Some("1" | "true"));
                }
                "ph" => {
                    let kind = element.attribute("type");
                    in_title = !hidden && matches!(kind.as_deref(), Some("title" | "ctrTitle"));
                }
                "t" if in_title && !xml.text()?.trim().is_empty() => return Ok(true),
                _ => {}
            },
            Node::End => return Ok(false),
            Node::Close(_) | Node::Text(_) => {}
        }
    }
}

/// Whether a slide is hidden in the presentation.
pub(super) fn is_hidden(slide: &str, limits: &Limits) -> Result<bool, Unreadable> {
    let mut xml = Xml::new(slide, limits);
    loop {
        match xml.next()? {
            Node::Open(element) if element.name() == "sld" => {
                return Ok(matches!(element.attribute("show").as_deref(), Some("0" | "false")));
            }
            Node::End => return Ok(false),
            Node::Open(_) | Node::Close(_) | Node::Text(_) => {}
        }
    }
}
