//! arXiv: <https://info.arxiv.org/help/api/user-manual.html>.

use async_trait::async_trait;
use egress::http::Request;
use search::providers::{Api, Fault, endpoint};
use search::settings::ProviderName;
use search::text::tidy;

use super::source::{Page, Search, Source, accept, bare_doi};
use super::xml::Element;
use crate::tools::Publication;

pub(super) struct Arxiv;

#[async_trait]
impl Source for Arxiv {
    fn name(&self) -> ProviderName {
        ProviderName::Arxiv
    }

    async fn search(&self, api: &Api, search: &Search, now: u64) -> Result<Page, Fault> {
        let (words, count) = (query(search), search.count.to_string());
        let parameters = [
            ("search_query", words.as_str()),
            ("start", "0"),
            ("max_results", &count),
            ("sortBy", if search.newest { "submittedDate" } else { "relevance" }),
            ("sortOrder", "descending"),
        ];
        let request = Request::get(endpoint(api.base(), "/api/query", &parameters));
        let reply = accept(api.send(request, now).await?)?;
        read(&reply.body)
    }
}

/// Every word in any field; phrases in quotation marks stay together.
fn query(search: &Search) -> String {
    let mut terms = Vec::new();
    for (index, part) in search.text.split('"').enumerate() {
        let clean = |text: &str| text.replace(|c: char| "()[]{}:\\^~*?".contains(c), " ");
        if index % 2 == 1 && !part.trim().is_empty() {
            terms.push(format!("all:\"{}\"", clean(part).trim()));
        } else {
            let words = clean(part);
            terms.extend(
                words
                    .split_whitespace()
                    .filter(|word| !is_operator(word))
                    .map(|word| format!("all:{word}")),
            );
        }
    }
    let mut query = terms.join(" AND ");
    if search.year_from.is_some() || search.year_to.is_some() {
        let (from, to) = (search.year_from.unwrap_or(1990), search.year_to.unwrap_or(2100));
        let dates = format!("submittedDate:[{from}01010000 TO {to}12312359]");
        query = if query.is_empty() { dates } else { format!("{query} AND {dates}") };
    }
    query
}

fn is_operator(word: &str) -> bool {
    matches!(word, "AND" | "OR" | "ANDNOT" | "-" | "+")
}

fn read(body: &[u8]) -> Result<Page, Fault> {
    let document = Element::parse(body)?;
    let feed = document.find(&["feed"]).ok_or_else(|| Fault::failed("answered without a feed"))?;
    let total = feed.find(&["totalResults"]).and_then(|total| total.text().trim().parse().ok());
    Ok(Page {
        publications: feed.children("entry").filter_map(publication).collect(),
        total: total.unwrap_or_default(),
    })
}

fn publication(entry: &Element) -> Option<Publication> {
    let field =
        |name: &str| entry.find(&[name]).map(|element| tidy(&element.text())).unwrap_or_default();
    let id = field("id");
    // Errors are entries, too.
    let path = id.split_once("/abs/")?.1.to_owned();
    let authors = entry.children("author").filter_map(|author| author.find(&["name"]));
    Some(Publication {
        title: field("title"),
        url: format!("https://arxiv.org/abs/{path}"),
        source: "arxiv".to_owned(),
        summary: field("summary"),
        authors: authors.map(|name| tidy(&name.text())).collect(),
        year: field("published").get(..4).and_then(|year| year.parse().ok()),
        doi: bare_doi(&field("doi")),
        pdf_url: Some(format!("https://arxiv.org/pdf/{path}")),
    })
}

#[cfg(test)]
mod tests;
