//! The stylesheet and the script, part of the binary, under names with their digest.

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use proto::digest;

pub(super) static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("style.css", "text/css; charset=utf-8", include_str!("assets/style.css"))
});
pub(super) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("app.js", "text/javascript; charset=utf-8", include_str!("assets/app.js"))
});
pub(super) static ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")));

/// One file of the dashboard.
pub(super) struct Asset {
    name: String,
    kind: &'static str,
    text: &'static str,
}

impl Asset {
    fn new(name: &str, kind: &'static str, text: &'static str) -> Self {
        let digest = digest(text.as_bytes()).to_string();
        let hex = digest.rsplit(':').next().unwrap_or(&digest);
        Self { name: format!("{}-{name}", &hex[..hex.len().min(16)]), kind, text }
    }

    /// The path of the asset.
    pub(super) fn url(&self) -> String {
        format!("/dashboard/assets/{}", self.name)
    }
}

pub(super) async fn serve(Path(name): Path<String>) -> Response {
    let known = [&*STYLE, &*SCRIPT, &*ICON].into_iter().find(|asset| asset.name == name);
    let Some(asset) = known else { return StatusCode::NOT_FOUND.into_response() };
    let mut response = Response::new(Body::from(asset.text));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
    headers.insert(CACHE_CONTROL, forever);
    response
}
