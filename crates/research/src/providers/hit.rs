//! What a provider found.

/// A result of any kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hit {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) snippet: String,
    /// The publisher's name.
    pub(crate) source: Option<String>,
    /// As the provider writes it.
    pub(crate) published: Option<String>,
    /// Of image results; `url` is then the page that shows it.
    pub(crate) image: Option<ImageHit>,
}

/// An image.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ImageHit {
    pub(crate) link: String,
    pub(crate) thumbnail: Option<String>,
    pub(crate) width: Option<u32>,
    pub(crate) height: Option<u32>,
    pub(crate) size: Option<String>,
}
