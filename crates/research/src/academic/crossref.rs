//! Crossref: <https://api.crossref.org/swagger-ui/index.html>.

use async_trait::async_trait;
use egress::http::Request;
use search::providers::{Api, Fault, endpoint, json, list, some_text, text};
use search::settings::ProviderName;
use search::text::plain;
use serde_json::Value;

use super::source::{Page, Search, Source, accept, bare_doi};
use crate::tools::Publication;

pub(super) struct Crossref {
    pub(super) mailto: Option<String>,
}

#[async_trait]
impl Source for Crossref {
    fn name(&self) -> ProviderName {
        ProviderName::Crossref
    }

    async fn search(&self, api: &Api, search: &Search, now: u64) -> Result<Page, Fault> {
        let rows = search.count.to_string();
        let filter = filter(search);
        let mut parameters = vec![
            ("query.bibliographic", search.text.as_str()),
            ("rows", &rows),
            ("select", "DOI,title,author,abstract,issued,URL,link"),
        ];
        if !filter.is_empty() {
            parameters.push(("filter", &filter));
        }
        if let Some(mailto) = &self.mailto {
            parameters.push(("mailto", mailto));
        }
        let request = Request::get(endpoint(api.base(), "/works", &parameters));
        let answer = json(&accept(api.send(request, now).await?)?)?;
        let message = &answer["message"];
        Ok(Page {
            publications: list(message, "items").iter().filter_map(publication).collect(),
            total: message["total-results"].as_u64().unwrap_or_default(),
        })
    }
}

fn filter(search: &Search) -> String {
    let mut filters = Vec::new();
    if let Some(year) = search.year_from {
        filters.push(format!("from-pub-date:{year}"));
    }
    if let Some(year) = search.year_to {
        filters.push(format!("until-pub-date:{year}"));
    }
    if let Some(prefix) = search.prefix {
        filters.push(format!("prefix:{prefix}"));
    }
    filters.join(",")
}

fn publication(item: &Value) -> Option<Publication> {
    let doi = bare_doi(text(item, "DOI"));
    let title = list(item, "title").first().and_then(Value::as_str).map(plain)?;
    let year =
        item["issued"]["date-parts"][0][0].as_u64().and_then(|year| u16::try_from(year).ok());
    let pdf =
        list(item, "link").iter().find(|link| text(link, "content-type") == "application/pdf");
    let url = some_text(item, "URL")
        .or_else(|| doi.as_ref().map(|doi| format!("https://doi.org/{doi}")))?;
    Some(Publication {
        title,
        url,
        source: "crossref".to_owned(),
        summary: plain(text(item, "abstract")),
        authors: list(item, "author").iter().filter_map(author).collect(),
        year,
        doi,
        pdf_url: pdf.and_then(|link| some_text(link, "URL")),
    })
}

fn author(author: &Value) -> Option<String> {
    let name = match (text(author, "given"), text(author, "family")) {
        ("", "") => text(author, "name").to_owned(),
        (given, family) => format!("{given} {family}"),
    };
    Some(plain(&name)).filter(|name| !name.is_empty())
}
