//! What providers are asked, and what they find.

use axum::http::HeaderMap;
use serde_json::Value;

/// A result that a provider gives in its own shape.
#[derive(Clone, Debug, Default)]
pub struct ProviderResult {
    pub title: String,
    pub url: String,
    pub snippet: String,
    /// As the provider writes dates.
    pub date: Option<String>,
    /// The image itself, its width and height.
    pub image: Option<(String, u32, u32)>,
    pub authors: Vec<String>,
    pub doi: Option<String>,
    pub year: Option<u16>,
    pub pdf: Option<String>,
}

impl ProviderResult {
    /// A page.
    pub fn page(title: &str, url: &str, snippet: &str) -> Self {
        Self {
            title: title.to_owned(),
            url: url.to_owned(),
            snippet: snippet.to_owned(),
            ..Self::default()
        }
    }

    /// Sets the date.
    pub fn dated(self, date: &str) -> Self {
        Self { date: Some(date.to_owned()), ..self }
    }
}

/// A request as a provider received it.
#[derive(Clone, Debug)]
pub struct ProviderRequest {
    pub method: String,
    /// Without the provider's name.
    pub path: String,
    pub headers: HeaderMap,
    pub body: String,
    pub(super) parameters: Vec<(String, String)>,
}

impl ProviderRequest {
    /// A parameter of the query or form, or a field of the JSON body as text.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let found = self.parameters.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone()).or_else(|| match &self.json()[name] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        })
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as JSON; null if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}
