//! Smaller copies of the pictures in one answer.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use files::text::{ExtractText, ExtractedText, Source};
use files::{CopyBudget, InlineLimits, LargeParts, Picture, PictureBounds, Secrets};
use proto::{Code, Failure};
use serde_json::json;

use crate::support::{person, setup_with};

const MEDIA: usize = 30_000;

/// Makes copies of this size, of pictures with so many pixels, in this time.
struct Copier {
    bytes: usize,
    pixels: u64,
    time: Duration,
    asked: Arc<AtomicUsize>,
}

#[async_trait]
impl ExtractText for Copier {
    async fn extract(&self, _: Source<'_>) -> Result<ExtractedText, Failure> {
        Err(Failure::new(Code::Unsupported, "a picture"))
    }

    async fn smaller_picture(&self, _: Source<'_>, bounds: PictureBounds) -> Option<Picture> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.pixels > bounds.max_pixels {
            return None;
        }
        tokio::time::sleep(self.time).await;
        let (bytes, media_type) = (vec![1; self.bytes].into(), "image/jpeg".to_owned());
        Some(Picture { bytes, media_type, pixels: self.pixels })
    }
}

/// The numbers of copies and references in an answer with so many large pictures, and of copies that were asked for.
async fn answer(count: u8, bytes: usize, pixels: u64, time: Duration) -> (usize, usize, usize) {
    let asked = Arc::new(AtomicUsize::new(0));
    let copier = Copier { bytes, pixels, time, asked: Arc::clone(&asked) };
    let setup = setup_with(|parts| parts.text = Arc::new(copier)).await;
    let ann = person("acme", "ann");
    let limits = InlineLimits { media: MEDIA, ..InlineLimits::default() };
    let mut parts = LargeParts {
        files: &setup.files,
        principal: &ann,
        server: None,
        limits,
        blobs: None,
        secrets: Secrets::default(),
        references: Vec::new(),
        known: HashMap::new(),
        media: 0,
        copies: CopyBudget::of_answer(),
    };
    let picture = |number: u8| {
        // Not one character again and again, which could be text.
        let bytes: Vec<u8> = (0..MEDIA + 3).map(|at| (at % 251) as u8 ^ number).collect();
        let data = BASE64_STANDARD.encode(bytes);
        json!({"type": "image", "data": data, "mimeType": "image/png"})
    };
    let mut result = json!({"content": (0..count).map(picture).collect::<Vec<_>>()});
    parts.replace_in_result(&mut result).await.unwrap();
    let blocks = result["content"].as_array().unwrap();
    let of = |kind: &str| blocks.iter().filter(|block| block["type"] == kind).count();
    (of("image"), of("text"), asked.load(Ordering::SeqCst))
}

#[tokio::test]
async fn a_copy_that_is_too_large_is_left_out() {
    let now = Duration::ZERO;
    assert_eq!(answer(1, MEDIA, 1, now).await, (1, 1, 1));
    assert_eq!(answer(1, MEDIA + 3, 1, now).await, (0, 1, 1));
    assert_eq!(answer(6, 10, 1, now).await, (4, 6, 4), "the others are references only");
}

#[tokio::test]
async fn the_copies_of_an_answer_share_their_pixels() {
    assert_eq!(answer(4, 10, 49_000_000, Duration::ZERO).await, (2, 4, 3));
}

#[tokio::test]
async fn the_copies_of_an_answer_share_their_time() {
    let began = std::time::Instant::now();
    assert_eq!(answer(4, 10, 1, Duration::from_millis(1_500)).await, (2, 4, 3));
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
}
