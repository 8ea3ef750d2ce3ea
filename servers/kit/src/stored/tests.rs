use super::*;

fn new_store(references: usize, bytes: usize, lifetime: Duration) -> ReferenceStore {
    ReferenceStore::new("test", StorageLimits { references, bytes, lifetime })
}

fn store_text(store: &ReferenceStore, text: &'static str) -> StoredRef {
    store.store(Bytes::from_static(text.as_bytes()), "text/plain", "a/b.txt").unwrap()
}

#[test]
fn stored_bytes_are_found_by_id_and_by_uri() {
    let store = new_store(3, 10, Duration::from_secs(60));
    let kept = store_text(&store, "hello");
    assert_eq!((kept.name.as_str(), kept.size), ("a_b.txt", 5));
    assert!(kept.uri.contains(&kept.ref_id), "{kept:?}");
    assert_eq!(store.find(&kept.ref_id).unwrap().bytes, "hello");
    let read = serde_json::to_value(store.read(&kept.uri).unwrap().unwrap()).unwrap();
    assert_eq!((&read["blob"], &read["mimeType"]), (&"aGVsbG8=".into(), &"text/plain".into()));
    assert!(store.read("other://elsewhere").is_none());
    for unknown in ["kept://test/", "kept://test/kept_0/x"] {
        assert!(store.read(unknown).unwrap().is_err(), "{unknown}");
    }
}

#[test]
fn the_oldest_is_removed_when_a_limit_is_exceeded() {
    let crowded = new_store(2, 100, Duration::from_secs(60));
    let first = store_text(&crowded, "one");
    let second = store_text(&crowded, "two");
    let third = store_text(&crowded, "three");
    assert!(crowded.find(&first.ref_id).is_err());
    assert!(crowded.find(&second.ref_id).is_ok() && crowded.find(&third.ref_id).is_ok());

    let small = new_store(9, 8, Duration::from_secs(60));
    let first = store_text(&small, "12345");
    let second = store_text(&small, "6789");
    assert!(small.find(&first.ref_id).is_err() && small.find(&second.ref_id).is_ok());
    let large = small.store(Bytes::from_static(b"123456789"), "text/plain", "x");
    assert!(large.unwrap_err().to_string().contains("9 bytes"));
    // What does not fit pushes nothing out.
    assert!(small.find(&second.ref_id).is_ok());
}

#[test]
fn references_expire() {
    let short = new_store(9, 100, Duration::ZERO);
    let kept = store_text(&short, "hello");
    let gone = short.find(&kept.ref_id).unwrap_err().to_string();
    assert!(
        gone.starts_with("NOT_FOUND") && gone.contains("call the tool that named it again"),
        "{gone}"
    );
}

#[test]
fn names_are_made_safe_for_uris() {
    for (name, safe) in [("cv.pdf", "cv.pdf"), ("../..", "kept"), ("", "kept"), ("a b?#", "a_b__")]
    {
        assert_eq!(uri_safe(name), safe);
    }
}
