use std::time::Duration;

use auth::{IntrospectionOptions, Refusal, TokenFault};
use secrecy::SecretString;
use serde_json::{Value, json};
use testkit::{Issuer, Signer};

use crate::support::{Entrance, GATEWAY, entrance, good, options};

async fn asking(issuer: &Issuer) -> Entrance {
    let mut options = options(issuer.url());
    options.issuer.as_mut().unwrap().introspection = Some(IntrospectionOptions {
        url: format!("{}/introspect", issuer.url()),
        client_id: "gate way".to_owned(),
        client_secret: SecretString::from("s3cret:"),
    });
    entrance(options).await
}

fn active(issuer: &Issuer, changes: Value) -> Value {
    let mut answer = issuer.claims(GATEWAY, changes);
    answer["active"] = json!(true);
    answer
}

#[tokio::test]
async fn opaque_tokens_are_asked_about_once_in_a_while() {
    let signer = Signer::ec("e");
    let issuer = Issuer::start(&[&signer]).await;
    let entrance = asking(&issuer).await;
    issuer.set_introspection("opaque", active(&issuer, json!({})));
    for _ in 0..3 {
        assert_eq!(entrance.admit("opaque").await.unwrap().subject, "ann");
        assert_eq!(entrance.fault("unknown").await, TokenFault::Unknown);
    }
    let (asked, by) = issuer.introspections();
    assert_eq!(asked, 2, "once for each");
    assert_eq!(by.as_deref(), Some("Basic Z2F0ZSt3YXk6czNjcmV0JTNB"), "form-encoded, then joined");
    issuer.set_introspection("opaque", json!({"active": false}));
    assert!(entrance.admit("opaque").await.is_ok(), "believed for a short while");
    entrance.clock.advance(Duration::from_secs(31));
    assert_eq!(entrance.fault("opaque").await, TokenFault::Unknown, "revoked");
    assert!(
        entrance.admit(&signer.token(&good(&issuer))).await.is_ok(),
        "signed ones are checked here"
    );
}

#[tokio::test]
async fn what_is_told_of_a_token_is_checked_like_a_token() {
    let issuer = Issuer::start(&[]).await;
    let entrance = asking(&issuer).await;
    let now = entrance.clock.unix_ms() / 1000;
    for (number, (answer, fault)) in [
        (active(&issuer, json!({"aud": "https://other.example"})), TokenFault::Audience),
        (active(&issuer, json!({"aud": null})), TokenFault::Audience),
        (active(&issuer, json!({"iss": "https://other.example"})), TokenFault::Issuer),
        (active(&issuer, json!({"exp": now - 60})), TokenFault::Expired),
        (active(&issuer, json!({"org": null})), TokenFault::Claim("org".to_owned())),
        (active(&issuer, json!({"active": "true"})), TokenFault::Unknown),
    ]
    .into_iter()
    .enumerate()
    {
        let mut answer = answer;
        if number == 5 {
            answer["active"] = json!("true");
        }
        let token = format!("t{number}");
        issuer.set_introspection(&token, answer.clone());
        assert_eq!(entrance.fault(&token).await, fault, "{answer}");
    }
    issuer.set_introspection("short", active(&issuer, json!({"exp": now + 1, "iss": null})));
    assert!(entrance.admit("short").await.is_ok());
    entrance.clock.advance(Duration::from_secs(32));
    assert_eq!(entrance.fault("short").await, TokenFault::Expired, "never beyond its end");
    issuer.set_down(true);
    let unasked = entrance.admit("other").await;
    assert!(matches!(unasked, Err(Refusal::Unreachable(_))), "{unasked:?}");
}
