//! Proofs of possession (DPoP, RFC 9449): a thief cannot use a token that is bound to a key of this gateway. Used where a
//! server asks for it.

use std::fmt;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use proto::Secret;
use serde_json::json;
use url::Url;

use crate::random::{random_text, sha256_text};

/// The algorithm of our proofs.
pub(super) const ALGORITHM: &str = "ES256";

/// The header with the value that a server wants to see in the next proof.
pub(super) const DPOP_NONCE: &str = "dpop-nonce";

/// An uncompressed point: a tag and two coordinates of this many bytes.
const COORDINATE_BYTES: usize = 32;

/// The request that a proof is for.
pub(super) struct ProofOf<'a> {
    pub(super) method: &'a str,
    pub(super) url: &'a str,
    /// The value that the receiving server wants to see, against replays.
    pub(super) nonce: Option<&'a str>,
    /// The token that it accompanies; none for a token request.
    pub(super) token: Option<&'a Secret>,
}

/// The key that a token is bound to.
pub(super) struct ProofKey {
    pair: EcdsaKeyPair,
    /// The key as the vault stores it.
    pub(super) stored: Secret,
}

impl fmt::Debug for ProofKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProofKey").finish_non_exhaustive()
    }
}

impl ProofKey {
    /// A new key.
    pub(super) fn generate() -> Option<Self> {
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new()).ok()?;
        Self::read(&Secret::new(BASE64_URL_SAFE_NO_PAD.encode(document.as_ref())))
    }

    /// A key from the vault.
    pub(super) fn read(stored: &Secret) -> Option<Self> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(stored.expose()).ok()?;
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &bytes).ok()?;
        Some(Self { pair, stored: stored.clone() })
    }

    /// A signed statement that the sender of one request has this key.
    pub(super) fn proof(&self, of: &ProofOf<'_>, now_seconds: u64) -> Option<String> {
        let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        let point = self.pair.public_key().as_ref().get(1..)?;
        let (x, y) = point.split_at_checked(COORDINATE_BYTES)?;
        let jwk = json!({"kty": "EC", "crv": "P-256", "x": encode(x), "y": encode(y)});
        let header = json!({"typ": "dpop+jwt", "alg": ALGORITHM, "jwk": jwk});
        let mut url: Url = of.url.parse().ok()?;
        url.set_query(None);
        url.set_fragment(None);
        let mut claims = json!({
            "jti": random_text()?, "htm": of.method, "htu": url.as_str(), "iat": now_seconds,
        });
        if let Some(token) = of.token {
            claims["ath"] = json!(sha256_text(token.expose()));
        }
        if let Some(nonce) = of.nonce {
            claims["nonce"] = json!(nonce);
        }
        let signed = format!(
            "{}.{}",
            encode(header.to_string().as_bytes()),
            encode(claims.to_string().as_bytes())
        );
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes()).ok()?;
        Some(format!("{signed}.{}", encode(signature.as_ref())))
    }
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
    use serde_json::Value;

    use super::*;

    fn decoded(part: &str) -> Vec<u8> {
        BASE64_URL_SAFE_NO_PAD.decode(part).unwrap()
    }

    #[test]
    fn a_proof_is_signed_by_the_key_that_it_shows() {
        let key = ProofKey::read(&ProofKey::generate().unwrap().stored).unwrap();
        let token = Secret::new("token");
        let of = ProofOf {
            method: "POST",
            url: "https://crm.example/mcp?key=1#part",
            nonce: Some("n"),
            token: Some(&token),
        };
        let (first, second) = (key.proof(&of, 7).unwrap(), key.proof(&of, 7).unwrap());
        let (signed, signature) = first.rsplit_once('.').unwrap();
        let (header, claims) = signed.split_once('.').unwrap();
        let header: Value = serde_json::from_slice(&decoded(header)).unwrap();
        let claims: Value = serde_json::from_slice(&decoded(claims)).unwrap();
        assert_eq!((&header["typ"], &header["alg"]), (&json!("dpop+jwt"), &json!("ES256")));
        assert!(header["jwk"]["d"].is_null(), "the private part stays here");
        let mut point = vec![4];
        for coordinate in ["x", "y"] {
            point.extend(decoded(header["jwk"][coordinate].as_str().unwrap()));
        }
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
        public.verify(signed.as_bytes(), &decoded(signature)).unwrap();
        assert_eq!(claims["htu"], json!("https://crm.example/mcp"));
        assert_eq!((&claims["htm"], &claims["nonce"]), (&json!("POST"), &json!("n")));
        assert_eq!((&claims["iat"], &claims["ath"]), (&json!(7), &json!(sha256_text("token"))));
        assert_ne!(first, second, "each proof has an id of its own");
    }
}
