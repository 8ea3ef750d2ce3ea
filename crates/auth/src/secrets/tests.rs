use testkit::SqliteConnection;

use super::*;

const CANARY: &str = "canary-81c2aa";

fn person(tenant: &str, subject: &str) -> Holder {
    Holder::Person { tenant: tenant.to_owned(), subject: subject.to_owned() }
}

async fn open(folder: &std::path::Path) -> Arc<SecretStore> {
    let database = Database::open(folder).await.unwrap();
    let key = KeySource::File(folder.join("vault.key"));
    SecretStore::new(database, key, Clock::default())
}

async fn value(store: &SecretStore, holder: &Holder, name: &str) -> Option<String> {
    let values = store.values(holder).await.unwrap();
    values.get(name).map(|secret| secret.expose().to_owned())
}

#[tokio::test]
async fn each_holder_has_values_of_their_own_and_none_is_readable_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let holders = [
        Holder::Gateway,
        person("acme", "ann"),
        person("acme", "amy"),
        person("globex", "ann"),
        // The two parts are kept apart.
        person("ac", "meann"),
    ];
    for (index, holder) in holders.iter().enumerate() {
        assert_eq!(value(&store, holder, "crm").await, None, "{holder:?}");
        let text = format!("{CANARY}-{index}");
        store.set(holder, "crm", Secret::new(text)).await.unwrap();
    }
    for (index, holder) in holders.iter().enumerate() {
        assert_eq!(value(&store, holder, "crm").await.unwrap(), format!("{CANARY}-{index}"));
        let listed = store.list(holder).await.unwrap();
        assert_eq!(listed.len(), 1);
        assert!(listed[0].readable && listed[0].name == "crm", "{listed:?}");
        assert!(!format!("{:?}", store.values(holder).await.unwrap()).contains(CANARY));
    }
    assert!(store.remove(&holders[1], "crm").await.unwrap());
    assert!(!store.remove(&holders[1], "crm").await.unwrap());
    assert_eq!(value(&store, &holders[1], "crm").await, None);
    assert!(value(&store, &holders[2], "crm").await.is_some());
    for entry in std::fs::read_dir(folder.path()).unwrap().flatten() {
        let bytes = std::fs::read(entry.path()).unwrap();
        let found = bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
        assert!(!found, "{:?}", entry.path());
    }
}

#[tokio::test]
async fn a_row_moved_to_another_person_does_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let (ann, eve) = (person("acme", "ann"), person("acme", "eve"));
    store.set(&ann, "crm", Secret::new(CANARY)).await.unwrap();
    let mut row = store.database.vault_rows_of(KIND, "acme", "ann").await.unwrap().rows.remove(0);
    row.slot.owner = "eve".to_owned();
    store.database.save_vault_row(&row).await.unwrap();
    assert_eq!(value(&store, &eve, "crm").await, None);
    assert!(!store.list(&eve).await.unwrap()[0].readable);
    assert_eq!(value(&store, &ann, "crm").await.as_deref(), Some(CANARY));
}

#[tokio::test]
async fn a_damaged_secret_is_named_and_the_others_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    for name in ["broken", "whole"] {
        store.set(&Holder::Gateway, name, Secret::new(CANARY)).await.unwrap();
    }
    let damage = "UPDATE vault SET at_ms = x'00' WHERE server = 'broken'";
    drop(SqliteConnection::execute(&folder.path().join("powerstrip.db"), damage));
    let listed = store.list(&Holder::Gateway).await.unwrap();
    let shown: Vec<_> =
        listed.iter().map(|secret| (&*secret.name, secret.damaged.as_deref())).collect();
    assert_eq!(shown, [("whole", None), ("broken", Some("at_ms"))]);
    assert_eq!(value(&store, &Holder::Gateway, "whole").await.as_deref(), Some(CANARY));
    assert_eq!(value(&store, &Holder::Gateway, "broken").await, None);
    store.set(&Holder::Gateway, "broken", Secret::new(CANARY)).await.unwrap();
    let listed = store.list(&Holder::Gateway).await.unwrap();
    assert!(listed.iter().all(|secret| secret.damaged.is_none()), "{listed:?}");
}

#[tokio::test]
async fn a_change_is_announced_and_read_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let mut changes = store.changes();
    for text in ["one", "two"] {
        store.set(&Holder::Gateway, "k", Secret::new(text)).await.unwrap();
        assert_eq!(changes.recv().await.unwrap(), Holder::Gateway);
        assert_eq!(value(&store, &Holder::Gateway, "k").await.as_deref(), Some(text));
    }
}

#[tokio::test]
async fn bad_names_and_values_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    for name in ["", "1x", "a b", "a/b", "-a", "ä", &"a".repeat(65)] {
        assert!(check_name(name).is_err(), "{name}");
    }
    for name in ["A", "crm_token", "github.pat-2"] {
        check_name(name).unwrap();
    }
    let set = |value: String| {
        let store = Arc::clone(&store);
        async move { store.set(&Holder::Gateway, "k", Secret::new(value)).await.unwrap_err() }
    };
    assert!(matches!(set(String::new()).await, SecretStoreFault::Empty));
    assert!(matches!(set("x".repeat(MAX_VALUE + 1)).await, SecretStoreFault::TooLarge));
    assert!(matches!(set("a\0b".to_owned()).await, SecretStoreFault::Nul));
    let ann = person("acme", "ann");
    for index in 0..MAX_PER_PERSON {
        store.set(&ann, &format!("k{index}"), Secret::new("v")).await.unwrap();
    }
    let more = store.set(&ann, "more", Secret::new("v")).await.unwrap_err();
    assert!(matches!(more, SecretStoreFault::TooMany));
    store.set(&ann, "k0", Secret::new("w")).await.unwrap();
}
