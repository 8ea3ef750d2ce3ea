//! What every source of publications implements.

use async_trait::async_trait;
use search::links::is_of_site;
use search::providers::{Api, Fault, Reply};
use search::settings::ProviderName;
use url::Url;

use crate::tools::Publication;

/// A search for publications.
#[derive(Clone, Debug)]
pub(super) struct Search {
    pub(super) text: String,
    pub(super) count: usize,
    pub(super) year_from: Option<u16>,
    pub(super) year_to: Option<u16>,
    /// Newest first, where the source can.
    pub(super) newest: bool,
    /// Only publications whose DOI begins so.
    pub(super) prefix: Option<&'static str>,
    pub(super) pdf_only: bool,
}

impl Search {
    /// `2019-2021`, `2019-` or `-2021`.
    pub(super) fn years(&self) -> Option<String> {
        let year = |year: Option<u16>| year.map(|year| year.to_string()).unwrap_or_default();
        (self.year_from.is_some() || self.year_to.is_some())
            .then(|| format!("{}-{}", year(self.year_from), year(self.year_to)))
    }
}

/// What a source found.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Page {
    pub(super) publications: Vec<Publication>,
    pub(super) total: u64,
}

/// A source of publications.
#[async_trait]
pub(super) trait Source: Send + Sync {
    fn name(&self) -> ProviderName;

    async fn search(&self, api: &Api, search: &Search, now: u64) -> Result<Page, Fault>;
}

/// The answer, if its status is success.
pub(super) fn accept(reply: Reply) -> Result<Reply, Fault> {
    match reply.fault() {
        Some(fault) => Err(fault),
        None => Ok(reply),
    }
}

/// A DOI without its resolver, in lower case.
pub(super) fn bare_doi(text: &str) -> Option<String> {
    let text = text.trim();
    let start = text.find("10.")?;
    let doi = text[start..].to_ascii_lowercase();
    let (prefix, suffix) = doi.split_once('/')?;
    let valid =
        prefix[3..].bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && prefix.len() >= 7;
    (valid && !suffix.is_empty() && doi.len() <= 300).then_some(doi)
}

/// The DOI in the address of a page, or the one that arXiv and Nature derive from their own ids.
pub(super) fn doi_in(url: &Url) -> Option<String> {
    if let Some(id) = arxiv_id(url) {
        return arxiv_doi(id);
    }
    let path = url.path();
    if let Some(article) = path.strip_prefix("/articles/").filter(|_| is_of_site(url, "nature.com"))
    {
        let id = article.split('/').next()?;
        return bare_doi(&format!("10.1038/{}", id.strip_suffix(".pdf").unwrap_or(id)));
    }
    let doi = bare_doi(path.get(path.find("/10.")? + 1..)?)?;
    let doi = doi.strip_suffix(".pdf").unwrap_or(&doi).trim_end_matches('/');
    let doi = doi.strip_suffix("/full").or_else(|| doi.strip_suffix("/abstract")).unwrap_or(doi);
    Some(doi.to_owned())
}

/// The id of a preprint in its address on arXiv: `1706.03762v7`, `hep-th/9901001`.
pub(super) fn arxiv_id(url: &Url) -> Option<&str> {
    let path = url.path();
    let id = ["/abs/", "/pdf/", "/html/"].iter().find_map(|folder| path.strip_prefix(folder))?;
    let id = id.strip_suffix(".pdf").unwrap_or(id).trim_end_matches('/');
    (is_of_site(url, "arxiv.org") && is_arxiv_id(id)).then_some(id)
}

/// Whether a text is the id of a preprint: digits with a dot, or the archive's name and digits.
pub(super) fn is_arxiv_id(text: &str) -> bool {
    let digits = |text: &str| text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = without_version(text);
    match (text.split_once('/'), text.split_once('.')) {
        (Some((archive, number)), _) => {
            let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'-' || byte == b'.';
            archive.bytes().all(is_letter) && !archive.is_empty() && digits(number)
        }
        (None, Some((month, number))) => month.len() == 4 && digits(month) && digits(number),
        (None, None) => false,
    }
}

/// arXiv's own DOI of a preprint, which is the same for all versions.
pub(super) fn arxiv_doi(id: &str) -> Option<String> {
    bare_doi(&format!("10.48550/arxiv.{}", without_version(id)))
}

fn without_version(id: &str) -> &str {
    match id.rsplit_once('v') {
        Some((front, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => front,
        _ => id,
    }
}

#[cfg(test)]
mod tests;
