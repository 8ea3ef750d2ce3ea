//! Semantic Scholar: <https://api.semanticscholar.org/api-docs/graph>.

use async_trait::async_trait;
use egress::http::Request;
use http::header::HeaderName;
use proto::Secret;
use search::providers::{Api, Fault, endpoint, json, list, some_text, text, with_key};
use search::settings::ProviderName;
use search::text::tidy;
use serde_json::Value;

use super::source::{Page, Search, Source, accept, arxiv_doi, bare_doi};
use crate::tools::Publication;

const KEY: HeaderName = HeaderName::from_static("x-api-key");

pub(super) struct SemanticScholar {
    pub(super) key: Option<Secret>,
}

#[async_trait]
impl Source for SemanticScholar {
    fn name(&self) -> ProviderName {
        ProviderName::SemanticScholar
    }

    async fn search(&self, api: &Api, search: &Search, now: u64) -> Result<Page, Fault> {
        let (limit, years) = (search.count.to_string(), search.years());
        let mut parameters = vec![
            ("query", search.text.as_str()),
            ("limit", &limit),
            ("fields", "title,abstract,year,authors,url,externalIds,openAccessPdf"),
        ];
        if let Some(years) = &years {
            parameters.push(("year", years));
        }
        if search.pdf_only {
            parameters.push(("openAccessPdf", ""));
        }
        let request = Request::get(endpoint(api.base(), "/graph/v1/paper/search", &parameters));
        let request = match &self.key {
            Some(key) => with_key(request, KEY, "", key),
            None => request,
        };
        let answer = json(&accept(api.send(request, now).await?)?)?;
        Ok(Page {
            publications: list(&answer, "data").iter().filter_map(publication).collect(),
            total: answer["total"].as_u64().unwrap_or_default(),
        })
    }
}

fn publication(item: &Value) -> Option<Publication> {
    let ids = &item["externalIds"];
    let doi = bare_doi(text(ids, "DOI"))
        .or_else(|| some_text(ids, "ArXiv").and_then(|id| arxiv_doi(&id)));
    let url = some_text(item, "url")
        .or_else(|| doi.as_ref().map(|doi| format!("https://doi.org/{doi}")))?;
    let authors = list(item, "authors").iter().filter_map(|author| some_text(author, "name"));
    Some(Publication {
        title: some_text(item, "title").map(|title| tidy(&title))?,
        url,
        source: "semantic_scholar".to_owned(),
        summary: tidy(text(item, "abstract")),
        authors: authors.map(|name| tidy(&name)).collect(),
        year: item["year"].as_u64().and_then(|year| u16::try_from(year).ok()),
        doi,
        pdf_url: some_text(&item["openAccessPdf"], "url"),
    })
}
