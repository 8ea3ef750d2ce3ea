use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use files::text::{ExtractText, ExtractedText, Source};
use proto::{Code, Failure};
use tokio::sync::Semaphore;

use crate::support::{code, new, open, person, sent, setup, setup_with};

/// Counts how often it is asked, and answers when it is let.
struct Slow {
    asked: Arc<AtomicUsize>,
    gate: Arc<Semaphore>,
}

#[async_trait]
impl ExtractText for Slow {
    async fn extract(&self, source: Source<'_>) -> Result<ExtractedText, Failure> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.gate.acquire().await.unwrap().forget();
        let text = format!("{}: {}", source.name, std::fs::read_to_string(source.path).unwrap());
        Ok(ExtractedText { text, ..ExtractedText::default() })
    }
}

#[tokio::test]
async fn text_is_extracted_once_however_many_ask() {
    let (asked, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let slow = Slow { asked: Arc::clone(&asked), gate: Arc::clone(&gate) };
    let setup = setup_with(|parts| parts.text = Arc::new(slow)).await;
    let ann = person("acme", "ann");
    let kept = setup.put(&ann, "a.txt", "hello").await;
    let waiting: Vec<_> = (0..8)
        .map(|_| {
            let (files, kept) = (Arc::clone(&setup.files), kept.clone());
            tokio::spawn(async move { files.text(&kept).await.unwrap() })
        })
        .collect();
    while asked.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    gate.add_permits(100);
    for text in waiting {
        assert_eq!(&*text.await.unwrap(), "a.txt: hello");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    // Stored with the file: after a restart the extractor is not called again.
    let again = open(setup.folder.path(), &setup.clock, |_| {}).await;
    let found = again.find(&ann, kept.id.as_str()).await.unwrap();
    assert_eq!(&*again.text(&found).await.unwrap(), "a.txt: hello");
    assert_eq!(setup.objects(), 2);
    again.delete(&ann, kept.id.as_str()).await.unwrap();
    assert_eq!(setup.objects(), 0);
}

#[tokio::test]
async fn text_of_nothing_is_nothing_and_binary_has_none() {
    let setup = setup().await;
    let ann = person("acme", "ann");
    let empty = setup.put(&ann, "empty", "").await;
    assert_eq!(&*setup.files.text(&empty).await.unwrap(), "");
    let empty = setup.files.find(&ann, empty.id.as_str()).await.unwrap();
    assert!(empty.text.is_some());
    assert_eq!(&*setup.files.text(&empty).await.unwrap(), "");
    let binary = setup.files.put(&ann, new("b.txt"), sent(&[b"\xff\xfe\x00\x01"])).await.unwrap();
    assert_eq!(binary.media_type, "application/octet-stream");
    assert_eq!(code(setup.files.text(&binary).await), Code::Unsupported);
}

#[tokio::test]
async fn no_text_is_extracted_of_what_is_too_large() {
    let setup = setup_with(|parts| parts.rules.max_text_source = 4).await;
    let kept = setup.put(&person("acme", "ann"), "a.txt", "hello").await;
    assert_eq!(code(setup.files.text(&kept).await), Code::InvalidInput);
}

#[tokio::test]
async fn the_text_of_a_file_counts_as_well_as_the_file() {
    let setup = setup_with(|parts| parts.rules.quota = Some(25)).await;
    let ann = person("acme", "ann");
    let first = setup.put(&ann, "a.txt", "ten bytes.").await;
    setup.files.text(&first).await.unwrap();
    let more = setup.files.put(&ann, new("b.txt"), sent(&[b"six..."])).await;
    assert_eq!(code(more), Code::InvalidInput, "ten for the file and ten for its text are gone");
    let second = setup.put(&ann, "c.txt", "five.").await;
    assert_eq!(code(setup.files.text(&second).await), Code::InvalidInput, "no room is left");
    setup.files.delete(&ann, first.id.as_str()).await.unwrap();
    assert_eq!(&*setup.files.text(&second).await.unwrap(), "five.");
    setup.put(&ann, "d.txt", "fifteen bytes..").await;
}

/// An extractor that blocks, counts its calls, and fails.
struct Stuck {
    came: Arc<AtomicUsize>,
    gate: Arc<Semaphore>,
}

#[async_trait]
impl ExtractText for Stuck {
    async fn extract(&self, _: Source<'_>) -> Result<ExtractedText, Failure> {
        self.came.fetch_add(1, Ordering::SeqCst);
        self.gate.acquire().await.unwrap().forget();
        Err(Failure::new(Code::InvalidInput, "it cannot be read"))
    }
}

#[tokio::test]
async fn one_tenant_takes_one_turn_and_what_failed_is_not_tried_again_at_once() {
    let (came, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let reader = Stuck { came: Arc::clone(&came), gate: Arc::clone(&gate) };
    let setup = setup_with(|parts| parts.text = Arc::new(reader)).await;
    let mut asked = Vec::new();
    for tenant in ["acme", "acme", "acme", "globex"] {
        let file = setup.put(&person(tenant, "ann"), "a.txt", "hello").await;
        let (files, file) = (Arc::clone(&setup.files), Arc::new(file));
        let same = Arc::clone(&file);
        asked.push((file, tokio::spawn(async move { files.text(&same).await })));
    }
    while came.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(came.load(Ordering::SeqCst), 2, "one of each tenant");
    gate.add_permits(10);
    for (file, task) in asked {
        assert_eq!(code(task.await.unwrap()), Code::InvalidInput);
        assert_eq!(code(setup.files.text(&file).await), Code::InvalidInput);
    }
    assert_eq!(came.load(Ordering::SeqCst), 4, "each is tried once");
}
