use secrecy::ExposeSecret as _;

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

async fn ring() -> (tempfile::TempDir, Clock, KeyRing) {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Clock::manual(NOON);
    let database = Database::open(folder.path()).await.expect("a database");
    let ring = KeyRing::open(database, clock.clone()).await.expect("the keys");
    (folder, clock, ring)
}

#[tokio::test]
async fn a_key_stands_for_whom_it_names_also_after_a_restart() {
    let (folder, clock, ring) = ring().await;
    let new = NewKey {
        tenant: Some("acme".to_owned()),
        agent: Some("researcher".to_owned()),
        scopes: vec!["tools:read".to_owned(), "tools:read".to_owned()],
        ..named("ci")
    };
    let (row, secret) = ring.add(new).await.expect("a key");
    let text = secret.expose_secret();
    assert!(text.starts_with("ps_") && text.len() > 50, "{text}");
    let expected = Principal {
        tenant: TenantId::new("acme"),
        subject: "key:ci".to_owned(),
        agent: Some("researcher".to_owned()),
        scopes: vec!["tools:read".to_owned()],
    };
    assert_eq!(ring.check(text, KeyKind::Api).as_deref(), Some(&expected));
    let again = Database::open(folder.path()).await.expect("the database");
    let again = KeyRing::open(again, clock).await.expect("the keys");
    assert_eq!(again.check(text, KeyKind::Api).as_deref(), Some(&expected));
    assert!(
        !format!("{row:?}{secret:?}").contains(&text[16..]),
        "the secret is never shown by accident"
    );
}

#[tokio::test]
async fn what_is_almost_a_key_is_none() {
    let (_folder, _clock, ring) = ring().await;
    let (row, secret) = ring.add(named("ci")).await.expect("a key");
    let text = secret.expose_secret();
    let (start, last) = text.split_at(text.len() - 1);
    let changed = format!("{start}{}", if last == "A" { "B" } else { "A" });
    let flood = format!("{text}{}", "x".repeat(100_000));
    for wrong in
        ["", "ps_", "ps__", "x", start, &changed, &flood, &format!("ps_{}_", row.id), &text[3..]]
    {
        assert_eq!(ring.check(wrong, KeyKind::Api), None, "{wrong}");
    }
    assert_eq!(ring.check(text, KeyKind::Registration), None, "a key opens what its kind is for");
}

#[tokio::test]
async fn keys_end_when_they_expire_or_are_revoked() {
    let (folder, clock, ring) = ring().await;
    let short = NewKey { lifetime: Some(Duration::from_secs(60)), ..named("short") };
    let (_, short) = ring.add(short).await.expect("a key");
    let (_, long) = ring.add(named("long")).await.expect("a key");
    let good = |ring: &KeyRing, key: &SecretString| {
        ring.check(key.expose_secret(), KeyKind::Api).is_some()
    };
    clock.advance(Duration::from_secs(59));
    assert!(good(&ring, &short));
    clock.advance(Duration::from_secs(1));
    assert!(!good(&ring, &short) && good(&ring, &long));

    assert!(matches!(ring.add(named("long")).await, Err(KeyFault::Taken(_))));
    ring.revoke("long").await.expect("it is there");
    assert!(!good(&ring, &long));
    assert!(matches!(ring.revoke("long").await, Err(KeyFault::Unknown(_))));
    let (renewed, _) = ring.add(named("long")).await.expect("the name is free again");
    ring.revoke(&renewed.id).await.expect("an id will do");

    let again = Database::open(folder.path()).await.expect("the database");
    let again = KeyRing::open(again, clock).await.expect("the keys");
    assert!(!good(&again, &short) && !good(&again, &long));
    assert_eq!(again.list().len(), 3, "they are remembered");
}

#[tokio::test]
async fn nonsense_is_refused_before_anything_is_kept() {
    let (_folder, _clock, ring) = ring().await;
    for name in ["", "-x", "a b", "a/b", "ä", &"x".repeat(65)] {
        assert!(matches!(ring.add(named(name)).await, Err(KeyFault::Name(_))), "{name}");
    }
    let scoped = |scope: &str| NewKey { scopes: vec![scope.to_owned()], ..named("x") };
    for scope in ["", "a b", "\"", "a\\b", "tools:read\n"] {
        assert!(matches!(ring.add(scoped(scope)).await, Err(KeyFault::Scope(_))), "{scope}");
    }
    for tenant in ["", "a b", "a\u{0}"] {
        let new = NewKey { tenant: Some(tenant.to_owned()), ..named("x") };
        assert!(matches!(ring.add(new).await, Err(KeyFault::Word("tenant"))), "{tenant}");
    }
    assert!(ring.list().is_empty());
}
