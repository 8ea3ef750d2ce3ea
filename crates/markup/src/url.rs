//! Which addresses a document keeps.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Whether an address may be a link: absolute, and of a scheme that runs nothing.
pub fn is_safe_url(url: &str) -> bool {
    let scheme = url.split(':').next().unwrap_or_default();
    url.len() > scheme.len() + 1
        && ["http", "https", "mailto"].iter().any(|safe| scheme.eq_ignore_ascii_case(safe))
        && !url.chars().any(|c| c.is_control() || c.is_whitespace())
}

/// Whether a link or image keeps its address: it is relative, or of a scheme that is safe to follow.
pub(crate) fn is_kept_url(url: &str) -> bool {
    let scheme = url.find([':', '/', '?', '#']).filter(|at| url[*at..].starts_with(':'));
    !url.is_empty()
        && !url.chars().any(|c| c.is_control() || c == '\u{2028}')
        && (scheme.is_none() || is_safe_url(url))
}

/// Whether an image keeps its address: as a link, or the address is the picture itself.
pub(crate) fn is_kept_image(url: &str) -> bool {
    is_kept_url(url) || picture_data(url).is_some()
}

/// A picture that is its own address: `data:image/png;base64,…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureData<'a> {
    /// `image/png` or `image/jpeg`.
    pub media_type: &'a str,
    pub base64: &'a str,
}

impl PictureData<'_> {
    /// Its bytes, which may be no picture at all.
    pub fn decode(&self) -> Option<Vec<u8>> {
        STANDARD.decode(self.base64).ok()
    }
}

/// The picture in a `data:` address; only PNG and JPEG, which every reader of documents shows.
pub fn picture_data(url: &str) -> Option<PictureData<'_>> {
    let (media_type, base64) = url.strip_prefix("data:")?.split_once(";base64,")?;
    let is_kind = matches!(media_type, "image/png" | "image/jpeg");
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    (is_kind && !base64.is_empty() && base64.bytes().all(is_base64))
        .then_some(PictureData { media_type, base64 })
}
