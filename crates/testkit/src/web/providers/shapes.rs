//! The JSON of web providers.

use serde_json::{Value, json};

use super::exchange::ProviderResult;

/// The answer of a provider to a request for this path.
pub(super) fn answer(provider: &str, path: &str, results: &[ProviderResult]) -> String {
    let list = |shape: fn(&ProviderResult) -> Value| results.iter().map(shape).collect::<Value>();
    let answer = match (provider, path) {
        ("brave", "/res/v1/web/search") if results.is_empty() => {
            json!({"type": "search", "query": {"original": "x"}})
        }
        ("brave", "/res/v1/web/search") => {
            json!({"type": "search", "web": {"type": "search", "results": list(brave)}})
        }
        ("brave", "/res/v1/images/search") => {
            json!({"type": "images", "results": list(brave_image)})
        }
        ("brave", "/res/v1/news/search") => json!({"type": "news", "results": list(brave)}),
        ("serper", "/search") => {
            json!({"searchParameters": {"type": "search"}, "organic": list(serper)})
        }
        ("serper", "/images") => {
            json!({"searchParameters": {"type": "images"}, "images": list(serper_image)})
        }
        ("serper", "/news") => json!({"searchParameters": {"type": "news"}, "news": list(serper)}),
        ("tavily", "/search") => {
            json!({"query": "x", "images": [], "results": list(tavily), "response_time": 0.5})
        }
        ("exa", "/search") => {
            json!({"requestId": "1", "resolvedSearchType": "auto", "results": list(exa)})
        }
        ("searxng", "/search") => {
            json!({"query": "x", "number_of_results": 0, "results": list(searxng)})
        }
        ("google", "/customsearch/v1") if results.is_empty() => {
            json!({"kind": "customsearch#search"})
        }
        ("google", "/customsearch/v1") => {
            json!({"kind": "customsearch#search", "items": list(google)})
        }
        _ => json!({"error": format!("{provider} has no endpoint {path}")}),
    };
    answer.to_string()
}

/// How a provider refuses a key.
pub(super) fn invalid_key(provider: &str) -> (u16, &'static str) {
    match provider {
        "brave" => (
            422,
            r#"{"type":"ErrorResponse","error":{"code":"SUBSCRIPTION_TOKEN_INVALID","status":422}}"#,
        ),
        "google" => (
            400,
            r#"{"error":{"code":400,"message":"API key not valid.","details":[{"reason":"API_KEY_INVALID"}]}}"#,
        ),
        "serper" => (403, r#"{"message":"Unauthorized.","statusCode":403}"#),
        "pubmed" => (400, r#"{"error":"API key invalid","api-key":"x"}"#),
        _ => (401, r#"{"detail":{"error":"Unauthorized: missing or invalid API key."}}"#),
    }
}

fn brave(result: &ProviderResult) -> Value {
    json!({"title": result.title, "url": result.url, "description": result.snippet, "page_age": result.date,
           "meta_url": {"hostname": "publisher.example.org"}})
}

fn image(result: &ProviderResult) -> (&str, u32, u32) {
    result
        .image
        .as_ref()
        .map_or(("", 0, 0), |(link, width, height)| (link.as_str(), *width, *height))
}

fn brave_image(result: &ProviderResult) -> Value {
    let (link, width, height) = image(result);
    json!({"title": result.title, "url": result.url, "source": "example.org",
           "thumbnail": {"src": format!("https://thumbnails.example.org/{width}")},
           "properties": {"url": link, "width": width, "height": height}})
}

fn serper(result: &ProviderResult) -> Value {
    json!({"title": result.title, "link": result.url, "snippet": result.snippet, "date": result.date, "source": "The Publisher"})
}

fn serper_image(result: &ProviderResult) -> Value {
    let (link, width, height) = image(result);
    json!({"title": result.title, "link": result.url, "imageUrl": link, "imageWidth": width, "imageHeight": height,
           "thumbnailUrl": "https://thumbnails.example.org/1", "source": "Example", "domain": "example.org"})
}

fn tavily(result: &ProviderResult) -> Value {
    json!({"title": result.title, "url": result.url, "content": result.snippet, "score": 0.9, "published_date": result.date})
}

fn exa(result: &ProviderResult) -> Value {
    json!({"id": result.url, "title": result.title, "url": result.url, "publishedDate": result.date,
           "highlights": [result.snippet], "highlightScores": [0.5]})
}

fn searxng(result: &ProviderResult) -> Value {
    let (link, width, height) = image(result);
    json!({"title": result.title, "url": result.url, "content": result.snippet, "engine": "x", "publishedDate": result.date,
           "img_src": link, "thumbnail_src": "//thumbnails.example.org/1", "resolution": format!("{width} x {height}")})
}

fn google(result: &ProviderResult) -> Value {
    let (link, width, height) = image(result);
    // An image search has the image as its link and the page as its context.
    if link.is_empty() {
        return json!({"title": result.title, "link": result.url, "snippet": result.snippet, "displayLink": "x"});
    }
    json!({"title": result.title, "link": link, "snippet": result.snippet, "displayLink": "x",
           "image": {"contextLink": result.url, "width": width, "height": height, "byteSize": 120_000,
                     "thumbnailLink": "https://thumbnails.example.org/1"}})
}
