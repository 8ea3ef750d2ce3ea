//! The list of sources that a report cites.

use research::citation;
use research::tools::CitationMetadata;

use super::report::{BibliographyEntry, Style};
use crate::source::Source;

/// Cited sources in the order of the list: by first citation for numbers, by text otherwise.
pub(super) fn order(style: Style, cited: &[usize], sources: &[Source]) -> Vec<usize> {
    let mut order = cited.to_vec();
    if style != Style::Numeric {
        order.sort_by_cached_key(|index| {
            let text = text(style, &sources[*index], None);
            (text.trim_start_matches(['"', '“']).to_lowercase(), *index)
        });
    }
    order
}

pub(super) fn entry(
    style: Style,
    index: usize,
    source: &Source,
    accessed: Option<&str>,
) -> BibliographyEntry {
    BibliographyEntry {
        index,
        text: text(style, source, accessed),
        url: source.url.clone(),
        doi: source.url.as_deref().and_then(doi),
        accessed: accessed.map(str::to_owned),
    }
}

fn text(style: Style, source: &Source, accessed: Option<&str>) -> String {
    // A file may have nothing but its name.
    let unnamed = source.title.is_none() && source.url.is_none();
    let metadata = CitationMetadata {
        title: if unnamed { Some(file_name(&source.id).to_owned()) } else { source.title.clone() },
        author: source.author.clone(),
        site: source.site.clone(),
        date: source.published_at.clone(),
    };
    let style = match style {
        Style::Numeric => citation::Style::Numeric,
        Style::Apa => citation::Style::Apa,
        Style::Mla => citation::Style::Mla,
    };
    let url = source.url.as_deref().unwrap_or_default();
    citation::format(style, url, accessed.unwrap_or_default(), &metadata)
}

/// The name of a file whose path is given: a reader of the report has no use for the folders of this machine.
pub(super) fn file_name(id: &str) -> &str {
    let name = if id.starts_with('/') { id.rsplit('/').next() } else { None };
    name.filter(|name| !name.is_empty()).unwrap_or(id)
}

/// The DOI that a URL of a resolver holds.
fn doi(url: &str) -> Option<String> {
    let (_, doi) = url.split_once("doi.org/")?;
    let doi = doi.split(['?', '#']).next().unwrap_or_default();
    doi.starts_with("10.").then(|| doi.to_owned())
}
