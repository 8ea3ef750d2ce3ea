//! Random values and digests as URL-safe text, for tokens, session ids, states and PKCE.

use aws_lc_rs::{digest, rand};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

/// 256 random bits as text.
pub(crate) fn random_text() -> Option<String> {
    let mut bytes = [0; 32];
    rand::fill(&mut bytes).ok()?;
    Some(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// The SHA-256 of a text, as unpadded URL-safe base64.
pub(crate) fn sha256_text(text: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, text.as_bytes()).as_ref())
}
