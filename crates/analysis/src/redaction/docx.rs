//! Word documents, redacted: parts that display needs are written again with replaced texts, all others are dropped.

mod kinds;
mod package;
mod pictures;
mod texts;
mod walk;
mod xml;

use std::collections::BTreeMap;
use std::ops::Range;

use extraction::{Limits, Unreadable};

use super::{Mode, Plan, Target, found_in};
use package::{Content, Package};
use texts::{Checked, Edited, PlainValues, Texts};
use walk::walk;

/// What the target of a link with a value becomes.
const NO_TARGET: &str = "about:blank";

/// A redacted document.
#[derive(Debug)]
pub struct RedactedDocument {
    pub bytes: Vec<u8>,
    /// How many places of each type were redacted.
    pub counts: BTreeMap<String, usize>,
    /// How many redacted values are still in the result; 0 unless this code is at fault.
    pub leftovers: usize,
    /// The redacted values, as they were found.
    pub values: Vec<String>,
    /// What was dropped, and what was not read.
    pub warnings: Vec<String>,
}

/// The texts of a part, where they begin in the text of the document, and the places of its links.
struct PartTexts {
    texts: Texts,
    offset: usize,
    links: Vec<Range<usize>>,
}

/// Redacts what `find` marks in the text of a document.
pub fn redact(
    bytes: &[u8],
    limits: &Limits,
    mode: Mode,
    find: impl Fn(&str) -> Vec<Target>,
) -> Result<RedactedDocument, Unreadable> {
    let mut package = Package::open(bytes, limits)?;
    let (whole, parts) = read(&package, limits)?;
    let plan = Plan::new(&whole, found_in(&whole, find), mode);
    let mut plain = PlainValues::new(&plan.search);
    for (part, texts) in package.parts.iter_mut().zip(&parts) {
        if let Content::Xml(xml) = &part.content {
            let mut edited = Edited::new(&texts.texts, &plan, texts.offset, &mut plain);
            part.content = Content::Xml(walk(xml, &part.kept, limits, &mut edited)?);
        }
        for (link, place) in part.links.iter_mut().zip(&texts.links) {
            if plan.touches(place.start + texts.offset..place.end + texts.offset) {
                NO_TARGET.clone_into(&mut link.target);
            }
        }
    }
    let bytes = package.write()?;
    let leftovers = count_leftovers(&bytes, limits, &plan)?;
    // In the order of the text.
    let repeats: Vec<Range<usize>> = parts
        .iter()
        .flat_map(|part| {
            let moved =
                |repeat: &Range<usize>| repeat.start + part.offset..repeat.end + part.offset;
            part.texts.repeats.iter().map(moved)
        })
        .collect();
    let is_repeat = |place: &Range<usize>| {
        let at = repeats.partition_point(|repeat| repeat.end < place.end);
        repeats.get(at).is_some_and(|repeat| repeat.start <= place.start)
    };
    let counts = plan.counts_of(|place| !is_repeat(place));
    let values = plan.values().to_vec();
    Ok(RedactedDocument { bytes, counts, leftovers, values, warnings: warnings(&package) })
}

/// The text of a document, as [`redact`] sees it.
pub fn text(bytes: &[u8], limits: &Limits) -> Result<String, Unreadable> {
    Ok(read(&Package::open(bytes, limits)?, limits)?.0)
}

fn read(package: &Package, limits: &Limits) -> Result<(String, Vec<PartTexts>), Unreadable> {
    let mut whole = String::new();
    let mut parts = Vec::with_capacity(package.parts.len());
    for part in &package.parts {
        let mut texts = Texts::new(limits.text.saturating_sub(whole.len()));
        if let Content::Xml(xml) = &part.content {
            walk(xml, &part.kept, limits, &mut texts)?;
            texts.finish();
        }
        let links = part.links.iter().map(|link| texts.add_note(&link.target)).collect();
        let offset = whole.len();
        whole.push_str(&texts.text);
        parts.push(PartTexts { texts, offset, links });
    }
    Ok((whole, parts))
}

/// Reads the result again: texts joined over runs, links, and every other attribute.
fn count_leftovers(bytes: &[u8], limits: &Limits, plan: &Plan) -> Result<usize, Unreadable> {
    let package = Package::open(bytes, limits)?;
    let mut plain = PlainValues::new(&plan.search);
    let mut count = package.dropped.values().sum();
    for part in &package.parts {
        match &part.content {
            Content::Xml(xml) => {
                let texts = Texts::new(usize::MAX);
                let mut checked = Checked { texts, plain: &mut plain, found: 0 };
                walk(xml, &part.kept, limits, &mut checked)?;
                checked.texts.finish();
                count += checked.found + plan.leftovers(&checked.texts.text);
            }
            Content::Picture { .. } => {}
        }
        count += part.links.iter().map(|link| plan.leftovers(&link.target)).sum::<usize>();
    }
    Ok(count)
}

fn warnings(package: &Package) -> Vec<String> {
    let mut warnings = Vec::new();
    if !package.dropped.is_empty() {
        let dropped: Vec<String> =
            package.dropped.iter().map(|(what, count)| format!("{what} ({count})")).collect();
        warnings.push(format!("dropped, as display does not need them: {}", dropped.join(", ")));
    }
    let is_picture = |part: &&package::Part| matches!(part.content, Content::Picture { .. });
    let pictures = package.parts.iter().filter(is_picture).count();
    if pictures > 0 {
        warnings.push(format!(
            "{pictures} pictures were not read; look at them before you share the document"
        ));
    }
    warnings
}

#[cfg(test)]
mod tests;
