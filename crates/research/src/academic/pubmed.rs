//! PubMed by NCBI's E-utilities: <https://www.ncbi.nlm.nih.gov/books/NBK25499/>.

use async_trait::async_trait;
use egress::http::Request;
use proto::Secret;
use search::providers::{Api, Fault, Reply, endpoint, json, list, text};
use search::settings::ProviderName;
use search::text::tidy;
use serde_json::Value;

use super::source::{Page, Search, Source, accept, bare_doi};
use super::xml::Element;
use crate::tools::Publication;

pub(super) struct Pubmed {
    pub(super) key: Option<Secret>,
}

#[async_trait]
impl Source for Pubmed {
    fn name(&self) -> ProviderName {
        ProviderName::Pubmed
    }

    async fn search(&self, api: &Api, search: &Search, now: u64) -> Result<Page, Fault> {
        let count = search.count.to_string();
        let mut parameters = vec![
            ("term", search.text.as_str()),
            ("retmode", "json"),
            ("retmax", &count),
            ("sort", if search.newest { "pub_date" } else { "relevance" }),
        ];
        // Both ends of a range are needed.
        let from = search.year_from.unwrap_or(1800).to_string();
        let to = search.year_to.unwrap_or(3000).to_string();
        if search.year_from.is_some() || search.year_to.is_some() {
            parameters.extend([("datetype", "pdat"), ("mindate", &from), ("maxdate", &to)]);
        }
        let answer = json(&self.ask(api, "esearch", parameters, now).await?)?;
        let result = &answer["esearchresult"];
        let ids: Vec<_> = list(result, "idlist").iter().filter_map(Value::as_str).collect();
        let total = text(result, "count").parse().unwrap_or_default();
        if ids.is_empty() {
            return Ok(Page { publications: Vec::new(), total });
        }
        let ids = ids.join(",");
        let articles = self.ask(api, "efetch", vec![("id", &ids), ("retmode", "xml")], now).await?;
        Ok(Page { publications: read(&articles.body)?, total })
    }
}

impl Pubmed {
    async fn ask(
        &self,
        api: &Api,
        tool: &str,
        mut parameters: Vec<(&str, &str)>,
        now: u64,
    ) -> Result<Reply, Fault> {
        parameters.extend([("db", "pubmed"), ("tool", "powerstrip")]);
        if let Some(key) = &self.key {
            parameters.push(("api_key", key.expose()));
        }
        let path = format!("/entrez/eutils/{tool}.fcgi");
        let reply = api.send(Request::get(endpoint(api.base(), &path, &parameters)), now).await?;
        if reply.status == 400 && reply.says("API key invalid") {
            return Err(Fault::invalid_key("NCBI_API_KEY was refused (HTTP 400)"));
        }
        accept(reply)
    }
}

fn read(body: &[u8]) -> Result<Vec<Publication>, Fault> {
    let document = Element::parse(body)?;
    let set = document.find(&["PubmedArticleSet"]);
    let set = set.ok_or_else(|| Fault::failed("answered without articles"))?;
    Ok(set.children("PubmedArticle").filter_map(publication).collect())
}

fn publication(entry: &Element) -> Option<Publication> {
    let citation = entry.find(&["MedlineCitation"])?;
    let article = citation.find(&["Article"])?;
    let pmid = tidy(&citation.find(&["PMID"])?.text());
    let ids = entry.find(&["PubmedData", "ArticleIdList"]);
    let id = |kind: &str| {
        let of_kind = ids?.children("ArticleId").find(|id| id.attribute("IdType") == Some(kind))?;
        Some(tidy(&of_kind.text())).filter(|id| !id.is_empty())
    };
    let date = article.find(&["Journal", "JournalIssue", "PubDate"]);
    let year = date.and_then(|date| date.find(&["Year"]).or_else(|| date.find(&["MedlineDate"])));
    let authors = article.find(&["AuthorList"]);
    let authors = authors.map(|list| list.children("Author").filter_map(author).collect());
    Some(Publication {
        title: tidy(&article.find(&["ArticleTitle"])?.text()),
        url: format!("https://pubmed.ncbi.nlm.nih.gov/{pmid}/"),
        source: "pubmed".to_owned(),
        summary: article.find(&["Abstract"]).map(summary).unwrap_or_default(),
        authors: authors.unwrap_or_default(),
        year: year.and_then(|year| year.text().trim().get(..4)?.parse().ok()),
        doi: id("doi").and_then(|doi| bare_doi(&doi)),
        pdf_url: id("pmc").map(|pmc| format!("https://pmc.ncbi.nlm.nih.gov/articles/{pmc}/pdf/")),
    })
}

/// Structured abstracts have labelled sections.
fn summary(element: &Element) -> String {
    let sections =
        element.children("AbstractText").map(|section| match section.attribute("Label") {
            Some(label) => format!("{label}: {}", section.text()),
            None => section.text(),
        });
    tidy(&sections.collect::<Vec<_>>().join(" "))
}

fn author(author: &Element) -> Option<String> {
    let field = |name: &str| author.find(&[name]).map(|element| element.text()).unwrap_or_default();
    let name = match field("LastName").as_str() {
        "" => field("CollectiveName"),
        last => {
            let first = field("ForeName");
            format!("{} {last}", if first.is_empty() { field("Initials") } else { first })
        }
    };
    Some(tidy(&name)).filter(|name| !name.is_empty())
}
