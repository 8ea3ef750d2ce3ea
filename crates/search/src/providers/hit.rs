//! What a provider found.

/// A result of any kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hit {
    pub title: String,
    pub url: String,
    pub snippet: String,
    /// The publisher's name.
    pub source: Option<String>,
    /// As the provider writes it.
    pub published: Option<String>,
    /// Of image results; `url` is then the page that shows it.
    pub image: Option<ImageHit>,
}

/// An image.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImageHit {
    pub link: String,
    pub thumbnail: Option<String>,
    pub width: Option<u32>,
    pub height: Option<u32>,
    pub size: Option<String>,
}
