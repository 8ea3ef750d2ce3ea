use environment::Environment;

use super::*;
use crate::{BadConfig, Overrides, VaultSecrets, load};

const CANARY: &str = "canary91b2";

fn loaded(auth: &str) -> Result<ClientConfig, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("powerstrip.yaml");
    let yaml = format!("servers:\n  crm:\n    url: https://crm.example/mcp\n    auth: {auth}\n");
    std::fs::write(&file, yaml).unwrap();
    let flags = Overrides { config: Some(file), ..Overrides::default() };
    let environment = Environment::default().with([("SECRET", CANARY)]);
    let loaded = load(&flags, &environment).map_err(|bad| bad.to_string())?;
    let resolved = loaded.resolve(&VaultSecrets::default());
    if !resolved.off.is_empty() {
        return Err(BadConfig(resolved.off).to_string());
    }
    Ok(resolved.servers[0].1.auth.clone().unwrap())
}

#[test]
fn all_keys_are_read_and_secrets_are_not_shown() {
    let config = loaded(
        "{grant: client_credentials, client_id: me, client_secret: {env: SECRET}, scopes: [a, b], \
         issuer: 'https://as.example', resource: false}",
    )
    .unwrap();
    assert_eq!(config.client_secret.as_ref().unwrap().expose(), CANARY);
    assert_eq!((config.grant, &config.resource), (Grant::ClientCredentials, &Resource::Omitted));
    assert!(!format!("{config:?}").contains(CANARY));
    let named = loaded("{resource: 'https://crm.example'}").unwrap();
    assert_eq!(named.resource, Resource::Named("https://crm.example".to_owned()));
    assert_eq!(loaded("{}").unwrap(), ClientConfig::default());
}

#[test]
fn faults_name_their_key_and_no_secret() {
    for (auth, key, says) in [
        ("{grant: password}", "grant", ""),
        ("{client_secret: canary91b2}", "client_secret", "{env: NAME}"),
        ("{client_secret: {env: SECRET}}", "client_id", "needs one"),
        ("{client_id: me, client_secret: {env: SECRET}}", "issuer", "name it here"),
        (
            "{client_id: me, client_secret: {env: UNSET}, issuer: 'https://as'}",
            "client_secret",
            "UNSET",
        ),
        ("{grant: client_credentials}", "client_id", "needs one"),
        ("{grant: client_credentials, client_id: me}", "client_secret", "needs"),
        ("{client_id: me, private_key: {env: SECRET}, issuer: 'https://as'}", "private_key", "PEM"),
        ("{grant: token_exchange, client_id: me}", "subject_token", "needs"),
        ("{grant: jwt_bearer, client_id: me}", "subject_token", "needs"),
        (
            "{grant: identity_assertion, client_id: me, issuer: 'https://as', subject_token: {env: SECRET}}",
            "identity_provider",
            "needs it",
        ),
        (
            "{identity_provider: {issuer: 'https://idp', client_id: me}}",
            "identity_provider",
            "no other grant",
        ),
        ("{key_id: k}", "key_id", "private_key"),
        ("{scopes: ['a b']}", "scopes", "`a b`"),
        ("{issuer: 'javascript:alert(1)'}", "issuer", "scheme"),
        ("{resource: 'file:///x'}", "resource", "scheme"),
        ("{redirect_uri: 'https://u:p@x/'}", "redirect_uri", "password"),
        ("{issuers: x}", "issuers", "issuer"),
    ] {
        let fault = loaded(auth).unwrap_err();
        assert!(fault.contains(&format!("servers.crm.auth.{key}")), "{auth}: {fault}");
        assert!(fault.contains(says), "{auth}: {fault}");
        assert!(!fault.contains(CANARY), "{auth}: {fault}");
    }
}
