//! Word: headers, the body, footers, notes and comments, in this order.

use std::collections::HashSet;

use super::Package;
use super::flow::Flow;
use crate::extraction::{Extracted, Limits, Unreadable};
use crate::text::Text;
use crate::xml::{Node, Xml};

pub(crate) fn read(bytes: &[u8], limits: &Limits) -> Result<Extracted, Unreadable> {
    let mut package = Package::open(bytes, limits)?;
    let (name, body) = package.main("word/document.xml")?;
    let (hidden_styles, list_styles) = styles(&mut package, &name)?;
    let flow = Flow {
        hidden_styles,
        list_styles,
        // A page colour or a drawn shape can carry white text.
        dark: body.contains("<w:background ") || body.contains("<wps:wsp"),
        ..Flow::default()
    };
    let mut text = Text::new(limits.text);
    aside(&mut package, &name, "header", &flow, &mut text)?;
    flow.read(&body, limits, &mut text)?;
    drop(body);
    for kind in ["footer", "footnotes", "endnotes", "comments"] {
        aside(&mut package, &name, kind, &flow, &mut text)?;
    }
    let meta = package.metadata()?;
    Ok(text.finish(1, meta))
}

/// Headers, footers, notes and comments. Equal headers of several sections are written once.
fn aside(
    package: &mut Package<'_>,
    main: &str,
    kind: &str,
    flow: &Flow,
    text: &mut Text,
) -> Result<(), Unreadable> {
    let mut seen = HashSet::new();
    for part in package.related(main, kind)? {
        let Some(xml) = package.part(&part)? else { continue };
        if !seen.contains(&xml) {
            flow.read(&xml, package.limits(), text)?;
            seen.insert(xml);
        }
    }
    Ok(())
}

/// The styles whose text is not shown, and those of list items.
fn styles(
    package: &mut Package<'_>,
    main: &str,
) -> Result<(HashSet<String>, HashSet<String>), Unreadable> {
    let (mut hidden, mut lists) = (HashSet::new(), HashSet::new());
    for part in package.related(main, "styles")? {
        let Some(text) = package.part(&part)? else { continue };
        let mut xml = Xml::new(&text, package.limits());
        let mut style = None;
        loop {
            match xml.next()? {
                Node::Open(element) => match element.name() {
                    "style" => style = element.attribute("styleId"),
                    "vanish" if element.is_on() => hidden.extend(style.clone()),
                    "numId" => lists.extend(style.clone()),
                    _ => {}
                },
                Node::Close(name) if name == "style" => style = None,
                Node::End => break,
                Node::Close(_) | Node::Text(_) => {}
            }
        }
    }
    Ok((hidden, lists))
}
