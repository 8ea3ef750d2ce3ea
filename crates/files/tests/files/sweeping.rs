use std::time::Duration;

use files::{Listing, NewFile, Swept};
use proto::{Code, Failure};
use store::{ObjectKey, Objects};
use testkit::SqliteConnection;

use crate::support::{DAY, code, new, open, person, sent, setup, setup_with};

#[tokio::test]
async fn expired_files_are_hidden_at_once_and_swept_later() {
    let setup = setup_with(|parts| parts.rules.ttl = Some(DAY)).await;
    let ann = person("acme", "ann");
    let short = NewFile { ttl: Some(Duration::from_secs(60)), ..new("short") };
    let short = setup.files.put(&ann, short, sent(&[b"x"])).await.unwrap();
    let asked_for_more = NewFile { ttl: Some(10 * DAY), ..new("long") };
    let long = setup.files.put(&ann, asked_for_more, sent(&[b"y"])).await.unwrap();
    setup.clock.advance(Duration::from_secs(60));
    assert_eq!(code(setup.files.find(&ann, short.id.as_str()).await), Code::NotFound);
    let listed = setup.files.list(&ann, Listing::default()).await.unwrap().files;
    assert_eq!(listed.len(), 1);
    assert_eq!(setup.objects(), 2);
    assert_eq!(setup.files.sweep().await.unwrap(), Swept { files: 1, ..Swept::default() });
    assert_eq!(setup.objects(), 1);
    setup.clock.advance(DAY);
    assert_eq!(code(setup.files.find(&ann, long.id.as_str()).await), Code::NotFound);
    assert_eq!(setup.files.sweep().await.unwrap().files, 1);
    assert_eq!(setup.objects(), 0);
}

#[tokio::test]
async fn damaged_uploads_are_swept_with_the_others() {
    let setup = setup().await;
    let ann = person("acme", "ann");
    let damaged = setup.files.begin_upload(&ann, "a", 5).await.unwrap();
    let whole = setup.files.begin_upload(&ann, "b", 5).await.unwrap();
    let sql = format!("UPDATE uploads SET id = '?' WHERE id = '{}'", damaged.id);
    drop(SqliteConnection::execute(&setup.folder.path().join("powerstrip.db"), &sql));
    setup.clock.advance(30 * DAY);
    assert_eq!(setup.files.sweep().await.unwrap(), Swept { uploads: 2, ..Swept::default() });
    assert_eq!(code(setup.files.upload(&ann, whole.id.as_str()).await), Code::NotFound);
}

#[tokio::test]
async fn a_damaged_record_does_not_keep_other_files_from_being_swept() {
    let setup = setup_with(|parts| parts.rules.ttl = Some(DAY)).await;
    let ann = person("acme", "ann");
    let damaged = setup.put(&ann, "a.txt", "hello").await;
    setup.put(&ann, "b.txt", "hello").await;
    let sql = format!("UPDATE files SET object = '?', kind = '?' WHERE id = '{}'", damaged.id);
    drop(SqliteConnection::execute(&setup.folder.path().join("powerstrip.db"), &sql));
    setup.clock.advance(400 * DAY);
    assert_eq!(setup.files.sweep().await.unwrap().files, 2);
    assert_eq!(setup.objects(), 1, "the object of the damaged record");
    assert_eq!(setup.files.sweep_orphans().await.unwrap(), 1);
    assert_eq!(setup.objects(), 0);
}

/// The other files of the tenant are listed, and the damaged one is named.
#[tokio::test]
async fn a_damaged_record_is_a_final_failure_and_hides_no_other_file() {
    let setup = setup().await;
    let ann = person("acme", "ann");
    let damaged = setup.put(&ann, "a.txt", "hello").await;
    let whole = setup.put(&ann, "b.txt", "hello").await;
    let sql = format!("UPDATE files SET sha256 = x'00' WHERE id = '{}'", damaged.id);
    drop(SqliteConnection::execute(&setup.folder.path().join("powerstrip.db"), &sql));
    let page = setup.files.list(&ann, Listing::default()).await.unwrap();
    assert_eq!((page.files, page.next), (vec![whole.clone()], None));
    let id = damaged.id.as_str();
    assert_eq!((&*page.damaged[0].id, &*page.damaged[0].column), (id, "sha256"));
    let failure = setup.files.find(&ann, id).await.unwrap_err();
    assert_eq!((failure.code, failure.retryable), (Code::Internal, false), "{failure}");
    assert!(failure.message.contains(id) && failure.message.contains("sha256"), "{failure}");
    assert_eq!(code(setup.files.find(&person("globex", "bob"), id).await), Code::NotFound);
    assert_eq!(setup.files.find(&ann, whole.id.as_str()).await.unwrap(), whole);
}

/// An error about damage would show another tenant that an upload exists.
#[tokio::test]
async fn a_damaged_upload_is_a_final_failure_and_keeps_its_bytes_until_it_expires() {
    let setup = setup().await;
    let ann = person("acme", "ann");
    let upload = setup.files.begin_upload(&ann, "a", 5).await.unwrap();
    let sql = format!("UPDATE uploads SET name = x'00' WHERE id = '{}'", upload.id);
    drop(SqliteConnection::execute(&setup.folder.path().join("powerstrip.db"), &sql));
    let id = upload.id.as_str();
    let failure = setup.files.upload(&ann, id).await.unwrap_err();
    assert_eq!((failure.code, failure.retryable), (Code::Internal, false), "{failure}");
    assert_eq!(code(setup.files.upload(&person("globex", "bob"), id).await), Code::NotFound);
    assert_eq!(setup.files.sweep().await.unwrap(), Swept::default());
}

#[tokio::test]
async fn orphans_go_once_they_are_old_enough() {
    let setup = setup().await;
    let ann = person("acme", "ann");
    let kept = setup.put(&ann, "a.txt", "hello").await;
    setup.files.text(&kept).await.unwrap();
    // As after a crash between object and row.
    let objects = Objects::folder(&setup.folder.path().join("objects")).unwrap();
    objects
        .put(&ObjectKey::random(), Box::pin(sent(&[b"lost"])))
        .await
        .map_err(|_| Failure::new(Code::Internal, "no"))
        .unwrap();
    assert_eq!(setup.files.sweep_orphans().await.unwrap(), 0);
    setup.clock.advance(2 * DAY);
    assert_eq!(setup.files.sweep_orphans().await.unwrap(), 1);
    assert_eq!(setup.objects(), 2, "the file and its text");
    assert_eq!(setup.read(&kept).await, b"hello");
}

#[tokio::test]
async fn a_restart_finds_all_files_and_no_drafts() {
    let setup = setup().await;
    let ann = person("acme", "ann");
    let kept = setup.put(&ann, "a.txt", "hello").await;
    std::fs::write(setup.folder.path().join("objects/drafts/half"), "half").unwrap();
    let again = open(setup.folder.path(), &setup.clock, |_| {}).await;
    assert_eq!(again.find(&ann, kept.id.as_str()).await.unwrap(), kept);
    assert_eq!(again.bytes(&kept, 100).await.unwrap(), "hello");
    assert_eq!(setup.objects(), 1);
}

#[tokio::test]
async fn a_copy_of_an_old_file_is_not_an_old_orphan() {
    let setup = setup().await;
    let ann = person("acme", "ann");
    let kept = setup.put(&ann, "a.txt", "hello").await;
    let folder = setup.folder.path().join("objects");
    let path = Objects::folder(&folder).unwrap().path(&kept.object).unwrap();
    let old = std::time::SystemTime::now() - 3 * DAY;
    std::fs::File::open(path).unwrap().set_modified(old).unwrap();
    // As between the copy and its row.
    let objects = Objects::folder(&folder).unwrap();
    objects.copy(&kept.object, &ObjectKey::random()).await.unwrap();
    assert_eq!(setup.files.sweep_orphans().await.unwrap(), 0);
}

#[tokio::test]
async fn two_gateways_with_one_storage_leave_each_others_files_alone() {
    let (first, folder) = (setup().await, tempfile::tempdir().unwrap());
    let shared = first.folder.path().join("objects");
    let second = open(folder.path(), &first.clock, |parts| {
        parts.objects = Objects::folder(&shared).unwrap();
    })
    .await;
    let ann = person("acme", "ann");
    let own = first.put(&ann, "a", "own").await;
    let other = second.put(&ann, new("b"), sent(&[b"other"])).await.unwrap();
    second.sweep_orphans().await.unwrap();
    first.clock.advance(2 * DAY);
    for _ in 0..2 {
        assert_eq!(first.files.sweep_orphans().await.unwrap(), 0);
        assert_eq!(second.sweep_orphans().await.unwrap(), 0);
    }
    assert_eq!(first.files.bytes(&own, 100).await.unwrap(), "own");
    assert_eq!(second.bytes(&other, 100).await.unwrap(), "other");
}

#[tokio::test]
async fn a_failed_removal_is_tried_again_soon() {
    let setup = setup().await;
    let ann = person("acme", "ann");
    let kept = setup.put(&ann, "a.txt", "hello").await;
    let objects = Objects::folder(&setup.folder.path().join("objects")).unwrap();
    let path = objects.path(&kept.object).unwrap();
    // A folder cannot be removed as a file is.
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    setup.files.delete(&ann, kept.id.as_str()).await.unwrap();
    setup.files.sweep().await.unwrap();
    std::fs::remove_dir(&path).unwrap();
    std::fs::write(&path, "hello").unwrap();
    setup.files.sweep().await.unwrap();
    assert!(!path.exists());
}
