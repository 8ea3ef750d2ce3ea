use auth::{Refusal, TokenFault};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use testkit::{Issuer, Signer, hmac_token, unsigned_token};

use crate::tokens::support::{Setup, good};

#[tokio::test]
async fn malformed_tokens_are_refused() {
    let issuer = Issuer::start(&[&Signer::ec("e")]).await;
    let setup = Setup::of(&issuer).await;
    let none = setup.access.admit("/mcp", &HeaderMap::new(), None).await;
    assert_eq!(none, Err(Refusal::NoToken));
    for header in ["Basic YTpi", "Digest x"] {
        assert_eq!(setup.admit_header(header).await, Err(Refusal::NoToken), "{header}");
    }
    for header in [
        "Bearer x",
        "bearer x",
        "Bearer",
        "Bearer ",
        "Bearer a b",
        "Bearer a,b",
        "x",
        "Bearer ..",
        "Bearer a.b.c",
        "Bearer eyJhbGciOiJub25lIn0..",
        "Bearer ps_x",
        "Bearer ps_00_",
    ] {
        let refused = setup.admit_header(header).await;
        assert!(matches!(refused, Err(Refusal::BadToken(_))), "{header}: {refused:?}");
    }
    let mut twice = HeaderMap::new();
    twice.append("authorization", HeaderValue::from_static("Bearer a"));
    twice.append("authorization", HeaderValue::from_static("Bearer b"));
    assert_eq!(
        setup.access.admit("/mcp", &twice, None).await,
        Err(Refusal::BadToken(TokenFault::Malformed))
    );
    assert_eq!(setup.fault(&"x".repeat(1 << 20)).await, TokenFault::TooLong);
}

#[tokio::test]
async fn a_token_cannot_choose_how_it_is_checked() {
    let signer = Signer::rsa("r");
    let issuer = Issuer::start(&[&signer]).await;
    let setup = Setup::of(&issuer).await;
    let claims = good(&issuer);
    for alg in ["none", "None", "NONE", "", "HS256", "HS512", "XX256"] {
        let token = unsigned_token(&json!({"alg": alg, "kid": "r"}), &claims);
        assert_eq!(setup.fault(&token).await, TokenFault::Algorithm, "{alg}");
    }
    // Key confusion: the public key used as an HMAC secret.
    let jwk = signer.jwk();
    let modulus = jwk["n"].as_str().unwrap();
    for secret in [
        modulus.as_bytes(),
        &URL_SAFE_NO_PAD.decode(modulus).unwrap(),
        jwk.to_string().as_bytes(),
        b"",
    ] {
        let token = hmac_token(&json!({"alg": "HS256", "kid": "r"}), &claims, secret);
        assert_eq!(setup.fault(&token).await, TokenFault::Algorithm);
        let token = hmac_token(&json!({"alg": "RS256", "kid": "r"}), &claims, secret);
        assert_eq!(setup.fault(&token).await, TokenFault::Signature);
    }
    let other = signer.token_under(&json!({"alg": "ES256", "kid": "r"}), &claims);
    assert_eq!(setup.fault(&other).await, TokenFault::Key, "an RSA key signs nothing else");
    let critical =
        signer.token_under(&json!({"alg": "RS256", "kid": "r", "crit": ["x"], "x": 1}), &claims);
    assert_eq!(setup.fault(&critical).await, TokenFault::Malformed);
    let logout =
        signer.token_under(&json!({"alg": "RS256", "kid": "r", "typ": "logout+jwt"}), &claims);
    assert_eq!(setup.fault(&logout).await, TokenFault::Malformed);
}

#[tokio::test]
async fn a_token_cannot_supply_its_own_key() {
    let (signer, forger) = (Signer::ec("e"), Signer::ec("e"));
    let issuer = Issuer::start(&[&signer]).await;
    let thief = Issuer::start(&[&forger]).await;
    let setup = Setup::of(&issuer).await;
    let claims = good(&issuer);
    let keys = format!("{}/keys", thief.url());
    for header in [
        json!({"alg": "ES256", "kid": "e"}),
        json!({"alg": "ES256", "kid": "e", "jwk": forger.jwk()}),
        json!({"alg": "ES256", "kid": "e", "jku": keys}),
        json!({"alg": "ES256", "kid": "e", "x5u": keys}),
    ] {
        assert_eq!(setup.fault(&forger.token_under(&header, &claims)).await, TokenFault::Signature);
    }
    for kid in ["../../../../dev/null", "e' OR '1'='1", "e\u{0}", "E", ""] {
        let token = forger.token_under(&json!({"alg": "ES256", "kid": kid, "jku": keys}), &claims);
        assert_eq!(setup.fault(&token).await, TokenFault::Key, "{kid}");
    }
    for kid in [json!(7), json!({"a": 1}), json!("x".repeat(1000))] {
        let token = forger.token_under(&json!({"alg": "ES256", "kid": kid}), &claims);
        assert_eq!(setup.fault(&token).await, TokenFault::Malformed, "{kid}");
    }
    assert_eq!(thief.fetches(), 0, "no request was sent there");
}

#[tokio::test]
async fn an_altered_token_is_refused() {
    let signer = Signer::ec("e");
    let issuer = Issuer::start(&[&signer]).await;
    let setup = Setup::of(&issuer).await;
    let token = signer.token(&good(&issuer));
    assert!(setup.admit(&token).await.is_ok());
    let parts: Vec<_> = token.split('.').collect();
    let mut claims: Value =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(parts[1]).unwrap()).unwrap();
    claims["org"] = json!("globex");
    let payload = URL_SAFE_NO_PAD.encode(claims.to_string());
    let swapped = format!("{}.{payload}.{}", parts[0], parts[2]);
    assert_eq!(setup.fault(&swapped).await, TokenFault::Signature);
    let cut = format!("{}.{}.", parts[0], parts[1]);
    assert_eq!(setup.fault(&cut).await, TokenFault::Signature);
    assert!(matches!(setup.fault(&format!("{token}=")).await, TokenFault::Signature));
}
