use auth::TokenFault;
use serde_json::json;
use testkit::{Issuer, Signer};

use crate::tokens::support::{GATEWAY, Setup, good};

#[tokio::test]
async fn valid_tokens_of_every_kind_of_key_are_admitted() {
    let signers = [Signer::rsa("r"), Signer::ec("e"), Signer::ed("d")];
    let issuer = Issuer::start(&signers.each_ref()).await;
    let setup = Setup::of(&issuer).await;
    for signer in &signers {
        let ann = setup.admit(&signer.token(&good(&issuer))).await.unwrap();
        assert_eq!((ann.tenant.as_str(), ann.subject.as_str()), ("acme", "ann"));
        assert_eq!(ann.scopes, ["tools:call", "tools:read"]);
    }
    let pss = signers[0].token_under(&json!({"alg": "PS256", "kid": "r"}), &good(&issuer));
    assert!(setup.admit(&pss).await.is_ok());
    let nameless = signers[1].token_under(&json!({"alg": "ES256"}), &good(&issuer));
    assert!(setup.admit(&nameless).await.is_ok(), "one key fits: none need be named");
    assert_eq!(issuer.fetches(), 1, "keys are fetched once");
}

#[tokio::test]
async fn a_token_for_another_audience_or_time_is_refused() {
    let signer = Signer::ec("e");
    let issuer = Issuer::start(&[&signer]).await;
    let setup = Setup::of(&issuer).await;
    let now = setup.clock.unix_ms() / 1000;
    for (changes, fault) in [
        (json!({"aud": "https://other.example"}), TokenFault::Audience),
        (json!({"aud": null}), TokenFault::Audience),
        (json!({"iss": "https://id.evil.example"}), TokenFault::Issuer),
        (json!({"exp": now - 60}), TokenFault::Expired),
        (json!({"exp": null}), TokenFault::Claim("exp".to_owned())),
        (json!({"nbf": now + 60}), TokenFault::Early),
        (json!({"org": null}), TokenFault::Claim("org".to_owned())),
        (json!({"sub": ""}), TokenFault::Claim("sub".to_owned())),
    ] {
        let token = signer.token(&issuer.claims(GATEWAY, changes.clone()));
        assert_eq!(setup.fault(&token).await, fault, "{changes}");
    }
}

#[tokio::test]
async fn a_cached_token_expires() {
    let signer = Signer::ec("e");
    let issuer = Issuer::start(&[&signer]).await;
    let setup = Setup::of(&issuer).await;
    let now = setup.clock.unix_ms() / 1000;
    let token = signer.token(&issuer.claims(GATEWAY, json!({"exp": now + 5})));
    assert!(setup.admit(&token).await.is_ok());
    setup.clock.advance(std::time::Duration::from_secs(36));
    assert_eq!(setup.fault(&token).await, TokenFault::Expired);
}
