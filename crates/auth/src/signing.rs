//! Signatures of the gateway: approval links, with which a person without a credential may decide, and webhook bodies.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proto::{Clock, Secret};

use crate::vault::{KeyFault, KeySource};

/// Longer links are refused unread.
const MAX_LINK: usize = 512;

/// Signed links that decide about waiting calls. Each is for one call and one decision, and expires.
pub struct ApprovalLinks {
    key: hmac::Key,
    clock: Clock,
}

impl ApprovalLinks {
    /// Links signed with the gateway's own key, so that they stay valid after a restart.
    pub fn new(source: &KeySource, clock: Clock) -> Result<Self, KeyFault> {
        let key = source.derive_for(b"approval links")?;
        Ok(Self { key: hmac::Key::new(hmac::HMAC_SHA256, &*key), clock })
    }

    /// The last part of a link's address.
    pub fn token(&self, id: &str, approves: bool, until_unix_ms: u64) -> String {
        let payload =
            format!("{id}.{}.{until_unix_ms}", if approves { "approve" } else { "reject" });
        let tag = hmac::sign(&self.key, payload.as_bytes());
        format!("{payload}.{}", URL_SAFE_NO_PAD.encode(tag))
    }

    /// The approval that a link is for, and whether it approves; `None` if it is invalid or has expired.
    pub fn verify(&self, token: &str) -> Option<(String, bool)> {
        let (payload, tag) = token.rsplit_once('.').filter(|_| token.len() <= MAX_LINK)?;
        let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
        hmac::verify(&self.key, payload.as_bytes(), &tag).ok()?;
        let mut parts = payload.split('.');
        let (id, decision, until) = (parts.next()?, parts.next()?, parts.next()?);
        let approves = match decision {
            "approve" => true,
            "reject" => false,
            _ => return None,
        };
        let until: u64 = until.parse().ok()?;
        (parts.next().is_none() && self.clock.unix_ms() < until).then(|| (id.to_owned(), approves))
    }
}

/// The signature of a body that is sent at a time, as hex: HMAC-SHA-256 over the time, a dot and the body.
pub fn sign_webhook(secret: &Secret, at_unix_ms: u64, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes());
    let mut signing = hmac::Context::with_key(&key);
    signing.update(at_unix_ms.to_string().as_bytes());
    signing.update(b".");
    signing.update(body);
    signing.sign().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_link_is_valid_for_its_decision_until_it_expires_and_cannot_be_altered() {
        let clock = Clock::manual(1_000);
        let source = KeySource::Given(Secret::new("x".repeat(40)));
        let links = ApprovalLinks::new(&source, clock.clone()).unwrap();
        let token = links.token("id-1", false, 5_000);
        assert_eq!(links.verify(&token), Some(("id-1".to_owned(), false)));
        let again = ApprovalLinks::new(&source, clock.clone()).unwrap();
        assert_eq!(again.verify(&token), Some(("id-1".to_owned(), false)), "also after a restart");
        for forged in [
            token.replace("reject", "approve"),
            token.replace("id-1", "id-2"),
            token.replace("5000", "9000"),
            format!("{token}x"),
            token[..token.len() - 2].to_owned(),
            String::new(),
            "a.approve.9999.".to_owned(),
        ] {
            assert_eq!(links.verify(&forged), None, "{forged}");
        }
        let other = KeySource::Given(Secret::new("y".repeat(40)));
        assert_eq!(ApprovalLinks::new(&other, clock.clone()).unwrap().verify(&token), None);
        clock.advance(Duration::from_secs(4));
        assert_eq!(links.verify(&token), None, "its time is over");
    }

    #[test]
    fn webhooks_are_signed_with_their_time() {
        // printf '7.{}' | openssl dgst -sha256 -hmac secret
        let signed = sign_webhook(&Secret::new("secret"), 7, b"{}");
        assert_eq!(signed.len(), 64);
        assert_ne!(signed, sign_webhook(&Secret::new("secret"), 8, b"{}"));
        assert_ne!(signed, sign_webhook(&Secret::new("other"), 7, b"{}"));
    }
}
