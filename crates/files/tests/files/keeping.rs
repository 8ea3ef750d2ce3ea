use std::time::{Duration, Instant};

use bytes::Bytes;
use files::{FileRules, Listing, NewFile};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use proto::{Code, Failure, FileKind};
use serde_json::json;

use crate::support::{code, new, person, sent, setup, setup_with};

#[tokio::test]
async fn a_stored_file_is_read_back_with_size_type_and_digest() {
    let setup = setup().await;
    let ann = person("acme", "ann");
    let kept =
        setup.files.put(&ann, new("a.txt"), sent(&[b"hello ", b"", b"world"])).await.unwrap();
    assert_eq!((kept.size, kept.media_type.as_str()), (11, "text/plain"));
    let hash: String = kept.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash, "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9");
    assert!(kept.id.as_str().starts_with("file_") && kept.id.as_str().len() == 37);

    let found = setup.files.find(&ann, kept.id.as_str()).await.unwrap();
    assert_eq!(found, kept);
    assert_eq!(setup.read(&found).await, b"hello world");
    for (range, part) in [(0..5, "hello"), (6..11, "world"), (6..900, "world"), (11..20, "")] {
        let part_read = setup.files.open(&found, Some(range)).await.unwrap();
        let part_read: Vec<Bytes> = part_read.try_collect().await.unwrap();
        assert_eq!(part_read.concat(), part.as_bytes());
    }
    assert_eq!(setup.files.bytes(&found, 11).await.unwrap(), "hello world");
    assert_eq!(code(setup.files.bytes(&found, 10).await), Code::InvalidInput);

    let other = setup.put(&ann, "b.txt", "").await;
    assert_eq!((other.size, setup.read(&other).await), (0, Vec::new()));
    assert_ne!(other.id, kept.id);
}

#[tokio::test]
async fn another_tenant_has_no_such_file() {
    let setup = setup().await;
    let (ann, eve) = (person("acme", "ann"), person("evil", "ann"));
    let kept = setup.put(&ann, "a.txt", "secret").await;
    let id = kept.id.as_str();
    assert_eq!(code(setup.files.find(&eve, id).await), Code::NotFound);
    assert_eq!(code(setup.files.delete(&eve, id).await), Code::NotFound);
    assert_eq!(code(setup.files.copy(&eve, &kept, new("b")).await), Code::NotFound);
    assert!(setup.files.list(&eve, Listing::default()).await.unwrap().files.is_empty());
    for id in ["", "file_", "../../x", "file_0123456789ABCDEF0123456789abcdef"] {
        assert_eq!(code(setup.files.find(&ann, id).await), Code::NotFound, "{id}");
    }
    assert_eq!(setup.read(&kept).await, b"secret");
}

#[tokio::test]
async fn a_broken_or_too_large_upload_leaves_nothing() {
    let setup = setup_with(|parts| parts.rules.max_bytes = 1_000_000).await;
    let ann = person("acme", "ann");
    let chunk = Bytes::from(vec![7; 300_000]);
    let broken = stream::iter([
        Ok(chunk.clone()),
        Ok(chunk.clone()),
        Err(Failure::new(Code::InvalidInput, "gone")),
    ]);
    assert_eq!(code(setup.files.put(&ann, new("a"), broken).await), Code::InvalidInput);
    assert_eq!(setup.objects(), 0, "a failed copy leaves no object");

    let large = stream::iter(vec![Ok(chunk.clone()); 4]);
    let refused = setup.files.put(&ann, new("a"), large).await.unwrap_err();
    assert_eq!(refused.code, Code::InvalidInput);
    assert_eq!(refused.details.unwrap()["limit"], 1_000_000);
    assert_eq!(setup.objects(), 0);

    // A caller that leaves in the middle gets no answer.
    let endless = stream::iter([Ok(chunk.clone()), Ok(chunk)]).chain(stream::pending());
    let waiting =
        tokio::time::timeout(Duration::from_millis(50), setup.files.put(&ann, new("a"), endless));
    assert!(waiting.await.is_err());
    let begun = Instant::now();
    while setup.objects() > 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "{} are left", setup.objects());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(setup.files.list(&ann, Listing::default()).await.unwrap().files.is_empty());
}

#[tokio::test]
async fn a_tenant_keeps_no_more_than_its_quota() {
    let setup = setup_with(|parts| parts.rules.quota = Some(10)).await;
    let (ann, bob) = (person("acme", "ann"), person("other", "bob"));
    let first = setup.put(&ann, "a", "12345678").await;
    assert_eq!(code(setup.files.put(&ann, new("b"), sent(&[b"123"])).await), Code::InvalidInput);
    assert_eq!(code(setup.files.copy(&ann, &first, new("c")).await), Code::InvalidInput);
    assert_eq!(setup.objects(), 1);
    setup.put(&bob, "b", "123").await;
    setup.put(&ann, "b", "12").await;
    setup.files.delete(&ann, first.id.as_str()).await.unwrap();
    setup.put(&ann, "c", "12345678").await;
    setup.files.set_rules(FileRules::default());
    setup.put(&ann, "d", "12345678").await;
}

#[tokio::test]
async fn a_copy_is_a_file_of_its_own() {
    let setup = setup().await;
    let ann = person("acme", "ann");
    let reference = setup
        .files
        .put(&ann, NewFile::new(FileKind::Reference, "page.html"), sent(&[b"<p>"]))
        .await;
    let reference = reference.unwrap();
    assert!(reference.id.is_reference() && reference.expires_ms.is_some());
    let new_file =
        NewFile { run: Some("r1".to_owned()), ..NewFile::new(FileKind::Artifact, "kept.html") };
    let copy = setup.files.copy(&ann, &reference, new_file).await.unwrap();
    assert_eq!((copy.size, copy.sha256), (reference.size, reference.sha256));
    assert_eq!(
        (copy.expires_ms, copy.run.as_deref(), copy.name.as_str()),
        (None, Some("r1"), "kept.html")
    );
    setup.files.delete(&ann, reference.id.as_str()).await.unwrap();
    assert_eq!(setup.read(&copy).await, b"<p>");
    assert_eq!(setup.objects(), 1);
}

#[tokio::test]
async fn a_list_is_read_page_by_page() {
    let setup = setup().await;
    let ann = person("acme", "ann");
    let mut names = Vec::new();
    for number in 0..7 {
        names.push(setup.put(&ann, &format!("{number}"), "x").await.id);
        if number % 2 == 0 {
            setup.clock.advance(Duration::from_millis(1));
        }
    }
    let (mut cursor, mut seen) = (None, Vec::new());
    loop {
        let listing = Listing { cursor, limit: Some(3), ..Listing::default() };
        let page = setup.files.list(&ann, listing).await.unwrap();
        seen.extend(page.files.into_iter().map(|file| file.id));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen.len(), 7);
    seen.sort();
    names.sort();
    assert_eq!(seen, names);
    let bad = Listing { cursor: Some("1.file_1".to_owned()), ..Listing::default() };
    assert_eq!(code(setup.files.list(&ann, bad).await), Code::InvalidInput);
    let none = Listing { kind: Some(FileKind::Artifact), ..Listing::default() };
    assert!(setup.files.list(&ann, none).await.unwrap().files.is_empty());
}

#[tokio::test]
async fn only_the_owner_of_the_folder_may_look() {
    use std::os::unix::fs::PermissionsExt as _;
    let setup = setup().await;
    setup.put(&person("acme", "ann"), "a", "x").await;
    let mut places = vec![setup.folder.path().join("objects"), setup.folder.path().join("uploads")];
    while let Some(place) = places.pop() {
        let mode = std::fs::metadata(&place).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if place.is_dir() { 0o700 } else { 0o600 }, "{}", place.display());
        if place.is_dir() {
            places.extend(std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    let key = std::fs::metadata(setup.folder.path().join("links.key")).unwrap();
    assert_eq!((key.permissions().mode() & 0o777, key.len()), (0o600, 32));
}

#[tokio::test]
async fn files_that_arrive_at_once_share_the_room_that_is_left() {
    let setup = setup_with(|parts| parts.rules.quota = Some(100)).await;
    let ann = person("acme", "ann");
    let (started, begun) = tokio::sync::oneshot::channel::<()>();
    let (held, hold) = tokio::sync::oneshot::channel::<()>();
    let rest = stream::once(async move {
        let _ = started.send(());
        let _ = hold.await;
        Ok(Bytes::from_static(b"."))
    });
    let first = stream::iter([Ok(Bytes::from(vec![7; 80]))]).chain(rest);
    let (files, by) = (std::sync::Arc::clone(&setup.files), ann.clone());
    let first = tokio::spawn(async move { files.put(&by, new("a"), Box::pin(first)).await });
    begun.await.unwrap();
    // A file that is still being written counts, and one that does not fit is refused before it is written.
    let second = sent(&[&[7; 30]]).chain(stream::once(async { panic!("no more bytes are read") }));
    assert_eq!(code(setup.files.put(&ann, new("b"), Box::pin(second)).await), Code::InvalidInput);
    held.send(()).unwrap();
    first.await.unwrap().unwrap();
}

/// A text may be valid JSON, so the bytes do not say what they are.
#[tokio::test]
async fn a_stored_value_says_whether_it_is_a_text() {
    let setup = setup_with(|parts| parts.sniff = |_, _| "application/json".to_owned()).await;
    let ann = person("acme", "ann");
    for (value, media_type) in [
        (json!("[1, 2]"), "text/plain"),
        (json!([true, 2]), "application/json"),
        (json!({"a": 1}), "application/json"),
    ] {
        let new = NewFile::new(FileKind::Reference, "output");
        let shown = setup.files.put_value(&ann, &value, new).await.unwrap();
        let id = shown["ref_id"].as_str().unwrap();
        let record = setup.files.find(&ann, id).await.unwrap();
        assert_eq!(
            (&shown["media_type"], record.media_type.as_str()),
            (&json!(media_type), media_type)
        );
    }
}
