//! What every source of publications implements.

use async_trait::async_trait;

use crate::providers::{Api, Fault, Reply};
use crate::settings::ProviderName;
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

    /// Where its API is, unless the settings say otherwise.
    fn default_url(&self) -> &'static str;

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

/// The DOI in the address of a page, if it has one.
pub(super) fn doi_in(url: &str) -> Option<String> {
    let path = url.split(['?', '#']).next()?;
    let doi = bare_doi(path.get(path.find("/10.")? + 1..)?)?;
    let doi = doi.strip_suffix(".pdf").unwrap_or(&doi).trim_end_matches('/');
    let doi = doi.strip_suffix("/full").or_else(|| doi.strip_suffix("/abstract")).unwrap_or(doi);
    Some(doi.to_owned())
}

#[cfg(test)]
mod tests;
