//! Callers whose work goes on after their request are checked again.

use std::time::Duration;

use auth::{Access, AccessOptions, Gone, KeyKind, LocalAccess};
use http::{HeaderMap, HeaderValue};
use proto::{Audience, Via};
use serde_json::json;
use testkit::{Issuer, Signer};

use crate::tokens::api_keys::key;
use crate::tokens::support::{GATEWAY, Setup, options, setup};

#[tokio::test]
async fn a_key_loses_its_rights_when_it_is_revoked_and_a_token_keeps_them_when_it_expires() {
    let signer = Signer::ec("e");
    let issuer = Issuer::start(&[&signer]).await;
    let setup = Setup::of(&issuer).await;
    let (row, secret) = setup.keys.add(key("ci", KeyKind::Api)).await.unwrap();
    let by_key = setup.admit(secret.expose()).await.unwrap();
    assert_eq!(by_key.via, Via::Key { id: row.id });
    let claims = issuer.claims(GATEWAY, json!({"azp": "laptop"}));
    let by_token = setup.admit(&signer.token(&claims)).await.unwrap();
    let (url, client) = (issuer.url().to_owned(), Some("laptop".to_owned()));
    assert_eq!(
        by_token.via,
        Via::Token { issuer: url.clone(), client, audience: Audience::Gateway }
    );

    setup.clock.advance(Duration::from_secs(365 * 24 * 60 * 60));
    assert_eq!(setup.access.still_valid(&by_token), Ok(()));
    assert_eq!(setup.access.still_valid(&by_key), Ok(()));
    setup.keys.revoke("ci").await.unwrap();
    assert_eq!(setup.access.still_valid(&by_key), Err(Gone::KeyRevoked));

    let local = Access::from(LocalAccess::default());
    assert_eq!(local.still_valid(&by_key), Err(Gone::KeysRefused));
    assert_eq!(local.still_valid(&by_token), Err(Gone::IssuerRemoved(url)));
}

#[tokio::test]
async fn another_auth_setting_ends_the_rights_of_earlier_callers() {
    let local = LocalAccess::default();
    let mut headers = HeaderMap::new();
    headers.insert("host", HeaderValue::from_static("localhost"));
    let visitor = local.admit(&headers, None).unwrap();
    let access = Access::from(local.clone());
    assert_eq!(access.still_valid(&visitor), Ok(()));
    let guarded = setup(options("https://id.example")).await;
    assert_eq!(guarded.access.still_valid(&visitor), Err(Gone::CredentialNeeded));
    assert_eq!(guarded.access.still_valid(&local.user()), Ok(()), "pipes need no credential");

    let (_, secret) = guarded.keys.add(key("ci", KeyKind::Api)).await.unwrap();
    let by_key = guarded.admit(secret.expose()).await.unwrap();
    let without = setup(AccessOptions { api_keys: false, ..options("https://id.example") }).await;
    assert_eq!(without.access.still_valid(&by_key), Err(Gone::KeysRefused));
}
