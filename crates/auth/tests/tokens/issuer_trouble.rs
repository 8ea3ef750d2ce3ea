use std::time::Duration;

use auth::{Refusal, TokenFault};
use serde_json::json;
use testkit::{Issuer, Signer};

use crate::support::{Entrance, entrance, good, options};

#[tokio::test]
async fn when_the_issuer_turns_its_keys_new_tokens_get_in_and_old_ones_no_longer() {
    let (first, second) = (Signer::ec("1"), Signer::ec("2"));
    let issuer = Issuer::start(&[&first]).await;
    let entrance = Entrance::of(&issuer).await;
    let old = first.token(&good(&issuer));
    assert!(entrance.admit(&old).await.is_ok());
    issuer.publish(&[&second]);
    entrance.clock.advance(Duration::from_secs(16));
    assert!(entrance.admit(&second.token(&good(&issuer))).await.is_ok());
    assert_eq!(issuer.fetches(), 2);
    assert_eq!(
        entrance.fault(&old).await,
        TokenFault::Key,
        "what was remembered of it is forgotten"
    );
}

#[tokio::test]
async fn unknown_keys_do_not_make_us_a_battering_ram() {
    let (signer, stranger) = (Signer::ec("e"), Signer::ec("s"));
    let issuer = Issuer::start(&[&signer]).await;
    let entrance = Entrance::of(&issuer).await;
    assert!(entrance.admit(&signer.token(&good(&issuer))).await.is_ok());
    entrance.clock.advance(Duration::from_secs(16));
    for number in 0..50 {
        let header = json!({"alg": "ES256", "kid": format!("k{number}")});
        let token = stranger.token_under(&header, &good(&issuer));
        assert_eq!(entrance.fault(&token).await, TokenFault::Key);
    }
    assert_eq!(issuer.fetches(), 2, "one look for a new key, not fifty");
}

#[tokio::test]
async fn known_keys_stay_good_while_the_issuer_is_down() {
    let (signer, next) = (Signer::ec("e"), Signer::ec("n"));
    let issuer = Issuer::start(&[&signer]).await;
    let entrance = Entrance::of(&issuer).await;
    assert!(entrance.admit(&signer.token(&good(&issuer))).await.is_ok());
    issuer.set_down(true);
    entrance.clock.advance(Duration::from_secs(9 * 60));
    assert!(entrance.admit(&signer.token(&good(&issuer))).await.is_ok());
    assert_eq!(entrance.fault(&next.token(&good(&issuer))).await, TokenFault::Key);
    issuer.set_down(false);
    issuer.publish(&[&signer, &next]);
    entrance.clock.advance(Duration::from_secs(16));
    assert!(entrance.admit(&next.token(&good(&issuer))).await.is_ok());
}

#[tokio::test]
async fn an_issuer_that_was_never_reached_is_no_fault_of_the_token() {
    let signer = Signer::ec("e");
    let issuer = Issuer::start(&[&signer]).await;
    issuer.set_down(true);
    let entrance = Entrance::of(&issuer).await;
    let token = signer.token(&good(&issuer));
    for _ in 0..2 {
        let refused = entrance.admit(&token).await;
        assert!(matches!(refused, Err(Refusal::Unreachable(_))), "{refused:?}");
    }
    issuer.set_down(false);
    let hasty = entrance.admit(&token).await;
    assert!(matches!(hasty, Err(Refusal::Unreachable(_))), "a failure is not repeated at once");
    entrance.clock.advance(Duration::from_secs(16));
    assert!(entrance.admit(&token).await.is_ok());
}

#[tokio::test]
async fn an_issuer_that_lies_about_itself_is_not_believed() {
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
        let refused = Entrance::of(&issuer).await.admit(&signer.token(&good(&issuer))).await;
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
        let entrance = Entrance::of(&issuer).await;
        assert!(entrance.admit(&signer.token(&good(&issuer))).await.is_err(), "{shown}");
    }
    let issuer = Issuer::start(&[]).await;
    issuer.publish_raw(vec![secret, odd, signer.jwk()]);
    let entrance = Entrance::of(&issuer).await;
    assert!(entrance.admit(&signer.token(&good(&issuer))).await.is_ok(), "the good one is found");
}

#[tokio::test]
async fn keys_may_be_where_the_config_says() {
    let signer = Signer::ec("e");
    let issuer = Issuer::start(&[&signer]).await;
    issuer.set_metadata(json!({"issuer": "nonsense"}));
    let mut options = options(issuer.url());
    options.issuer.as_mut().unwrap().jwks_uri = Some(format!("{}/keys", issuer.url()));
    let entrance = entrance(options).await;
    assert!(entrance.admit(&signer.token(&good(&issuer))).await.is_ok());
}
