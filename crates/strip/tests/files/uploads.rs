use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use proto::{Code, FileKind};
use strip::Failure;
use strip::files::{Listing, Progress, Swept};

use crate::support::{DAY, code, count, house, house_with, open, person, sent};

#[tokio::test]
async fn an_upload_in_parts_goes_on_where_it_stopped_also_after_a_restart() {
    let house = house().await;
    let ann = person("acme", "ann");
    let begun = house.files.begin_upload(&ann, "../big.bin", 11).await.unwrap();
    let id = begun.id.as_str();
    assert_eq!((begun.offset, begun.size, begun.name.as_str()), (0, 11, "big.bin"));

    let gone = || Err(Failure::new(Code::InvalidInput, "gone"));
    let broken = stream::iter([Ok(Bytes::from_static(b"hel")), gone()]);
    assert_eq!(code(house.files.add_part(&ann, id, 0, broken).await), Code::InvalidInput);
    let again = open(house.folder.path(), &house.clock, |_| {}).await;
    assert_eq!(again.upload(&ann, id).await.unwrap().offset, 3, "what arrived is kept");

    let wrong = again.add_part(&ann, id, 2, sent(&[b"llo"])).await.unwrap();
    assert!(matches!(wrong, Progress::Elsewhere(upload) if upload.offset == 3));
    let more = again.add_part(&ann, id, 3, sent(&[b"lo "])).await.unwrap();
    assert!(matches!(more, Progress::Waiting(upload) if upload.offset == 6));
    assert_eq!(code(again.add_part(&ann, id, 6, sent(&[b"world!"])).await), Code::InvalidInput);
    let done = again.add_part(&ann, id, 6, sent(&[b"wor", b"ld"])).await.unwrap();
    let Progress::Done(file) = done else { panic!("{done:?}") };
    assert_eq!((file.size, file.kind, file.name.as_str()), (11, FileKind::File, "big.bin"));
    assert_eq!(house.read(&file).await, b"hello world");
    assert_eq!(code(again.upload(&ann, id).await), Code::NotFound);
    assert_eq!(count(&house.folder.path().join("uploads")), 0);
}

#[tokio::test]
async fn an_upload_is_its_owners_alone() {
    let house = house().await;
    let ann = person("acme", "ann");
    let begun = house.files.begin_upload(&ann, "a", 5).await.unwrap();
    let id = begun.id.as_str();
    for other in [person("evil", "ann"), person("acme", "bob")] {
        assert_eq!(code(house.files.upload(&other, id).await), Code::NotFound);
        assert_eq!(code(house.files.add_part(&other, id, 0, sent(&[b"x"])).await), Code::NotFound);
        assert_eq!(code(house.files.drop_upload(&other, id).await), Code::NotFound);
    }
    house.files.drop_upload(&ann, id).await.unwrap();
    assert_eq!(code(house.files.upload(&ann, id).await), Code::NotFound);
}

#[tokio::test]
async fn two_cannot_add_at_once() {
    let house = house().await;
    let ann = person("acme", "ann");
    let begun = house.files.begin_upload(&ann, "a", 5).await.unwrap();
    let id = begun.id.as_str();
    let waiting = stream::iter([Ok(Bytes::from_static(b"he"))]).chain(stream::pending());
    let first = house.files.add_part(&ann, id, 0, waiting);
    let second = async {
        while house.files.upload(&ann, id).await.unwrap().offset < 2 {
            tokio::task::yield_now().await;
        }
        house.files.add_part(&ann, id, 2, sent(&[b"llo"])).await
    };
    tokio::select! {
        done = first => panic!("{done:?}"),
        refused = second => assert_eq!(code(refused), Code::Unavailable),
    }
    // The first one left: its turn is over.
    let done = house.files.add_part(&ann, id, 2, sent(&[b"llo"])).await.unwrap();
    assert!(matches!(done, Progress::Done(_)));
}

#[tokio::test]
async fn what_is_never_finished_is_swept() {
    let house = house_with(|parts| parts.rules.max_bytes = 100).await;
    let ann = person("acme", "ann");
    assert_eq!(code(house.files.begin_upload(&ann, "a", 101).await), Code::InvalidInput);
    let begun = house.files.begin_upload(&ann, "a", 5).await.unwrap();
    house.files.add_part(&ann, begun.id.as_str(), 0, sent(&[b"he"])).await.unwrap();
    assert_eq!(house.files.sweep().await.unwrap().uploads, 0);
    assert_eq!(count(&house.folder.path().join("uploads")), 1);
    house.clock.advance(DAY + Duration::from_secs(1));
    assert_eq!(code(house.files.upload(&ann, begun.id.as_str()).await), Code::NotFound);
    assert_eq!(house.files.sweep().await.unwrap().uploads, 1);
    assert_eq!(count(&house.folder.path().join("uploads")), 0);
    assert!(house.files.list(&ann, Listing::default()).await.unwrap().files.is_empty());
}

#[tokio::test]
async fn an_upload_that_expires_while_it_is_sent_is_finished_or_refused_and_never_empty() {
    let house = house().await;
    let ann = person("acme", "ann");
    let begun = house.files.begin_upload(&ann, "a", 5).await.unwrap();
    let (files, clock) = (Arc::clone(&house.files), house.clock.clone());
    let late = stream::once(async move {
        clock.advance(2 * DAY);
        assert_eq!(files.sweep().await.unwrap(), Swept::default());
        Ok(Bytes::from_static(b"lo"))
    });
    let parts = stream::iter([Ok(Bytes::from_static(b"hel"))]).chain(late);
    let done = house.files.add_part(&ann, begun.id.as_str(), 0, Box::pin(parts)).await.unwrap();
    let Progress::Done(file) = done else { panic!("{done:?}") };
    assert_eq!(house.read(&file).await, b"hello");

    let begun = house.files.begin_upload(&ann, "b", 5).await.unwrap();
    let draft = house.folder.path().join("uploads").join(begun.id.as_str());
    let lost = stream::once(async move {
        std::fs::remove_file(draft).unwrap();
        Ok(Bytes::from_static(b"lo"))
    });
    let parts = stream::iter([Ok(Bytes::from_static(b"hel"))]).chain(lost);
    let refused = house.files.add_part(&ann, begun.id.as_str(), 0, Box::pin(parts)).await;
    assert_eq!(code(refused), Code::NotFound);
    assert_eq!(house.files.list(&ann, Listing::default()).await.unwrap().files.len(), 1);
}

#[tokio::test]
async fn however_many_uploads_are_begun_at_once_they_keep_to_the_limits() {
    for (size, expected) in [(1, 100), (10, 50)] {
        let house = house_with(|parts| parts.rules.quota = Some(500)).await;
        let begins = (0..200).map(|_| {
            let files = Arc::clone(&house.files);
            tokio::spawn(async move { files.begin_upload(&person("acme", "ann"), "a", size).await })
        });
        let mut begun = 0;
        for begin in begins.collect::<Vec<_>>() {
            begun += usize::from(begin.await.unwrap().is_ok());
        }
        assert_eq!(begun, expected, "of {size} bytes each");
    }
}
