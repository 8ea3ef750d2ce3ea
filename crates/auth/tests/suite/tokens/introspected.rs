use std::time::Duration;

use auth::{IntrospectionOptions, Refusal, TokenFault};
use proto::Secret;
use serde_json::{Value, json};
use testkit::{Issuer, Signer};

use crate::tokens::support::{GATEWAY, Setup, good, options, setup};

async fn with_introspection(issuer: &Issuer) -> Setup {
    let mut options = options(issuer.url());
    options.issuer.as_mut().unwrap().introspection = Some(IntrospectionOptions {
        url: format!("{}/introspect", issuer.url()),
        client_id: "gate way".to_owned(),
        client_secret: Secret::new("s3cret:"),
    });
    setup(options).await
}

fn active(issuer: &Issuer, changes: Value) -> Value {
    let mut answer = issuer.claims(GATEWAY, changes);
    answer["active"] = json!(true);
    answer
}

#[tokio::test]
async fn answers_about_opaque_tokens_are_cached_briefly() {
    let signer = Signer::ec("e");
    let issuer = Issuer::start(&[&signer]).await;
    let setup = with_introspection(&issuer).await;
    issuer.set_introspection("opaque", active(&issuer, json!({})));
    for _ in 0..3 {
        assert_eq!(setup.admit("opaque").await.unwrap().subject, "ann");
        assert_eq!(setup.fault("unknown").await, TokenFault::Unknown);
    }
    let (asked, by) = issuer.introspections();
    assert_eq!(asked, 2, "once for each");
    assert_eq!(by.as_deref(), Some("Basic Z2F0ZSt3YXk6czNjcmV0JTNB"), "form-encoded, then joined");
    issuer.set_introspection("opaque", json!({"active": false}));
    assert!(setup.admit("opaque").await.is_ok(), "cached for a short while");
    setup.clock.advance(Duration::from_secs(31));
    assert_eq!(setup.fault("opaque").await, TokenFault::Unknown, "revoked");
    assert!(
        setup.admit(&signer.token(&good(&issuer))).await.is_ok(),
        "signed ones are checked here"
    );
}

#[tokio::test]
async fn introspection_answers_are_checked_like_claims() {
    let issuer = Issuer::start(&[]).await;
    let setup = with_introspection(&issuer).await;
    let now = setup.clock.unix_ms() / 1000;
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
        assert_eq!(setup.fault(&token).await, fault, "{answer}");
    }
    issuer.set_introspection("short", active(&issuer, json!({"exp": now + 1, "iss": null})));
    assert!(setup.admit("short").await.is_ok());
    setup.clock.advance(Duration::from_secs(32));
    assert_eq!(setup.fault("short").await, TokenFault::Expired, "never beyond its end");
    issuer.set_down(true);
    let unasked = setup.admit("other").await;
    assert!(matches!(unasked, Err(Refusal::Unreachable(_))), "{unasked:?}");
}
