//! When a reader is used again, and when it is replaced.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;
use std::time::Duration;

use egress::process::Runner;
use proto::Code;
use reading::{Bounds, Document, Done, Readers, Work};
#[cfg(target_os = "linux")]
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};

const PROGRAM: &str = env!("CARGO_BIN_EXE_reading-reader");

async fn readers(bounds: Bounds) -> Readers {
    let runner = Runner::with_launcher(PROGRAM).await.unwrap();
    Readers::with_program(Arc::new(runner), bounds, PROGRAM.into())
}

fn one_at_a_time() -> Bounds {
    Bounds { at_once: 1, ..Bounds::default() }
}

fn page(words: &str, owner: Option<&str>) -> Document {
    let html = format!("<!doctype html><title>A page</title><p>{words}</p>").into_bytes();
    Document { owner: owner.map(str::to_owned), ..Document::new(html, "text/html") }
}

/// Reads a page, and returns the id of the reader that waits afterwards.
async fn read(readers: &Readers, words: &str, owner: Option<&str>) -> u32 {
    let read = readers.read(page(words, owner)).await.unwrap();
    assert_eq!((read.text.as_str(), read.meta.title.as_deref()), (words, Some("A page")));
    let [id] = readers.idle()[..] else { panic!("{:?}", readers.idle()) };
    id
}

#[tokio::test]
async fn a_reader_stays_for_documents_of_one_owner_and_for_no_other() {
    let readers = readers(one_at_a_time()).await;
    assert!(readers.idle().is_empty(), "nothing starts before the first document");
    let public = read(&readers, "first", None).await;
    assert_eq!(read(&readers, "second", None).await, public);
    let acme = read(&readers, "private", Some("acme")).await;
    assert_ne!(acme, public);
    assert_eq!(read(&readers, "private again", Some("acme")).await, acme);
    let globex = read(&readers, "other", Some("globex")).await;
    assert!(![acme, public].contains(&globex));
    assert!(![acme, globex].contains(&read(&readers, "public again", None).await));
}

#[tokio::test]
async fn a_reader_is_replaced_after_its_last_document_and_ends_unused() {
    let bounds = Bounds { documents: 2, idle: Duration::from_millis(50), ..one_at_a_time() };
    let readers = readers(bounds).await;
    read(&readers, "first", None).await;
    let waiting = async {
        while !readers.idle().is_empty() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(10), waiting).await.unwrap();

    let readers = Readers::with_program(
        Arc::new(Runner::with_launcher(PROGRAM).await.unwrap()),
        Bounds { documents: 2, ..one_at_a_time() },
        PROGRAM.into(),
    );
    read(&readers, "first", None).await;
    readers.read(page("second", None)).await.unwrap();
    assert!(readers.idle().is_empty());
    read(&readers, "third", None).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_document_is_not_blamed_for_a_reader_that_died_before() {
    let readers = readers(one_at_a_time()).await;
    let id = read(&readers, "first", None).await;
    for process in below(id) {
        // Those above the reader end with it.
        let _ = kill_process(Pid::from_raw(process.cast_signed()).unwrap(), Signal::KILL);
        while std::fs::exists(format!("/proc/{process}")).unwrap() {
            sleep(Duration::from_millis(5)).await;
        }
    }
    assert_ne!(read(&readers, "second", None).await, id);
}

/// The processes that a supervisor has started, the last one first.
#[cfg(target_os = "linux")]
fn below(supervisor: u32) -> Vec<u32> {
    let (mut found, mut next) = (Vec::new(), vec![supervisor]);
    while let Some(process) = next.pop() {
        let list = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
        let children = list.unwrap_or_default();
        let children = children.split_whitespace().map(|id| id.parse::<u32>().unwrap());
        next.extend(children.clone());
        found.extend(children);
    }
    found.reverse();
    assert!(!found.is_empty());
    found
}

#[tokio::test]
async fn a_reader_survives_documents_that_it_cannot_read() {
    let readers = readers(one_at_a_time()).await;
    let id = read(&readers, "first", None).await;
    let damaged = Document::new(b"%PDF-1.7\nnothing else".to_vec(), "application/pdf");
    let failure = readers.read(damaged).await.unwrap_err();
    assert_eq!(failure.details.unwrap()["reason"], "damaged");
    assert_eq!(read(&readers, "second", None).await, id);
}

#[tokio::test]
async fn many_documents_at_once_take_no_more_readers_than_allowed() {
    let readers = readers(Bounds { at_once: 2, ..Bounds::default() }).await;
    let reading: Vec<_> = (0..20)
        .map(|number| {
            let readers = readers.clone();
            let owner = (number % 3 == 0).then_some("acme");
            tokio::spawn(async move {
                readers.read(page(&format!("page {number}"), owner)).await.unwrap().text
            })
        })
        .collect();
    for (number, text) in reading.into_iter().enumerate() {
        assert_eq!(text.await.unwrap(), format!("page {number}"));
    }
    assert!((1..=2).contains(&readers.idle().len()));
}

/// A PDF with one page for each text, in which `Z` is a space without width.
fn pdf(pages: &[&str]) -> Vec<u8> {
    let stream =
        |content: &str| format!("<</Length {}>>stream\n{content}\nendstream", content.len());
    let unicode = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Z def\n\
        1 begincodespacerange <00> <ff> endcodespacerange\n\
        1 beginbfchar <5a> <200b> endbfchar endcmap end end";
    let kids: Vec<_> = (0..pages.len()).map(|at| format!("{} 0 R", 10 + at * 2)).collect();
    let mut objects = vec![
        (1, "<</Type/Catalog/Pages 2 0 R>>".to_owned()),
        (2, format!("<</Type/Pages/Kids[{}]/Count {}>>", kids.join(" "), pages.len())),
        (3, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 4 0 R>>".to_owned()),
        (4, stream(unicode)),
    ];
    for (at, text) in pages.iter().enumerate() {
        let (page, content) = (10 + at * 2, 11 + at * 2);
        let leaf = "/Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>";
        objects.push((page, format!("<<{leaf}/Contents {content} 0 R>>")));
        objects.push((content, stream(&format!("BT /F 11 Tf 60 700 Td ({text}) Tj ET"))));
    }
    let objects = objects.iter().map(|(id, object)| format!("{id} 0 obj\n{object}\nendobj\n"));
    let objects: String = objects.collect();
    format!("%PDF-1.4\n{objects}trailer\n<</Root 1 0 R>>\n%%EOF\n").into_bytes()
}

#[tokio::test]
async fn pages_begin_after_what_was_removed_before_them() {
    let readers = readers(one_at_a_time()).await;
    let pages = ["ApZples <!-- are --> red.", "", "PearsZ are green.", "Plums are blue."];
    let read = readers.read(Document::new(pdf(&pages), "application/pdf")).await.unwrap();
    assert_eq!(read.text, "Apples  red.\n\nPears are green.\n\nPlums are blue.");
    assert_eq!(read.removed, 2 + "<!-- are -->".len());
    let start = |words: &str| read.text.find(words).unwrap();
    assert_eq!(read.pages, [0, start("Pears"), start("Pears"), start("Plums")]);

    let html = readers.read(page("No pages", None)).await.unwrap();
    assert!(html.pages.is_empty());
}

/// The name is the one that the program of the tests knows; the function itself is there.
const TURN_AROUND: Work = Work::new("turn-around", |_, _| Ok(Done::default()));

#[tokio::test]
async fn a_document_waits_for_others_no_longer_than_its_own_deadline() {
    let bounds = Bounds { time: Duration::from_secs(2), ..one_at_a_time() };
    let readers = readers(bounds).await;
    let options = json!({"does": "loop"});
    let endless = Document::new(b"abc".to_vec(), "image/png");
    let begun = Instant::now();
    let (first, second) = tokio::join!(
        readers.work(&TURN_AROUND, &options, endless),
        readers.read(page("a page", None)),
    );
    assert!(begun.elapsed() < Duration::from_millis(3_500), "{:?}", begun.elapsed());
    assert_eq!(first.unwrap_err().details.unwrap()["reason"], "time");
    let late = second.unwrap_err();
    assert_eq!((late.code, late.retryable), (Code::Unavailable, true), "{late:?}");
    assert_eq!(late.details.unwrap()["reason"], "busy");
    assert!(late.message.contains("busy"), "{}", late.message);
    read(&readers, "another page", None).await;
}

#[tokio::test]
async fn functions_of_a_program_run_in_its_readers() {
    let bounds = Bounds { time: Duration::from_secs(5), ..one_at_a_time() };
    let readers = readers(bounds).await;
    let bytes = || Document::new(b"abc".to_vec(), "image/png");
    let done = readers.work(&TURN_AROUND, &json!({"mode": 1}), bytes()).await.unwrap();
    assert_eq!(done.bytes, b"cba");
    assert_eq!(done.value, json!({"length": 3, "options": {"mode": 1}}));
    assert!(readers.idle().is_empty(), "a reader that ran a function is not used again");

    // An error in one call fails only that call.
    for (does, code, reason) in [
        ("refuse", Code::InvalidInput, "upside_down"),
        ("panic", Code::InvalidInput, "crashed"),
        ("allocate", Code::InvalidInput, "memory"),
        ("loop", Code::Timeout, "time"),
    ] {
        let failed = readers.work(&TURN_AROUND, &json!({"does": does}), bytes()).await.unwrap_err();
        assert_eq!(failed.code, code, "{does}: {failed:?}");
        assert_eq!(failed.details.unwrap()["reason"], reason, "{does}");
    }
    let unknown = Work::new("unknown", |_, _| Ok(Done::default()));
    let failed = readers.work(&unknown, &json!({}), bytes()).await.unwrap_err();
    assert_eq!(failed.details.unwrap()["reason"], "unsupported");
    assert!(readers.work(&TURN_AROUND, &json!({}), bytes()).await.is_ok());
}
