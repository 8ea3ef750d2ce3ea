//! The JSON and XML of sources of publications.

use serde_json::{Value, json};

use super::exchange::{ProviderRequest, ProviderResult};

/// The answer of a source to a request.
pub(super) fn answer(
    source: &str,
    request: &ProviderRequest,
    results: &[ProviderResult],
) -> String {
    let total = results.len() * 100;
    let list = |shape: fn(&ProviderResult) -> Value| results.iter().map(shape).collect::<Value>();
    match (source, request.path.as_str()) {
        ("crossref", "/works") => {
            let message = json!({"total-results": total, "items": list(crossref)});
            json!({"status": "ok", "message-type": "work-list", "message": message}).to_string()
        }
        ("semantic_scholar", "/graph/v1/paper/search") => {
            json!({"total": total, "offset": 0, "data": list(semantic_scholar)}).to_string()
        }
        ("openalex", "/works") => {
            json!({"meta": {"count": total}, "results": list(openalex)}).to_string()
        }
        ("arxiv", "/api/query") => arxiv(results),
        ("pubmed", "/entrez/eutils/esearch.fcgi") => {
            let ids: Vec<_> = (1..=results.len()).map(|id| id.to_string()).collect();
            json!({"header": {}, "esearchresult": {"count": total.to_string(), "idlist": ids}})
                .to_string()
        }
        ("pubmed", "/entrez/eutils/efetch.fcgi") => pubmed(results),
        (_, path) => json!({"error": format!("{source} has no endpoint {path}")}).to_string(),
    }
}

fn crossref(result: &ProviderResult) -> Value {
    let authors = result.authors.iter().map(|name| {
        let (given, family) = name.split_once(' ').unwrap_or(("", name));
        json!({"given": given, "family": family, "sequence": "first"})
    });
    let authors: Vec<_> = authors.collect();
    let links: Vec<_> = result
        .pdf
        .iter()
        .map(|url| json!({"URL": url, "content-type": "application/pdf"}))
        .collect();
    json!({"DOI": result.doi, "title": [result.title], "author": authors, "URL": result.url, "link": links,
           "abstract": format!("<jats:p>{}</jats:p>", result.snippet), "issued": {"date-parts": [[result.year]]}})
}

fn semantic_scholar(result: &ProviderResult) -> Value {
    let authors: Vec<_> =
        result.authors.iter().map(|name| json!({"authorId": "1", "name": name})).collect();
    let pdf = result.pdf.as_ref().map(|url| json!({"url": url, "status": "GREEN"}));
    json!({"title": result.title, "abstract": result.snippet, "year": result.year, "authors": authors,
           "url": result.url, "externalIds": {"DOI": result.doi}, "openAccessPdf": pdf})
}

fn openalex(result: &ProviderResult) -> Value {
    let mut index = serde_json::Map::new();
    for (position, word) in result.snippet.split(' ').enumerate() {
        let positions = index.entry(word.to_owned()).or_insert_with(|| json!([]));
        positions.as_array_mut().expect("a list").push(position.into());
    }
    let authors: Vec<_> =
        result.authors.iter().map(|name| json!({"author": {"display_name": name}})).collect();
    let doi = result.doi.as_ref().map(|doi| format!("https://doi.org/{doi}"));
    json!({"id": "https://openalex.org/W1", "doi": doi, "title": result.title, "publication_year": result.year,
           "authorships": authors, "abstract_inverted_index": index,
           "primary_location": {"landing_page_url": result.url, "pdf_url": result.pdf}})
}

fn arxiv(results: &[ProviderResult]) -> String {
    let mut feed = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\" \
         xmlns:opensearch=\"http://a9.com/-/spec/opensearch/1.1/\" xmlns:arxiv=\"http://arxiv.org/schemas/atom\">\
         <title>ArXiv Query</title><opensearch:totalResults>{}</opensearch:totalResults>",
        results.len() * 100
    );
    for (number, result) in results.iter().enumerate() {
        let authors: String = result
            .authors
            .iter()
            .map(|name| format!("<author><name>{}</name></author>", escape(name)))
            .collect();
        let doi = result.doi.as_ref().map(|doi| format!("<arxiv:doi>{}</arxiv:doi>", escape(doi)));
        feed.push_str(&format!(
            "<entry><id>http://arxiv.org/abs/2001.0000{number}v1</id><published>{}-01-01T00:00:00Z</published>\
             <title>{}\n  </title><summary>  {}\n</summary>{authors}{}\
             <link href=\"http://arxiv.org/abs/2001.0000{number}v1\" rel=\"alternate\"/></entry>",
            result.year.unwrap_or(2020),
            escape(&result.title),
            escape(&result.snippet),
            doi.unwrap_or_default()
        ));
    }
    feed.push_str("</feed>");
    feed
}

fn pubmed(results: &[ProviderResult]) -> String {
    let mut set = String::from(
        "<?xml version=\"1.0\" ?><!DOCTYPE PubmedArticleSet PUBLIC \"-//NLM//DTD PubMedArticle//EN\" \
         \"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed.dtd\"><PubmedArticleSet>",
    );
    for (number, result) in results.iter().enumerate() {
        let authors: String = result
            .authors
            .iter()
            .map(|name| {
                let (fore, last) = name.split_once(' ').unwrap_or(("", name));
                format!(
                    "<Author><LastName>{}</LastName><ForeName>{}</ForeName></Author>",
                    escape(last),
                    escape(fore)
                )
            })
            .collect();
        let doi = result
            .doi
            .as_ref()
            .map(|doi| format!("<ArticleId IdType=\"doi\">{}</ArticleId>", escape(doi)));
        set.push_str(&format!(
            "<PubmedArticle><MedlineCitation><PMID Version=\"1\">{}</PMID><Article><Journal><JournalIssue><PubDate>\
             <Year>{}</Year></PubDate></JournalIssue></Journal><ArticleTitle>{}</ArticleTitle><Abstract>\
             <AbstractText Label=\"BACKGROUND\">{}</AbstractText></Abstract><AuthorList>{authors}</AuthorList></Article>\
             </MedlineCitation><PubmedData><ArticleIdList>{}<ArticleId IdType=\"pmc\">PMC{}</ArticleId></ArticleIdList>\
             </PubmedData></PubmedArticle>",
            number + 1,
            result.year.unwrap_or(2020),
            escape(&result.title),
            escape(&result.snippet),
            doi.unwrap_or_default(),
            number + 1
        ));
    }
    set.push_str("</PubmedArticleSet>");
    set
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
