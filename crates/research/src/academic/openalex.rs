//! OpenAlex: <https://developers.openalex.org>.

use async_trait::async_trait;
use egress::http::Request;
use proto::Secret;
use search::providers::{Api, Fault, endpoint, json, list, some_text, text};
use search::settings::ProviderName;
use search::text::{plain, tidy};
use serde_json::Value;

use super::source::{Page, Search, Source, accept, bare_doi};
use crate::tools::Publication;

/// The most words of an abstract.
const MAX_WORDS: usize = 3_000;

pub(super) struct Openalex {
    pub(super) key: Secret,
}

#[async_trait]
impl Source for Openalex {
    fn name(&self) -> ProviderName {
        ProviderName::Openalex
    }

    async fn search(&self, api: &Api, search: &Search, now: u64) -> Result<Page, Fault> {
        let (count, filter) = (search.count.to_string(), filter(search));
        let mut parameters = vec![
            ("search", search.text.as_str()),
            ("per_page", &count),
            ("api_key", self.key.expose()),
        ];
        if !filter.is_empty() {
            parameters.push(("filter", &filter));
        }
        let request = Request::get(endpoint(api.base(), "/works", &parameters));
        let answer = json(&accept(api.send(request, now).await?)?)?;
        Ok(Page {
            publications: list(&answer, "results").iter().filter_map(publication).collect(),
            total: answer["meta"]["count"].as_u64().unwrap_or_default(),
        })
    }
}

fn filter(search: &Search) -> String {
    let mut filters = Vec::new();
    if let Some(year) = search.year_from {
        filters.push(format!("from_publication_date:{year}-01-01"));
    }
    if let Some(year) = search.year_to {
        filters.push(format!("to_publication_date:{year}-12-31"));
    }
    if search.pdf_only {
        filters.push("is_oa:true".to_owned());
    }
    filters.join(",")
}

fn publication(item: &Value) -> Option<Publication> {
    let doi = bare_doi(text(item, "doi"));
    let place = &item["primary_location"];
    let url = some_text(place, "landing_page_url")
        .or_else(|| some_text(item, "doi"))
        .or_else(|| some_text(item, "id"))?;
    let authors = list(item, "authorships")
        .iter()
        .filter_map(|one| some_text(&one["author"], "display_name"));
    let pdf =
        some_text(place, "pdf_url").or_else(|| some_text(&item["best_oa_location"], "pdf_url"));
    Some(Publication {
        title: some_text(item, "title")
            .or_else(|| some_text(item, "display_name"))
            .map(|title| plain(&title))?,
        url,
        source: "openalex".to_owned(),
        summary: abstract_of(&item["abstract_inverted_index"]),
        authors: authors.map(|name| tidy(&name)).collect(),
        year: item["publication_year"].as_u64().and_then(|year| u16::try_from(year).ok()),
        doi,
        pdf_url: pdf,
    })
}

/// Abstracts come as words with their positions.
fn abstract_of(index: &Value) -> String {
    let Some(index) = index.as_object() else { return String::new() };
    let mut words: Vec<(u64, &str)> = Vec::new();
    for (word, positions) in index {
        let positions = positions.as_array().into_iter().flatten().filter_map(Value::as_u64);
        words.extend(positions.map(|position| (position, word.as_str())).take(MAX_WORDS));
        if words.len() > MAX_WORDS {
            break;
        }
    }
    words.sort_unstable();
    let words: Vec<_> = words.into_iter().map(|(_, word)| word).collect();
    plain(&words.join(" "))
}
