use super::*;

fn new_store(references: usize, bytes: usize, lifetime: Duration) -> ReferenceStore {
    ReferenceStore::in_memory("test", StorageLimits { references, bytes, lifetime })
}

async fn store_text(store: &ReferenceStore, text: &'static str) -> StoredRef {
    store.store("kept", Bytes::from_static(text.as_bytes()), "text/plain", "a/b.txt").await.unwrap()
}

fn new_folder_store(folder: &std::path::Path, bytes: usize, lifetime: Duration) -> ReferenceStore {
    let limits = StorageLimits { references: 100, bytes, lifetime };
    let storage = Storage::Folder(FolderStore::open(folder, limits).unwrap());
    ReferenceStore { server: "test", storage: Arc::new(storage) }
}

#[tokio::test]
async fn stored_bytes_are_found_by_id_and_by_uri() {
    let store = new_store(3, 10, Duration::from_secs(60));
    let kept = store_text(&store, "hello").await;
    assert_eq!((kept.name.as_str(), kept.size), ("a_b.txt", 5));
    assert!(kept.uri.contains(&kept.ref_id), "{kept:?}");
    assert_eq!(store.find(&kept.ref_id).await.unwrap().bytes, "hello");
    let read = serde_json::to_value(store.read(&kept.uri).await.unwrap().unwrap()).unwrap();
    assert_eq!((&read["blob"], &read["mimeType"]), (&"aGVsbG8=".into(), &"text/plain".into()));
    assert!(store.read("other://elsewhere").await.is_none());
    for unknown in ["kept://test/", "kept://test/kept_0/x"] {
        assert!(store.read(unknown).await.unwrap().is_err(), "{unknown}");
    }
}

#[tokio::test]
async fn the_oldest_is_removed_when_a_limit_is_exceeded() {
    let crowded = new_store(2, 100, Duration::from_secs(60));
    let first = store_text(&crowded, "one").await;
    let second = store_text(&crowded, "two").await;
    let third = store_text(&crowded, "three").await;
    assert!(crowded.find(&first.ref_id).await.is_err());
    assert!(
        crowded.find(&second.ref_id).await.is_ok() && crowded.find(&third.ref_id).await.is_ok()
    );

    let small = new_store(9, 8, Duration::from_secs(60));
    let first = store_text(&small, "12345").await;
    let second = store_text(&small, "6789").await;
    assert!(small.find(&first.ref_id).await.is_err() && small.find(&second.ref_id).await.is_ok());
    let large = small.store("kept", Bytes::from_static(b"123456789"), "text/plain", "x").await;
    assert!(large.unwrap_err().to_string().contains("9 bytes"));
    // A file that does not fit evicts nothing.
    assert!(small.find(&second.ref_id).await.is_ok());
}

#[tokio::test]
async fn references_expire() {
    let short = new_store(9, 100, Duration::ZERO);
    let kept = store_text(&short, "hello").await;
    let gone = short.find(&kept.ref_id).await.unwrap_err().to_string();
    assert!(
        gone.starts_with("NOT_FOUND") && gone.contains("call the tool that named it again"),
        "{gone}"
    );
}

#[tokio::test]
async fn replicas_with_one_folder_have_the_same_references() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache").join("test");
    let minute = Duration::from_secs(60);
    let kept = store_text(&new_folder_store(&path, 1 << 20, minute), "hello\nworld").await;
    let replica = new_folder_store(&path, 1 << 20, minute);
    let found = replica.find(&kept.ref_id).await.unwrap();
    assert_eq!((&found.bytes[..], &found.reference), (&b"hello\nworld"[..], &kept));
    let mode = |path: &std::path::Path| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode(&path), mode(&path.join(&kept.ref_id))), (0o700, 0o600));

    // Ids are no paths.
    std::fs::write(folder.path().join("secret"), "{}\nsecret").unwrap();
    for id in ["../secret", "/etc/passwd", "..", "kept_../../secret", ""] {
        assert!(replica.find(id).await.unwrap_err().to_string().starts_with("NOT_FOUND"), "{id}");
    }

    let late = new_folder_store(&path, 1 << 20, Duration::ZERO);
    assert!(late.find(&kept.ref_id).await.is_err());
    // A file that was cut off is no reference.
    std::fs::write(path.join(&kept.ref_id), "{").unwrap();
    assert!(replica.find(&kept.ref_id).await.unwrap_err().to_string().starts_with("INTERNAL"));
}

#[tokio::test]
async fn a_folder_loses_its_oldest_references_at_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test");
    let store = new_folder_store(&path, 3000, Duration::from_secs(60));
    let text = "0123456789".repeat(80).leak();
    let mut kept = Vec::new();
    for _ in 0..5 {
        kept.push(store_text(&store, text).await.ref_id);
    }
    assert!(store.find(&kept[0]).await.is_err() && store.find(&kept[4]).await.is_ok());
    let size: u64 =
        std::fs::read_dir(&path).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert!((900..=3000).contains(&size), "{size}");
}

#[tokio::test]
async fn a_wrong_clock_does_not_remove_what_was_just_stored() {
    let folder = tempfile::tempdir().unwrap();
    let store = new_folder_store(folder.path(), 3000, Duration::from_secs(60));
    let text = "0123456789".repeat(80).leak();
    let ahead = std::time::SystemTime::now() + Duration::from_secs(30);
    for _ in 0..5 {
        let kept = store_text(&store, text).await.ref_id;
        assert!(store.find(&kept).await.is_ok());
        let file = std::fs::File::options().write(true).open(folder.path().join(kept)).unwrap();
        file.set_modified(ahead).unwrap();
    }
}

#[tokio::test]
async fn drafts_of_processes_that_were_killed_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = new_folder_store(folder.path(), 1 << 20, Duration::from_secs(60));
    let drafts = ["old", "new"].map(|name| folder.path().join(format!(".powerstrip-{name}.tmp")));
    for draft in &drafts {
        std::fs::write(draft, "half of a document").unwrap();
    }
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(7200);
    let old = std::fs::File::options().write(true).open(&drafts[0]).unwrap();
    old.set_modified(long_ago).unwrap();
    store_text(&store, "hello").await;
    assert_eq!(drafts.map(|draft| draft.exists()), [false, true]);
}

#[tokio::test]
async fn files_of_others_in_the_folder_stay() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("documents");
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("thesis.docx"), "years of work").unwrap();
    let set_mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode));
    set_mode(0o755).unwrap();
    let limits = StorageLimits { references: 1, bytes: 100, lifetime: Duration::ZERO };
    let refused = FolderStore::open(&path, limits).unwrap_err().to_string();
    assert!(refused.contains("chmod 700"), "{refused}");
    let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o755, "a refused folder is left as it is");

    set_mode(0o700).unwrap();
    let store = new_folder_store(&path, 100, Duration::ZERO);
    for _ in 0..3 {
        store_text(&store, "hello").await;
    }
    let left: Vec<_> =
        std::fs::read_dir(&path).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left, ["thesis.docx"], "expired references are removed, and nothing else");
}

#[test]
fn names_are_made_safe_for_uris() {
    for (name, safe) in [("cv.pdf", "cv.pdf"), ("../..", "kept"), ("", "kept"), ("a b?#", "a_b__")]
    {
        assert_eq!(uri_safe(name), safe);
    }
}
