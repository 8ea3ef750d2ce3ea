//! Word: headers, the body, footers, notes and comments, in this order.

use std::collections::HashSet;

use extraction::text::Text;
use extraction::{Extracted, Form, Limits, Unreadable};

use super::Package;
use super::flow::Flow;
use super::styles::Styles;

pub(crate) fn read(bytes: &[u8], form: Form, limits: &Limits) -> Result<Extracted, Unreadable> {
    let mut package = Package::open(bytes, limits)?;
    let (name, body) = package.main("word/document.xml")?;
    let flow = Flow {
        styles: Styles::read(&mut package, &name)?,
        markdown: form.is_markdown(),
        // A page colour or a drawn shape can carry white text.
        dark: body.contains("<w:background ") || body.contains("<wps:wsp"),
        ..Flow::default()
    };
    let mut text = Text::new(limits.text);
    if !form.is_main() {
        aside(&mut package, &name, "header", &flow, &mut text)?;
    }
    let links = package.hyperlinks(&name)?;
    flow.read(&body, &links, limits, &mut text)?;
    drop(body);
    for line in package.diagrams(&name)? {
        flow.write(&line, &mut text);
    }
    let asides: &[&str] = if form.is_main() {
        &["footnotes", "endnotes"]
    } else {
        &["footer", "footnotes", "endnotes", "comments"]
    };
    for kind in asides {
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
            let links = package.hyperlinks(&part)?;
            flow.read(&xml, &links, package.limits(), text)?;
            seen.insert(xml);
        }
    }
    Ok(())
}
