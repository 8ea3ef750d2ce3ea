//! DuckDuckGo's pages.

use reqwest::Url;

use super::exchange::ProviderResult;

/// A page of results, with an advertisement before them.
pub(super) fn results(results: &[ProviderResult]) -> String {
    if results.is_empty() {
        return r#"<html><body><div class="no-results">No results.</div></body></html>"#.to_owned();
    }
    let mut page = String::from("<!DOCTYPE html><html><body><div class=\"serp__results\">");
    page.push_str(&result(
        "result--ad",
        "Buy now",
        "https://duckduckgo.com/y.js?ad_domain=shop.example",
        "An offer",
    ));
    for one in results {
        page.push_str(&result("web-result", &one.title, &one.url, &one.snippet));
    }
    page.push_str("</div></body></html>");
    page
}

fn result(class: &str, title: &str, url: &str, snippet: &str) -> String {
    let mut link = Url::parse("https://duckduckgo.com/l/").expect("a URL");
    link.query_pairs_mut().append_pair("uddg", url).append_pair("rut", "0123");
    let link = escape(link.as_str().trim_start_matches("https:"));
    format!(
        "<div class=\"result results_links {class}\"><h2 class=\"result__title\">\
         <a rel=\"nofollow\" class=\"result__a\" href=\"{link}\">{}</a></h2>\n\
         <a class=\"result__snippet\" href=\"{link}\">{}</a></div>\n",
        escape(title),
        escape(snippet)
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;").replace('\'', "&#x27;")
}

/// The puzzle that comes with status 202.
pub(super) fn challenge() -> String {
    "<html><body><div class=\"anomaly-modal__title\">Unfortunately, bots use DuckDuckGo too.</div></body></html>".to_owned()
}
