use std::sync::Arc;

use ::auth::secrets::SecretValues;

use super::*;
use crate::{BadConfig, Loaded, Overrides, load};

fn loaded(yaml: &str, dotenv: &str, environment: &Environment) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("powerstrip.yaml");
    std::fs::write(&file, yaml).unwrap();
    std::fs::write(folder.path().join(".env"), dotenv).unwrap();
    load(&Overrides { config: Some(file), ..Overrides::default() }, environment).unwrap()
}

fn vault(values: &[(&str, &str)]) -> VaultSecrets {
    let values = values.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value)));
    VaultSecrets { gateway: Arc::new(SecretValues::of(values)), local_user: None }
}

const MANY: &str = "\
servers:
  good: { command: x }
  one: { command: x, env: { KEY: { env: ONE } } }
  two: { url: 'http://127.0.0.1:1/mcp', headers: { X: { secret: two } } }
  off: { command: x, disabled: true, env: { KEY: { env: OFF } } }
  own: { command: x, env: { KEY: { secret: own, per: person } } }
approvals: { webhook: { url: 'http://127.0.0.1:1/', secret: { file: none.txt } } }
";

#[test]
fn a_missing_secret_is_missed_by_what_needs_it_alone() {
    let loaded = loaded(MANY, "", &Environment::default());
    let resolved = loaded.resolve(&VaultSecrets::default());
    let missing: Vec<_> = resolved
        .servers
        .iter()
        .filter(|(_, server)| !server.missing.is_empty())
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(missing, ["one", "two", "off"]);
    let keys: Vec<_> = resolved.off.iter().map(|fault| fault.key.as_str()).collect();
    assert_eq!(
        keys,
        ["servers.one.env.KEY", "servers.two.headers.X", "approvals.webhook.secret"],
        "a disabled server misses nothing"
    );
    assert!(resolved.webhook_secret.is_none());
    let said = resolved.off[1].to_string();
    assert!(said.contains("powerstrip.yaml:4: "), "{said}");
    assert!(said.contains("`powerstrip secret set two`"), "{said}");
    assert!(resolved.off[0].message.contains("`.env`"), "{}", resolved.off[0]);
    let outside = loaded.missing_outside_vault();
    assert_eq!(outside.len(), 1, "{outside:?}");

    let resolved = loaded.resolve(&vault(&[("two", "t2-value")]));
    let (_, two) = resolved.servers.iter().find(|(name, _)| name == "two").unwrap();
    assert_eq!(two.headers["X"], "t2-value");
    assert_eq!(two.missing, [""; 0]);
}

#[test]
fn a_missing_secret_of_auth_is_an_error() {
    for auth in [
        "introspection: { url: 'https://x/i', client_id: a, client_secret: { env: A } }",
        "sign_in: { client_id: a, client_secret: { secret: A } }",
    ] {
        let yaml = format!("auth: {{ issuer: 'https://x', {auth} }}\n");
        let loaded = loaded(&yaml, "", &Environment::default());
        let why = loaded.access(&VaultSecrets::default()).unwrap_err().to_string();
        assert!(why.contains("client_secret: ") && why.contains("`A`"), "{why}");
        assert!(why.contains("powerstrip.yaml:1: auth."), "{why}");
        let given = Environment::default().with([("A", "x")]);
        let loaded = self::loaded(&yaml, "", &given);
        assert!(loaded.access(&vault(&[("A", "x")])).unwrap().is_some());
    }
}

#[test]
fn dotenv_completes_the_environment() {
    let yaml = "servers: { a: { command: x, env: { A: { env: A }, B: { env: B, prefix: 'Bearer ' } } } }\n";
    let loaded = loaded(
        yaml,
        "A=file\nB=file\nbad line\n",
        &Environment::default().with([("A", "process")]),
    );
    let resolved = loaded.resolve(&VaultSecrets::default());
    assert_eq!(resolved.servers[0].1.env["A"], "process");
    assert_eq!(resolved.servers[0].1.env["B"], "Bearer file");
    let warned = loaded.warnings[0].to_string();
    assert!(warned.contains(".env:3: ") && !warned.contains("bad line"), "{warned}");
}

#[test]
fn a_personal_secret_is_not_fetched_but_may_be_given_for_listing() {
    let loaded = loaded(MANY, "", &Environment::default());
    assert_eq!(loaded.personal_secrets()["own"], ["own".to_owned()].into());
    assert_eq!(loaded.vault_secrets(), ["two".to_owned()].into());
    let own = |vault: &VaultSecrets| {
        let servers = loaded.resolve(vault).servers;
        servers.into_iter().find(|(name, _)| name == "own").unwrap().1
    };
    let without = own(&VaultSecrets::default());
    assert_eq!((without.missing.len(), without.env.len()), (0, 0));
    assert_eq!(without.personal.env["KEY"].secret, "own");
    assert_eq!(own(&vault(&[("own", "for-listing")])).env["KEY"], "for-listing");
    let local = VaultSecrets { local_user: Some(vault(&[("own", "mine")]).gateway), ..vault(&[]) };
    assert_eq!(own(&local).env["KEY"], "mine");
}

#[test]
fn personal_secrets_belong_to_env_and_headers_of_servers() {
    for (yaml, says) in [
        (
            "servers: { a: { url: 'http://x/', auth: { client_id: a, issuer: 'https://x', client_secret: { secret: s, per: person } } } }",
            "servers.a.auth.client_secret: `per: person` is possible only",
        ),
        (
            "servers: { a: { command: x, shared: true, env: { A: { secret: s, per: person } } } }",
            "servers.a.instances: ",
        ),
        (
            "servers: { a: { command: x, env: { LD_PRELOAD: { secret: s, per: person } } } }",
            "servers.a.env: `LD_PRELOAD`",
        ),
        ("storage: { database: { secret: s } }", "storage.database: is needed before the vault"),
        (
            "approvals: { webhook: { url: 'http://x/', secret: { secret: s, per: person } } }",
            "approvals.webhook.secret: `per: person`",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("powerstrip.yaml");
        std::fs::write(&file, yaml).unwrap();
        let flags = Overrides { config: Some(file), ..Overrides::default() };
        let why = match load(&flags, &Environment::default()) {
            Ok(loaded) => BadConfig(loaded.invalid.into_values().flatten().collect()),
            Err(refused) => refused,
        };
        let why = why.to_string();
        assert!(why.contains(says), "{yaml}: {why}");
    }
}
