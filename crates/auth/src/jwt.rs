//! Signed tokens: selection of key and algorithm, and verification of the signature.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::{Map, Value};

use crate::fault::TokenFault;

/// Further keys of a set are ignored.
const MAX_KEYS: usize = 100;

/// The most keys that are tried for a token that names none.
const MAX_TRIED: usize = 4;

const MAX_KID: usize = 256;

/// The keys that an issuer signs with.
#[derive(Debug, Default)]
pub(crate) struct KeySet(Vec<SigningKey>);

#[derive(Debug)]
struct SigningKey {
    id: Option<String>,
    /// The algorithms for this kind of key, or the one that the key names.
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
}

impl KeySet {
    /// Reads a JWKS document; skips keys that are not for signatures.
    pub(crate) fn read(document: &Value) -> Option<Self> {
        let keys = document.get("keys")?.as_array()?;
        Some(Self(keys.iter().take(MAX_KEYS).filter_map(SigningKey::read).collect()))
    }

    /// Whether any key can be used.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The claims of a token, if one of these keys signed it.
    pub(crate) fn claims(&self, token: &str) -> Result<Map<String, Value>, TokenFault> {
        let header = Header::read(token)?;
        let (message, signature) = token.rsplit_once('.').ok_or(TokenFault::Malformed)?;
        let (_, payload) = message.split_once('.').ok_or(TokenFault::Malformed)?;
        let named = |key: &&SigningKey| match (&header.key, &key.id) {
            (None, _) => true,
            (Some(requested), Some(id)) => requested == id,
            (Some(_), None) => false,
        };
        let fitting = |key: &&SigningKey| key.algorithms.contains(&header.algorithm);
        let mut tried = false;
        for key in self.0.iter().filter(named).filter(fitting).take(MAX_TRIED) {
            tried = true;
            let checked = jsonwebtoken::crypto::verify(
                signature,
                message.as_bytes(),
                &key.key,
                header.algorithm,
            );
            if checked.unwrap_or(false) {
                let payload = URL_SAFE_NO_PAD.decode(payload).map_err(|_| TokenFault::Malformed)?;
                return serde_json::from_slice(&payload).map_err(|_| TokenFault::Malformed);
            }
        }
        Err(if tried { TokenFault::Signature } else { TokenFault::Key })
    }
}

impl SigningKey {
    fn read(key: &Value) -> Option<Self> {
        let key: Jwk = serde_json::from_value(key.clone()).ok()?;
        let common = &key.common;
        let for_signatures = matches!(common.public_key_use, None | Some(PublicKeyUse::Signature))
            && common
                .key_operations
                .as_ref()
                .is_none_or(|uses| uses.contains(&KeyOperations::Verify));
        if !for_signatures {
            return None;
        }
        let mut algorithms = algorithms(&key.algorithm);
        if let Some(named) = common.key_algorithm {
            let named = Algorithm::try_from(named).ok()?;
            algorithms.retain(|algorithm| *algorithm == named);
        }
        if algorithms.is_empty() {
            return None;
        }
        let id = common.key_id.clone();
        Some(Self { id, algorithms, key: DecodingKey::from_jwk(&key).ok()? })
    }
}

/// The algorithms for a kind of key. None for shared secrets: a party that can verify such a token can also forge one.
fn algorithms(parameters: &AlgorithmParameters) -> Vec<Algorithm> {
    use Algorithm::{ES256, ES384, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512};
    match parameters {
        AlgorithmParameters::RSA(_) => vec![RS256, RS384, RS512, PS256, PS384, PS512],
        AlgorithmParameters::EllipticCurve(key) => match key.curve {
            EllipticCurve::P256 => vec![ES256],
            EllipticCurve::P384 => vec![ES384],
            _ => Vec::new(),
        },
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
            vec![EdDSA]
        }
        _ => Vec::new(),
    }
}

/// The header of a token. Keys that it embeds or links to are ignored.
struct Header {
    algorithm: Algorithm,
    key: Option<String>,
}

impl Header {
    fn read(token: &str) -> Result<Self, TokenFault> {
        let (header, _) = token.split_once('.').ok_or(TokenFault::Malformed)?;
        let header = URL_SAFE_NO_PAD.decode(header).map_err(|_| TokenFault::Malformed)?;
        let header: Map<String, Value> =
            serde_json::from_slice(&header).map_err(|_| TokenFault::Malformed)?;
        // An unknown critical extension makes the token invalid (RFC 7515, section 4.1.11).
        if header.contains_key("crit") {
            return Err(TokenFault::Malformed);
        }
        let kind = header.get("typ").map(|kind| kind.as_str().unwrap_or_default().to_lowercase());
        let is_access = |kind: &str| matches!(kind, "jwt" | "at+jwt" | "application/at+jwt");
        if kind.as_deref().is_some_and(|kind| !is_access(kind)) {
            return Err(TokenFault::Malformed);
        }
        let algorithm = header.get("alg").and_then(Value::as_str).unwrap_or_default();
        let algorithm: Algorithm = algorithm.parse().map_err(|_| TokenFault::Algorithm)?;
        if matches!(algorithm, Algorithm::HS256 | Algorithm::HS384 | Algorithm::HS512) {
            return Err(TokenFault::Algorithm);
        }
        let key = match header.get("kid") {
            None => None,
            Some(Value::String(id)) if id.len() <= MAX_KID => Some(id.clone()),
            Some(_) => return Err(TokenFault::Malformed),
        };
        Ok(Self { algorithm, key })
    }
}

/// Whether a text has the form of a signed token.
pub(crate) fn is_signed(token: &str) -> bool {
    token.bytes().filter(|byte| *byte == b'.').count() == 2
}
