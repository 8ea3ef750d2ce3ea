use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, KeyPair as _,
    RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
};
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::*;

fn pem(der: &[u8]) -> String {
    let label = "PRIVATE KEY";
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", BASE64_STANDARD.encode(der))
}

fn check(der: &[u8], public: &[u8], algorithm: &'static dyn VerificationAlgorithm, name: &str) {
    let key = SigningKey::parse(&pem(der)).unwrap();
    let jwt = key.assertion(Some("k1"), "client", "https://as", 1_000).unwrap();
    let (signed, signature) = jwt.rsplit_once('.').unwrap();
    let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).unwrap();
    UnparsedPublicKey::new(algorithm, public).verify(signed.as_bytes(), &signature).unwrap();
    let parts: Vec<Value> = signed
        .split('.')
        .map(|part| serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap())
        .collect();
    assert_eq!(parts[0], json!({"alg": name, "typ": "JWT", "kid": "k1"}));
    assert_eq!((&parts[1]["iss"], &parts[1]["sub"]), (&json!("client"), &json!("client")));
    assert_eq!((&parts[1]["aud"], &parts[1]["exp"]), (&json!("https://as"), &json!(1_060)));
    assert!(parts[1]["jti"].as_str().unwrap().len() > 20);
}

#[test]
fn signatures_of_every_key_kind_verify() {
    let random = SystemRandom::new();
    let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der.as_ref()).unwrap();
    check(der.as_ref(), pair.public_key().as_ref(), &ECDSA_P256_SHA256_FIXED, "ES256");

    let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, der.as_ref()).unwrap();
    check(der.as_ref(), pair.public_key().as_ref(), &ECDSA_P384_SHA384_FIXED, "ES384");

    let der = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
    let pair = Ed25519KeyPair::from_pkcs8(der.as_ref()).unwrap();
    check(der.as_ref(), pair.public_key().as_ref(), &ED25519, "EdDSA");

    let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let der: Pkcs8V1Der<'_> = pair.as_der().unwrap();
    check(der.as_ref(), pair.public_key().as_ref(), &RSA_PKCS1_2048_8192_SHA256, "RS256");
}

#[test]
fn invalid_keys_are_refused_without_being_repeated() {
    for text in [
        "",
        "canary",
        &pem(b"canary"),
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
    ] {
        let Err(why) = SigningKey::parse(text) else { panic!("{text} is no key") };
        assert!(!why.contains("canary"), "{why}");
    }
}
