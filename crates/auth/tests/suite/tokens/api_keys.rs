use auth::{AccessOptions, KeyKind, NewKey, Refusal, TokenFault};
use http::{HeaderMap, HeaderValue};
use testkit::{Issuer, Signer};

use crate::tokens::support::{good, options, setup};

pub(crate) fn key(name: &str, kind: KeyKind) -> NewKey {
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
async fn keys_are_valid_for_their_kind_only_and_tokens_cannot_register() {
    let signer = Signer::ec("e");
    let issuer = Issuer::start(&[&signer]).await;
    let setup = setup(options(issuer.url())).await;
    let (_, api) = setup.keys.add(key("api", KeyKind::Api)).await.unwrap();
    let (_, registration) = setup.keys.add(key("reg", KeyKind::Registration)).await.unwrap();
    let register = async |token: &str| {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_str(&format!("Bearer {token}")).unwrap());
        setup.access.admit_registration(&headers, None).await.map(|who| who.subject.clone())
    };
    let (api, registration) = (api.expose(), registration.expose());
    assert_eq!(setup.admit(api).await.unwrap().subject, "key:api");
    assert_eq!(setup.fault(registration).await, TokenFault::Unknown);
    assert_eq!(register(registration).await.as_deref(), Ok("key:reg"));
    assert_eq!(register(api).await, Err(Refusal::MissingScope), "it is no guess");
    let token = signer.token(&good(&issuer));
    assert_eq!(register(&token).await, Err(Refusal::MissingScope));
    assert_eq!(register("ps_guess_x").await, Err(Refusal::BadToken(TokenFault::Unknown)));
}

#[tokio::test]
async fn keys_can_be_disabled_and_can_be_the_only_credentials() {
    let issuer = Issuer::start(&[]).await;
    let without = setup(AccessOptions { api_keys: false, ..options(issuer.url()) }).await;
    let (_, secret) = without.keys.add(key("api", KeyKind::Api)).await.unwrap();
    assert_eq!(without.fault(secret.expose()).await, TokenFault::Unknown);

    let alone = setup(AccessOptions { issuer: None, ..options(issuer.url()) }).await;
    let (_, secret) = alone.keys.add(key("api", KeyKind::Api)).await.unwrap();
    assert!(alone.admit(secret.expose()).await.is_ok());
    let signer = Signer::ec("e");
    assert_eq!(alone.fault(&signer.token(&good(&issuer))).await, TokenFault::Unknown);
    assert_eq!(issuer.fetches(), 0);
}
