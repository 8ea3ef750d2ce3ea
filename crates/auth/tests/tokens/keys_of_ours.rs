use auth::{AccessOptions, KeyKind, NewKey, Refusal, TokenFault};
use http::{HeaderMap, HeaderValue};
use secrecy::ExposeSecret as _;
use testkit::{Issuer, Signer};

use crate::support::{entrance, good, options};

fn key(name: &str, kind: KeyKind) -> NewKey {
    NewKey {
        name: name.to_owned(),
        kind,
        tenant: None,
        subject: None,
        agent: None,
        scopes: Vec::new(),
        lifetime: None,
    }
}

#[tokio::test]
async fn keys_open_what_their_kind_is_for_and_tokens_register_nothing() {
    let signer = Signer::ec("e");
    let issuer = Issuer::start(&[&signer]).await;
    let entrance = entrance(options(issuer.url())).await;
    let (_, api) = entrance.ring.add(key("api", KeyKind::Api)).await.unwrap();
    let (_, registration) = entrance.ring.add(key("reg", KeyKind::Registration)).await.unwrap();
    let register = async |token: &str| {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_str(&format!("Bearer {token}")).unwrap());
        entrance.access.admit_registration(&headers, None).await.map(|who| who.subject.clone())
    };
    let (api, registration) = (api.expose_secret(), registration.expose_secret());
    assert_eq!(entrance.admit(api).await.unwrap().subject, "key:api");
    assert_eq!(entrance.fault(registration).await, TokenFault::Unknown);
    assert_eq!(register(registration).await.as_deref(), Ok("key:reg"));
    assert_eq!(register(api).await, Err(Refusal::BadToken(TokenFault::Unknown)));
    assert!(register(&signer.token(&good(&issuer))).await.is_err());
}

#[tokio::test]
async fn keys_may_be_turned_off_and_may_be_all_there_is() {
    let issuer = Issuer::start(&[]).await;
    let without = entrance(AccessOptions { api_keys: false, ..options(issuer.url()) }).await;
    let (_, secret) = without.ring.add(key("api", KeyKind::Api)).await.unwrap();
    assert_eq!(without.fault(secret.expose_secret()).await, TokenFault::Unknown);

    let alone = entrance(AccessOptions { issuer: None, ..options(issuer.url()) }).await;
    let (_, secret) = alone.ring.add(key("api", KeyKind::Api)).await.unwrap();
    assert!(alone.admit(secret.expose_secret()).await.is_ok());
    let signer = Signer::ec("e");
    assert_eq!(alone.fault(&signer.token(&good(&issuer))).await, TokenFault::Unknown);
    assert_eq!(issuer.fetches(), 0);
}
