use testkit::SqliteConnection;

use super::*;

const NOON: u64 = 1_800_000_000_000;

fn named(name: &str) -> NewKey {
    NewKey {
        name: name.to_owned(),
        kind: KeyKind::Api,
        tenant: None,
        subject: None,
        agent: None,
        scopes: Vec::new(),
        lifetime: None,
    }
}

async fn keys() -> (tempfile::TempDir, Clock, ApiKeys) {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Clock::manual(NOON);
    let database = Database::open(folder.path()).await.expect("a database");
    let keys = ApiKeys::open(database, clock.clone()).await.expect("the keys");
    (folder, clock, keys)
}

#[tokio::test]
async fn a_key_yields_its_principal_also_after_a_restart() {
    let (folder, clock, keys) = keys().await;
    let new = NewKey {
        tenant: Some("acme".to_owned()),
        agent: Some("researcher".to_owned()),
        scopes: vec!["tools:read".to_owned(), "tools:read".to_owned()],
        ..named("ci")
    };
    let (row, secret) = keys.add(new).await.expect("a key");
    let text = secret.expose();
    assert!(text.starts_with("ps_") && text.len() > 50, "{text}");
    let expected = Principal {
        tenant: TenantId::new("acme"),
        subject: "key:ci".to_owned(),
        agent: Some("researcher".to_owned()),
        scopes: vec!["tools:read".to_owned()],
        via: Via::Key { id: row.id.clone() },
    };
    assert_eq!(keys.check(text, KeyKind::Api).as_deref(), Some(&expected));
    let again = Database::open(folder.path()).await.expect("the database");
    let again = ApiKeys::open(again, clock).await.expect("the keys");
    assert_eq!(again.check(text, KeyKind::Api).as_deref(), Some(&expected));
    assert!(
        !format!("{row:?}{secret:?}").contains(&text[16..]),
        "the secret is never shown by accident"
    );
}

#[tokio::test]
async fn altered_keys_are_refused() {
    let (_folder, _clock, keys) = keys().await;
    let (row, secret) = keys.add(named("ci")).await.expect("a key");
    let text = secret.expose();
    let (start, last) = text.split_at(text.len() - 1);
    let changed = format!("{start}{}", if last == "A" { "B" } else { "A" });
    let flood = format!("{text}{}", "x".repeat(100_000));
    for wrong in
        ["", "ps_", "ps__", "x", start, &changed, &flood, &format!("ps_{}_", row.id), &text[3..]]
    {
        assert_eq!(keys.check(wrong, KeyKind::Api), None, "{wrong}");
    }
    assert_eq!(keys.check(text, KeyKind::Registration), None, "a key opens what its kind is for");
}

#[tokio::test]
async fn keys_end_when_they_expire_or_are_revoked() {
    let (folder, clock, keys) = keys().await;
    let short = NewKey { lifetime: Some(Duration::from_secs(60)), ..named("short") };
    let (_, short) = keys.add(short).await.expect("a key");
    let (_, long) = keys.add(named("long")).await.expect("a key");
    let good = |keys: &ApiKeys, key: &Secret| keys.check(key.expose(), KeyKind::Api).is_some();
    clock.advance(Duration::from_secs(59));
    assert!(good(&keys, &short));
    clock.advance(Duration::from_secs(1));
    assert!(!good(&keys, &short) && good(&keys, &long));

    assert!(matches!(keys.add(named("long")).await, Err(KeyFault::Taken(_))));
    keys.revoke("long").await.expect("it is there");
    assert!(!good(&keys, &long));
    assert!(matches!(keys.revoke("long").await, Err(KeyFault::Unknown(_))));
    let (renewed, _) = keys.add(named("long")).await.expect("the name is free again");
    keys.revoke(&renewed.id).await.expect("an id will do");

    let again = Database::open(folder.path()).await.expect("the database");
    let again = ApiKeys::open(again, clock).await.expect("the keys");
    assert!(!good(&again, &short) && !good(&again, &long));
    assert_eq!(again.list().rows.len(), 3, "they are remembered");
}

#[tokio::test]
async fn invalid_new_keys_are_refused() {
    let (_folder, _clock, keys) = keys().await;
    for name in ["", "-x", "a b", "a/b", "ä", &"x".repeat(65)] {
        assert!(matches!(keys.add(named(name)).await, Err(KeyFault::Name(_))), "{name}");
    }
    let scoped = |scope: &str| NewKey { scopes: vec![scope.to_owned()], ..named("x") };
    for scope in ["", "a b", "\"", "a\\b", "tools:read\n"] {
        assert!(matches!(keys.add(scoped(scope)).await, Err(KeyFault::Scope(_))), "{scope}");
    }
    for tenant in ["", "a b", "a\u{0}"] {
        let new = NewKey { tenant: Some(tenant.to_owned()), ..named("x") };
        assert!(matches!(keys.add(new).await, Err(KeyFault::Word("tenant"))), "{tenant}");
    }
    assert!(keys.list().rows.is_empty());
}

/// The rest of its row does not say for which caller it was made and until when it is valid.
#[tokio::test]
async fn a_damaged_key_authenticates_no_one_and_can_be_revoked() {
    let (folder, clock, keys) = keys().await;
    let (damaged, text) = keys.add(named("ci")).await.expect("a key");
    let (whole, whole_text) = keys.add(named("laptop")).await.expect("a key");
    let reopen = async |sql: &str| {
        drop(SqliteConnection::execute(&folder.path().join("powerstrip.db"), sql));
        let database = Database::open(folder.path()).await.expect("the database");
        ApiKeys::open(database, clock.clone()).await.expect("the other keys")
    };
    let id = &damaged.id;
    let again =
        reopen(&format!("UPDATE access_keys SET expires_ms = 'never' WHERE id = '{id}'")).await;
    assert_eq!(again.check(text.expose(), KeyKind::Api), None);
    assert!(again.is_revoked(id), "sessions of it end");
    assert!(again.check(whole_text.expose(), KeyKind::Api).is_some());
    let listed = again.list();
    assert_eq!(listed.rows.len(), 1);
    assert_eq!((&*listed.damaged[0].id, &*listed.damaged[0].column), (&**id, "expires_ms"));

    assert!(matches!(again.add(named("ci")).await, Err(KeyFault::Taken(_))));
    assert!(matches!(again.revoke(id).await, Ok(RevokedKey::Damaged(_))));
    assert_eq!(again.list().damaged, []);
    assert!(matches!(again.revoke(id).await, Err(KeyFault::Unknown(_))));
    again.add(named("ci")).await.expect("the name is free again");
    let later = reopen("UPDATE access_keys SET used_ms = NULL").await;
    assert!(later.list().damaged.is_empty() && later.check(text.expose(), KeyKind::Api).is_none());
    assert!(later.list().rows.iter().any(|row| row.id == whole.id));
}
