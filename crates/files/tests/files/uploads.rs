use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use files::{Listing, Progress, Swept};
use futures_util::{StreamExt as _, stream};
use proto::{Code, Failure, FileKind};

use crate::support::{DAY, code, count, open, person, sent, setup, setup_with};

#[tokio::test]
async fn an_upload_in_parts_goes_on_where_it_stopped_also_after_a_restart() {
    let setup = setup().await;
    let ann = person("acme", "ann");
    let begun = setup.files.begin_upload(&ann, "../big.bin", 11).await.unwrap();
    let id = begun.id.as_str();
    assert_eq!((begun.offset, begun.size, begun.name.as_str()), (0, 11, "big.bin"));

    let gone = || Err(Failure::new(Code::InvalidInput, "gone"));
    let broken = stream::iter([Ok(Bytes::from_static(b"hel")), gone()]);
    assert_eq!(code(setup.files.add_part(&ann, id, 0, broken).await), Code::InvalidInput);
    let again = open(setup.folder.path(), &setup.clock, |_| {}).await;
    assert_eq!(again.upload(&ann, id).await.unwrap().offset, 3, "what arrived is kept");

    let wrong = again.add_part(&ann, id, 2, sent(&[b"llo"])).await.unwrap();
    assert!(matches!(wrong, Progress::WrongOffset(upload) if upload.offset == 3));
    let more = again.add_part(&ann, id, 3, sent(&[b"lo "])).await.unwrap();
    assert!(matches!(more, Progress::Incomplete(upload) if upload.offset == 6));
    assert_eq!(code(again.add_part(&ann, id, 6, sent(&[b"world!"])).await), Code::InvalidInput);
    let done = again.add_part(&ann, id, 6, sent(&[b"wor", b"ld"])).await.unwrap();
    let Progress::Done(file) = done else { panic!("{done:?}") };
    assert_eq!((file.size, file.kind, file.name.as_str()), (11, FileKind::File, "big.bin"));
    assert_eq!(setup.read(&file).await, b"hello world");
    let finished = again.upload(&ann, id).await.unwrap();
    assert_eq!(
        (finished.offset, finished.size),
        (11, 11),
        "a client may have lost the last answer"
    );
    assert_eq!(finished.file, Some(file.id.clone()));
    assert_eq!(code(again.upload(&person("acme", "bob"), id).await), Code::NotFound);
    assert_eq!(code(again.add_part(&ann, id, 11, sent(&[b""])).await), Code::NotFound);
    assert_eq!(count(&setup.folder.path().join("uploads")), 0);
}

#[tokio::test]
async fn an_upload_is_its_owners_alone() {
    let setup = setup().await;
    let ann = person("acme", "ann");
    let begun = setup.files.begin_upload(&ann, "a", 5).await.unwrap();
    let id = begun.id.as_str();
    for other in [person("evil", "ann"), person("acme", "bob")] {
        assert_eq!(code(setup.files.upload(&other, id).await), Code::NotFound);
        assert_eq!(code(setup.files.add_part(&other, id, 0, sent(&[b"x"])).await), Code::NotFound);
        assert_eq!(code(setup.files.cancel_upload(&other, id).await), Code::NotFound);
    }
    setup.files.cancel_upload(&ann, id).await.unwrap();
    assert_eq!(code(setup.files.upload(&ann, id).await), Code::NotFound);
}

#[tokio::test]
async fn two_cannot_add_at_once() {
    let setup = setup().await;
    let ann = person("acme", "ann");
    let begun = setup.files.begin_upload(&ann, "a", 5).await.unwrap();
    let id = begun.id.as_str();
    let waiting = stream::iter([Ok(Bytes::from_static(b"he"))]).chain(stream::pending());
    let first = setup.files.add_part(&ann, id, 0, waiting);
    let second = async {
        while setup.files.upload(&ann, id).await.unwrap().offset < 2 {
            tokio::task::yield_now().await;
        }
        setup.files.add_part(&ann, id, 2, sent(&[b"llo"])).await
    };
    tokio::select! {
        done = first => panic!("{done:?}"),
        refused = second => assert_eq!(code(refused), Code::Unavailable),
    }
    // The first one left: its turn is over.
    let done = setup.files.add_part(&ann, id, 2, sent(&[b"llo"])).await.unwrap();
    assert!(matches!(done, Progress::Done(_)));
}

#[tokio::test]
async fn unfinished_uploads_are_swept() {
    let setup = setup_with(|parts| parts.rules.max_bytes = 100).await;
    let ann = person("acme", "ann");
    assert_eq!(code(setup.files.begin_upload(&ann, "a", 101).await), Code::InvalidInput);
    let begun = setup.files.begin_upload(&ann, "a", 5).await.unwrap();
    setup.files.add_part(&ann, begun.id.as_str(), 0, sent(&[b"he"])).await.unwrap();
    assert_eq!(setup.files.sweep().await.unwrap().uploads, 0);
    assert_eq!(count(&setup.folder.path().join("uploads")), 1);
    setup.clock.advance(DAY + Duration::from_secs(1));
    assert_eq!(code(setup.files.upload(&ann, begun.id.as_str()).await), Code::NotFound);
    assert_eq!(setup.files.sweep().await.unwrap().uploads, 1);
    assert_eq!(count(&setup.folder.path().join("uploads")), 0);
    assert!(setup.files.list(&ann, Listing::default()).await.unwrap().files.is_empty());
}

#[tokio::test]
async fn an_upload_that_expires_while_it_is_sent_is_finished_or_refused_and_never_empty() {
    let setup = setup().await;
    let ann = person("acme", "ann");
    let begun = setup.files.begin_upload(&ann, "a", 5).await.unwrap();
    let (files, clock) = (Arc::clone(&setup.files), setup.clock.clone());
    let late = stream::once(async move {
        clock.advance(2 * DAY);
        assert_eq!(files.sweep().await.unwrap(), Swept::default());
        Ok(Bytes::from_static(b"lo"))
    });
    let parts = stream::iter([Ok(Bytes::from_static(b"hel"))]).chain(late);
    let done = setup.files.add_part(&ann, begun.id.as_str(), 0, Box::pin(parts)).await.unwrap();
    let Progress::Done(file) = done else { panic!("{done:?}") };
    assert_eq!(setup.read(&file).await, b"hello");

    let begun = setup.files.begin_upload(&ann, "b", 5).await.unwrap();
    let draft = setup.folder.path().join("uploads").join(begun.id.as_str());
    let lost = stream::once(async move {
        std::fs::remove_file(draft).unwrap();
        Ok(Bytes::from_static(b"lo"))
    });
    let parts = stream::iter([Ok(Bytes::from_static(b"hel"))]).chain(lost);
    let refused = setup.files.add_part(&ann, begun.id.as_str(), 0, Box::pin(parts)).await;
    assert_eq!(code(refused), Code::NotFound);
    assert_eq!(setup.files.list(&ann, Listing::default()).await.unwrap().files.len(), 1);
}

#[tokio::test]
async fn however_many_uploads_are_begun_at_once_they_keep_to_the_limits() {
    for (size, expected) in [(1, 100), (10, 50)] {
        let setup = setup_with(|parts| parts.rules.quota = Some(500)).await;
        let begins = (0..200).map(|_| {
            let files = Arc::clone(&setup.files);
            tokio::spawn(async move { files.begin_upload(&person("acme", "ann"), "a", size).await })
        });
        let mut begun = 0;
        for begin in begins.collect::<Vec<_>>() {
            begun += usize::from(begin.await.unwrap().is_ok());
        }
        assert_eq!(begun, expected, "of {size} bytes each");
    }
}
