use aws_lc_rs::encoding::{AsBigEndian, EcPublicKeyUncompressedBin};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RSA_PSS_SHA256, RsaKeyPair,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// A key that signs tokens.
pub struct Signer {
    /// The key's name.
    pub kid: String,
    pair: Pair,
}

enum Pair {
    Rsa(Box<RsaKeyPair>),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl Signer {
    /// An RSA key of 2048 bits.
    pub fn rsa(kid: &str) -> Self {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).expect("a key");
        Self { kid: kid.to_owned(), pair: Pair::Rsa(Box::new(pair)) }
    }

    /// A key on the curve P-256.
    pub fn ec(kid: &str) -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key");
        Self { kid: kid.to_owned(), pair: Pair::Ec(pair) }
    }

    /// An Ed25519 key.
    pub fn ed(kid: &str) -> Self {
        Self { kid: kid.to_owned(), pair: Pair::Ed(Ed25519KeyPair::generate().expect("a key")) }
    }

    /// The algorithm that it usually signs with.
    pub fn algorithm(&self) -> &'static str {
        match self.pair {
            Pair::Rsa(_) => "RS256",
            Pair::Ec(_) => "ES256",
            Pair::Ed(_) => "EdDSA",
        }
    }

    /// Its public half, as issuers publish it.
    pub fn jwk(&self) -> Value {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let mut jwk = match &self.pair {
            Pair::Rsa(pair) => {
                let public = pair.public_key();
                json!({"kty": "RSA", "n": text(public.modulus().big_endian_without_leading_zero()),
                    "e": text(public.exponent().big_endian_without_leading_zero())})
            }
            Pair::Ec(pair) => {
                let point: EcPublicKeyUncompressedBin<'_> =
                    pair.public_key().as_be_bytes().expect("a point");
                let point = point.as_ref();
                json!({"kty": "EC", "crv": "P-256", "x": text(&point[1..33]), "y": text(&point[33..])})
            }
            Pair::Ed(pair) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": text(pair.public_key().as_ref())})
            }
        };
        jwk["kid"] = self.kid.as_str().into();
        jwk["use"] = "sig".into();
        jwk
    }

    /// A token with these claims.
    pub fn token(&self, claims: &Value) -> String {
        self.token_under(
            &json!({"alg": self.algorithm(), "kid": self.kid, "typ": "at+jwt"}),
            claims,
        )
    }

    /// A token with these claims under this header, whether they fit or not.
    pub fn token_under(&self, header: &Value, claims: &Value) -> String {
        let message = message(header, claims);
        let signature = match &self.pair {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                let padding =
                    if header["alg"] == "PS256" { &RSA_PSS_SHA256 } else { &RSA_PKCS1_SHA256 };
                pair.sign(padding, &SystemRandom::new(), message.as_bytes(), &mut signature)
                    .expect("a signature");
                signature
            }
            Pair::Ec(pair) => {
                let signed = pair.sign(&SystemRandom::new(), message.as_bytes());
                signed.expect("a signature").as_ref().to_vec()
            }
            Pair::Ed(pair) => pair.sign(message.as_bytes()).as_ref().to_vec(),
        };
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

/// A token whose signature is an HMAC with this secret.
pub fn hmac_token(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let message = message(header, claims);
    let key = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, secret);
    let tag = aws_lc_rs::hmac::sign(&key, message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref()))
}

/// A token without a signature.
pub fn unsigned_token(header: &Value, claims: &Value) -> String {
    format!("{}.", message(header, claims))
}

fn message(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(header), part(claims))
}

/// What PKCE makes of a verifier.
pub fn s256(verifier: &str) -> String {
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, verifier.as_bytes());
    URL_SAFE_NO_PAD.encode(hash.as_ref())
}
