//! Signed client assertions (RFC 7523), for authorization servers that know our public key instead of a secret.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    RSA_PKCS1_SHA256, RsaKeyPair,
};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::json;

use crate::random::random_text;

/// The lifetime of an assertion.
const LIFE_SECONDS: u64 = 60;

/// A private key of a kind that JWTs can be signed with.
pub(super) enum SigningKey {
    Rsa(Box<RsaKeyPair>),
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl SigningKey {
    /// Reads a PEM; the error never repeats any of it.
    pub(super) fn parse(pem: &str) -> Result<Self, &'static str> {
        let der = PrivateKeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| "it is not a private key in PEM form")?;
        let p256 = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let p384 = &ECDSA_P384_SHA384_FIXED_SIGNING;
        let der_bytes = der.secret_der();
        let found = match &der {
            PrivateKeyDer::Pkcs1(_) => {
                RsaKeyPair::from_der(der_bytes).ok().map(|key| Self::Rsa(Box::new(key)))
            }
            PrivateKeyDer::Sec1(_) => EcdsaKeyPair::from_private_key_der(p256, der_bytes)
                .map(Self::P256)
                .or_else(|_| EcdsaKeyPair::from_private_key_der(p384, der_bytes).map(Self::P384))
                .ok(),
            _ => RsaKeyPair::from_pkcs8(der_bytes)
                .map(|key| Self::Rsa(Box::new(key)))
                .or_else(|_| EcdsaKeyPair::from_pkcs8(p256, der_bytes).map(Self::P256))
                .or_else(|_| EcdsaKeyPair::from_pkcs8(p384, der_bytes).map(Self::P384))
                .or_else(|_| Ed25519KeyPair::from_pkcs8(der_bytes).map(Self::Ed25519))
                .ok(),
        };
        found.ok_or("it is no RSA (2048 bits or more), P-256, P-384 or Ed25519 key")
    }

    fn algorithm(&self) -> &'static str {
        match self {
            Self::Rsa(_) => "RS256",
            Self::P256(_) => "ES256",
            Self::P384(_) => "ES384",
            Self::Ed25519(_) => "EdDSA",
        }
    }

    fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).ok()?;
                Some(signature)
            }
            Self::P256(key) | Self::P384(key) => {
                Some(key.sign(&random, message).ok()?.as_ref().to_vec())
            }
            Self::Ed25519(key) => Some(key.sign(message).as_ref().to_vec()),
        }
    }

    /// A JWT that identifies us as `client` to `audience`, with a unique id and a lifetime of a minute.
    pub(super) fn assertion(
        &self,
        key_id: Option<&str>,
        client: &str,
        audience: &str,
        now_seconds: u64,
    ) -> Option<String> {
        let mut header = json!({"alg": self.algorithm(), "typ": "JWT"});
        if let Some(key_id) = key_id {
            header["kid"] = json!(key_id);
        }
        let claims = json!({
            "iss": client, "sub": client, "aud": audience, "jti": random_text()?,
            "iat": now_seconds, "exp": now_seconds.saturating_add(LIFE_SECONDS),
        });
        let encode = |text: String| BASE64_URL_SAFE_NO_PAD.encode(text);
        let signed = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        let signature = BASE64_URL_SAFE_NO_PAD.encode(self.sign(signed.as_bytes())?);
        Some(format!("{signed}.{signature}"))
    }
}

#[cfg(test)]
mod tests;
