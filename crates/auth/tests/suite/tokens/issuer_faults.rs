use std::time::Duration;

use auth::{Refusal, TokenFault};
use serde_json::json;
use testkit::{Issuer, Signer};

use crate::tokens::support::{Setup, good, options, setup};

#[tokio::test]
async fn rotated_keys_admit_new_tokens_and_refuse_old_ones() {
    let (first, second) = (Signer::ec("1"), Signer::ec("2"));
    let issuer = Issuer::start(&[&first]).await;
    let setup = Setup::of(&issuer).await;
    let old = first.token(&good(&issuer));
    assert!(setup.admit(&old).await.is_ok());
    issuer.publish(&[&second]);
    setup.clock.advance(Duration::from_secs(16));
    assert!(setup.admit(&second.token(&good(&issuer))).await.is_ok());
    assert_eq!(issuer.fetches(), 2);
    assert_eq!(setup.fault(&old).await, TokenFault::Key, "the cached verdict is dropped");
}

#[tokio::test]
async fn unknown_keys_do_not_cause_a_flood_of_requests() {
    let (signer, other) = (Signer::ec("e"), Signer::ec("s"));
    let issuer = Issuer::start(&[&signer]).await;
    let setup = Setup::of(&issuer).await;
    assert!(setup.admit(&signer.token(&good(&issuer))).await.is_ok());
    setup.clock.advance(Duration::from_secs(16));
    for number in 0..50 {
        let header = json!({"alg": "ES256", "kid": format!("k{number}")});
        let token = other.token_under(&header, &good(&issuer));
        assert_eq!(setup.fault(&token).await, TokenFault::Key);
    }
    assert_eq!(issuer.fetches(), 2, "one look for a new key, not fifty");
}

#[tokio::test]
async fn known_keys_stay_valid_while_the_issuer_is_down() {
    let (signer, next) = (Signer::ec("e"), Signer::ec("n"));
    let issuer = Issuer::start(&[&signer]).await;
    let setup = Setup::of(&issuer).await;
    assert!(setup.admit(&signer.token(&good(&issuer))).await.is_ok());
    issuer.set_down(true);
    setup.clock.advance(Duration::from_secs(9 * 60));
    assert!(setup.admit(&signer.token(&good(&issuer))).await.is_ok());
    assert_eq!(setup.fault(&next.token(&good(&issuer))).await, TokenFault::Key);
    issuer.set_down(false);
    issuer.publish(&[&signer, &next]);
    setup.clock.advance(Duration::from_secs(16));
    assert!(setup.admit(&next.token(&good(&issuer))).await.is_ok());
}

#[tokio::test]
async fn an_unreachable_issuer_is_not_reported_as_a_bad_token() {
    let signer = Signer::ec("e");
    let issuer = Issuer::start(&[&signer]).await;
    issuer.set_down(true);
    let setup = Setup::of(&issuer).await;
    let token = signer.token(&good(&issuer));
    for _ in 0..2 {
        let refused = setup.admit(&token).await;
        assert!(matches!(refused, Err(Refusal::Unreachable(_))), "{refused:?}");
    }
    issuer.set_down(false);
    let hasty = setup.admit(&token).await;
    assert!(matches!(hasty, Err(Refusal::Unreachable(_))), "a failure is not repeated at once");
    setup.clock.advance(Duration::from_secs(16));
    assert!(setup.admit(&token).await.is_ok());
}

#[tokio::test]
async fn false_metadata_of_an_issuer_is_refused() {
    let signer = Signer::ec("e");
    for lie in [
        json!({"issuer": "https://id.example", "jwks_uri": "KEYS"}),
        json!({"issuer": "ISSUER", "jwks_uri": "http://169.254.169.254/latest/meta-data"}),
        json!({"issuer": "ISSUER", "jwks_uri": "http://127.0.0.1:1/keys"}),
        json!({"issuer": "ISSUER", "jwks_uri": "file:///etc/passwd"}),
        json!({"issuer": "ISSUER"}),
        json!([]),
    ] {
        let issuer = Issuer::start(&[&signer]).await;
        let keys = format!("{}/keys", issuer.url());
        let text = lie.to_string().replace("ISSUER", issuer.url()).replace("KEYS", &keys);
        issuer.set_metadata(serde_json::from_str(&text).unwrap());
        let refused = Setup::of(&issuer).await.admit(&signer.token(&good(&issuer))).await;
        assert!(matches!(refused, Err(Refusal::Unreachable(_))), "{lie}: {refused:?}");
        assert_eq!(issuer.fetches(), 0, "{lie}");
    }
}

#[tokio::test]
async fn keys_that_are_not_for_signatures_sign_nothing() {
    let signer = Signer::rsa("r");
    let change = |key: &str, value: &str| {
        let mut jwk = signer.jwk();
        jwk[key] = value.into();
        jwk
    };
    let secret = json!({"kty": "oct", "kid": "r", "k": "c2VjcmV0", "alg": "HS256"});
    let odd = json!({"kty": "RSA", "kid": "r"});
    let sets = [
        vec![change("use", "enc")],
        vec![change("alg", "RS512")],
        vec![change("alg", "RSA-OAEP")],
        vec![secret.clone(), odd.clone(), json!(7)],
        vec![],
    ];
    for keys in sets {
        let issuer = Issuer::start(&[]).await;
        let shown = format!("{keys:?}");
        issuer.publish_raw(keys);
        let setup = Setup::of(&issuer).await;
        assert!(setup.admit(&signer.token(&good(&issuer))).await.is_err(), "{shown}");
    }
    let issuer = Issuer::start(&[]).await;
    issuer.publish_raw(vec![secret, odd, signer.jwk()]);
    let setup = Setup::of(&issuer).await;
    assert!(setup.admit(&signer.token(&good(&issuer))).await.is_ok(), "the good one is found");
}

#[tokio::test]
async fn the_config_can_name_the_url_of_the_keys() {
    let signer = Signer::ec("e");
    let issuer = Issuer::start(&[&signer]).await;
    issuer.set_metadata(json!({"issuer": "nonsense"}));
    let mut options = options(issuer.url());
    options.issuer.as_mut().unwrap().jwks_uri = Some(format!("{}/keys", issuer.url()));
    let setup = setup(options).await;
    assert!(setup.admit(&signer.token(&good(&issuer))).await.is_ok());
}
