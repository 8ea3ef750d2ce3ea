#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

#[tokio::test]
async fn settings_that_would_lose_commits_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(DATABASE_FILE);
    folder::open_private(&path).unwrap();
    let check = async |options: SqliteConnectOptions| {
        let pool = SqlitePool::connect_with(options).await.unwrap();
        let result = assert_durable(&pool, &path).await;
        pool.close().await;
        result.map_err(|error| error.to_string())
    };
    let options = connect_options(&path);
    assert_eq!(check(options.clone()).await, Ok(()));
    let lax = check(options.clone().synchronous(SqliteSynchronous::Normal)).await.unwrap_err();
    assert!(lax.contains("`synchronous` is 1, not 2"), "{lax}");
    let old = check(options.journal_mode(SqliteJournalMode::Delete)).await.unwrap_err();
    assert!(old.contains("`journal_mode` is delete, not wal"), "{old}");
}
