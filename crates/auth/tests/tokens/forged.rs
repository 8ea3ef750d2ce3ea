use auth::{Refusal, TokenFault};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use testkit::{Issuer, Signer, hmac_token, unsigned_token};

use crate::support::{Entrance, good};

#[tokio::test]
async fn nothing_that_is_no_token_gets_in() {
    let issuer = Issuer::start(&[&Signer::ec("e")]).await;
    let entrance = Entrance::of(&issuer).await;
    let nobody = entrance.access.admit(&HeaderMap::new(), None).await;
    assert_eq!(nobody, Err(Refusal::NoToken));
    for header in ["Basic YTpi", "Digest x"] {
        assert_eq!(entrance.admit_header(header).await, Err(Refusal::NoToken), "{header}");
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
        let refused = entrance.admit_header(header).await;
        assert!(matches!(refused, Err(Refusal::BadToken(_))), "{header}: {refused:?}");
    }
    let mut twice = HeaderMap::new();
    twice.append("authorization", HeaderValue::from_static("Bearer a"));
    twice.append("authorization", HeaderValue::from_static("Bearer b"));
    assert_eq!(
        entrance.access.admit(&twice, None).await,
        Err(Refusal::BadToken(TokenFault::Malformed))
    );
    assert_eq!(entrance.fault(&"x".repeat(1 << 20)).await, TokenFault::TooLong);
}

#[tokio::test]
async fn a_token_cannot_choose_how_it_is_checked() {
    let signer = Signer::rsa("r");
    let issuer = Issuer::start(&[&signer]).await;
    let entrance = Entrance::of(&issuer).await;
    let claims = good(&issuer);
    for alg in ["none", "None", "NONE", "", "HS256", "HS512", "XX256"] {
        let token = unsigned_token(&json!({"alg": alg, "kid": "r"}), &claims);
        assert_eq!(entrance.fault(&token).await, TokenFault::Algorithm, "{alg}");
    }
    // Key confusion: what everybody knows, taken for a secret.
    let jwk = signer.jwk();
    let modulus = jwk["n"].as_str().unwrap();
    for secret in [
        modulus.as_bytes(),
        &URL_SAFE_NO_PAD.decode(modulus).unwrap(),
        jwk.to_string().as_bytes(),
        b"",
    ] {
        let token = hmac_token(&json!({"alg": "HS256", "kid": "r"}), &claims, secret);
        assert_eq!(entrance.fault(&token).await, TokenFault::Algorithm);
        let token = hmac_token(&json!({"alg": "RS256", "kid": "r"}), &claims, secret);
        assert_eq!(entrance.fault(&token).await, TokenFault::Signature);
    }
    let other = signer.token_under(&json!({"alg": "ES256", "kid": "r"}), &claims);
    assert_eq!(entrance.fault(&other).await, TokenFault::Key, "an RSA key signs nothing else");
    let critical =
        signer.token_under(&json!({"alg": "RS256", "kid": "r", "crit": ["x"], "x": 1}), &claims);
    assert_eq!(entrance.fault(&critical).await, TokenFault::Malformed);
    let logout =
        signer.token_under(&json!({"alg": "RS256", "kid": "r", "typ": "logout+jwt"}), &claims);
    assert_eq!(entrance.fault(&logout).await, TokenFault::Malformed);
}

#[tokio::test]
async fn a_token_cannot_bring_or_name_a_key_of_its_own() {
    let (signer, forger) = (Signer::ec("e"), Signer::ec("e"));
    let issuer = Issuer::start(&[&signer]).await;
    let thief = Issuer::start(&[&forger]).await;
    let entrance = Entrance::of(&issuer).await;
    let claims = good(&issuer);
    let keys = format!("{}/keys", thief.url());
    for header in [
        json!({"alg": "ES256", "kid": "e"}),
        json!({"alg": "ES256", "kid": "e", "jwk": forger.jwk()}),
        json!({"alg": "ES256", "kid": "e", "jku": keys}),
        json!({"alg": "ES256", "kid": "e", "x5u": keys}),
    ] {
        assert_eq!(
            entrance.fault(&forger.token_under(&header, &claims)).await,
            TokenFault::Signature
        );
    }
    for kid in ["../../../../dev/null", "e' OR '1'='1", "e\u{0}", "E", ""] {
        let token = forger.token_under(&json!({"alg": "ES256", "kid": kid, "jku": keys}), &claims);
        assert_eq!(entrance.fault(&token).await, TokenFault::Key, "{kid}");
    }
    for kid in [json!(7), json!({"a": 1}), json!("x".repeat(1000))] {
        let token = forger.token_under(&json!({"alg": "ES256", "kid": kid}), &claims);
        assert_eq!(entrance.fault(&token).await, TokenFault::Malformed, "{kid}");
    }
    assert_eq!(thief.fetches(), 0, "nobody went there");
}

#[tokio::test]
async fn a_changed_token_is_worthless() {
    let signer = Signer::ec("e");
    let issuer = Issuer::start(&[&signer]).await;
    let entrance = Entrance::of(&issuer).await;
    let token = signer.token(&good(&issuer));
    assert!(entrance.admit(&token).await.is_ok());
    let parts: Vec<_> = token.split('.').collect();
    let mut claims: Value =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(parts[1]).unwrap()).unwrap();
    claims["org"] = json!("globex");
    let payload = URL_SAFE_NO_PAD.encode(claims.to_string());
    let swapped = format!("{}.{payload}.{}", parts[0], parts[2]);
    assert_eq!(entrance.fault(&swapped).await, TokenFault::Signature);
    let cut = format!("{}.{}.", parts[0], parts[1]);
    assert_eq!(entrance.fault(&cut).await, TokenFault::Signature);
    assert!(matches!(entrance.fault(&format!("{token}=")).await, TokenFault::Signature));
}
