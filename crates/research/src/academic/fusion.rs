//! One list of publications from several: each once, by DOI, then by title.

use std::collections::HashMap;

use crate::router::fuse;
use crate::tools::Publication;

/// Fuses lists by reciprocal rank. What one source does not know is taken from another.
pub(super) fn fuse_publications(lists: Vec<Vec<Publication>>) -> Vec<Publication> {
    // One publication may come with a DOI from one source and without it from another.
    let mut dois: HashMap<String, String> = HashMap::new();
    for publication in lists.iter().flatten() {
        if let (Some(doi), Some(title)) = (&publication.doi, title_key(publication)) {
            dois.entry(title).or_insert_with(|| doi.clone());
        }
    }
    let key = |publication: &Publication| {
        let title = title_key(publication);
        let doi = title.as_ref().and_then(|title| dois.get(title)).or(publication.doi.as_ref());
        Some(match (doi, title) {
            (Some(doi), _) => format!("doi:{doi}"),
            (None, Some(title)) => format!("title:{title}"),
            (None, None) => format!("url:{}", publication.url),
        })
    };
    fuse(lists, key, merge)
}

/// The words of a title in lower case; short titles such as `Editorial` are not unique.
fn title_key(publication: &Publication) -> Option<String> {
    let title = publication.title.to_lowercase();
    let words: Vec<_> =
        title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let key = words.join(" ");
    (words.len() >= 3 || key.chars().count() >= 20).then_some(key)
}

fn merge(kept: &mut Publication, other: Publication) {
    if other.summary.len() > kept.summary.len()
        && (kept.summary.is_empty() || !other.authors.is_empty())
    {
        kept.summary = other.summary;
    }
    if kept.authors.is_empty() {
        kept.authors = other.authors;
    }
    kept.year = kept.year.or(other.year);
    kept.doi = kept.doi.take().or(other.doi);
    kept.pdf_url = kept.pdf_url.take().or(other.pdf_url);
}

#[cfg(test)]
mod tests;
