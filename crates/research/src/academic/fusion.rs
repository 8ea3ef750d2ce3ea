//! One list of publications from several: each once, by DOI, then by title.

use std::collections::HashMap;

use language::ranking::fuse_merging;
use search::links::web_url;

use super::source::doi_in;
use crate::tools::Publication;

/// Fuses lists by reciprocal rank. What one source does not know is taken from another.
pub(super) fn fuse_publications(mut lists: Vec<Vec<Publication>>) -> Vec<Publication> {
    let doi_of_page = |one: &Publication| web_url(&one.url).and_then(|url| doi_in(&url));
    for publication in lists.iter_mut().flatten().filter(|one| one.doi.is_none()) {
        publication.doi = doi_of_page(publication);
    }
    // One publication may come with a DOI from one source and without it from another.
    let mut dois: HashMap<String, String> = HashMap::new();
    // A preprint has another DOI than its article.
    let mut articles: HashMap<String, String> = HashMap::new();
    for publication in lists.iter().flatten() {
        let Some(doi) = &publication.doi else { continue };
        let first = match title_key(publication) {
            Some(title) => &*dois.entry(title).or_insert_with(|| doi.clone()),
            None => doi,
        };
        for own in doi_of_page(publication).into_iter().chain([doi.clone()]) {
            articles.entry(own).or_insert_with(|| first.clone());
        }
    }
    let key = |publication: &Publication| {
        let title = title_key(publication);
        let doi = title.as_ref().and_then(|title| dois.get(title)).or(publication.doi.as_ref());
        Some(match (doi, title) {
            (Some(doi), _) => format!("doi:{}", articles.get(doi).unwrap_or(doi)),
            (None, Some(title)) => format!("title:{title}"),
            (None, None) => format!("url:{}", publication.url),
        })
    };
    fuse_merging(lists, key, merge).into_iter().map(|fused| fused.item).collect()
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
