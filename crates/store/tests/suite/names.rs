use store::{Database, ServerNameRow};

fn row(name: &str, owner: &str, held_unix_ms: u64) -> ServerNameRow {
    ServerNameRow { name: name.into(), tenant: "acme".into(), owner: owner.into(), held_unix_ms }
}

#[tokio::test]
async fn a_name_stays_with_whom_it_was_given_first_until_it_is_released() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    assert_eq!(database.server_names().await.unwrap(), []);
    assert!(database.hold_server_name(&row("words", "key:a", 7)).await.unwrap());
    assert!(!database.hold_server_name(&row("words", "key:b", 8)).await.unwrap());
    assert!(database.hold_server_name(&row("Words", "key:b", 9)).await.unwrap(), "names are exact");
    database.close().await;

    let reopened = Database::open(folder.path()).await.unwrap();
    let held = [row("Words", "key:b", 9), row("words", "key:a", 7)];
    assert_eq!(reopened.server_names().await.unwrap(), held);
    reopened.release_server_name("nobody's").await.unwrap();
    reopened.release_server_name("words").await.unwrap();
    assert!(reopened.hold_server_name(&row("words", "key:b", 10)).await.unwrap());
}
