use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use proto::Secret;
use serde_json::{Value, json};

use super::*;

const CANARY: &str = "canary-3f9a1c";

fn place(owner: &str) -> VaultSlot {
    VaultSlot {
        kind: "token",
        server: "crm".to_owned(),
        tenant: "t".to_owned(),
        owner: owner.to_owned(),
        issuer: "https://as".to_owned(),
    }
}

async fn vault(folder: &Path, source: &KeySource) -> Vault {
    let database = Database::open(folder).await.unwrap();
    Vault::open(database, source, Clock::default()).unwrap()
}

fn file(folder: &Path) -> KeySource {
    KeySource::File(folder.join("vault.key"))
}

async fn opened(vault: &Vault) -> Vec<Result<Value, VaultFault>> {
    vault.all("token", "crm").await.unwrap().into_iter().map(|(_, record)| record).collect()
}

#[tokio::test]
async fn records_survive_a_restart_and_are_not_readable_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let before = vault(folder.path(), &file(folder.path())).await;
    before.put(place("ada"), &json!({"access": CANARY})).await.unwrap();
    before.database.close().await;
    let mode = std::fs::metadata(folder.path().join("vault.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let after = vault(folder.path(), &file(folder.path())).await;
    assert_eq!(opened(&after).await.remove(0).unwrap(), json!({"access": CANARY}));
    for entry in std::fs::read_dir(folder.path()).unwrap().flatten() {
        let bytes = std::fs::read(entry.path()).unwrap();
        let found = bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
        assert!(!found, "{:?}", entry.path());
    }
    after.remove(&place("ada")).await.unwrap();
    assert!(opened(&after).await.is_empty());
}

#[tokio::test]
async fn another_key_or_an_altered_row_is_reported_with_what_to_check() {
    let folder = tempfile::tempdir().unwrap();
    let ours = vault(folder.path(), &file(folder.path())).await;
    ours.put(place("ada"), &json!({"access": CANARY})).await.unwrap();
    ours.put(place("bob"), &json!({"access": "another"})).await.unwrap();

    let other = KeySource::Given(Secret::new("x".repeat(32)));
    let fault = opened(&vault(folder.path(), &other).await).await.remove(0).unwrap_err();
    assert!(fault.to_string().contains("POWERSTRIP_KEY"), "{fault}");

    // Ada's token in Bob's row.
    let rows = ours.database.vault_rows("token", "crm").await.unwrap();
    let of = |owner: &str| rows.iter().find(|row| row.slot.owner == owner).unwrap().clone();
    let swapped = VaultRow { slot: place("bob"), ..of("ada") };
    for sealed in [swapped.sealed.clone(), Vec::new(), vec![0; 11], vec![0; 200]] {
        let row = VaultRow { sealed, ..swapped.clone() };
        ours.database.save_vault_row(&row).await.unwrap();
        let found = ours.all::<Value>("token", "crm").await.unwrap();
        for (place, record) in found {
            assert_eq!(record.is_ok(), place.owner == "ada", "{place:?}");
        }
    }
}

#[test]
fn bad_keys_are_refused_and_never_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let short = KeySource::Given(Secret::new(CANARY));
    let fault = short.key().unwrap_err().to_string();
    assert!(fault.contains("POWERSTRIP_KEY") && !fault.contains(CANARY), "{fault}");
    assert!(!format!("{short:?}").contains(CANARY));

    let path = folder.path().join("vault.key");
    for (text, mode) in [(CANARY, 0o600), ("", 0o600), (&*CANARY.repeat(9), 0o644)] {
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let fault = file(folder.path()).key().unwrap_err().to_string();
        assert!(fault.contains("vault.key") && !fault.contains(CANARY), "{fault}");
    }
    assert!(KeySource::File(folder.path().join("no/such/folder/key")).key().is_err());
}

#[test]
fn concurrent_first_uses_get_the_same_key() {
    let folder = tempfile::tempdir().unwrap();
    let first = file(folder.path()).key().unwrap();
    assert_eq!(*first, *file(folder.path()).key().unwrap());
}
