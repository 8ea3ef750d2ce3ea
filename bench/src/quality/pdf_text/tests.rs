use std::fs;

use super::{PdfText, measure, order_similarity, tokens, word_f1};

#[test]
fn words_are_runs_or_single_characters() {
    assert_eq!(tokens("Straße_12b, 港口x!"), ["straße", "12", "b", "港", "口", "x"]);
    assert!(tokens(" – … ").is_empty());
}

#[test]
fn scores_count_words_and_their_order() {
    let words = |text: &str| tokens(text);
    let close = |one: f64, other: f64| (one - other).abs() < 1e-9;
    assert!(close(word_f1(&words("a b c"), &words("c b a")), 1.0));
    assert!(close(order_similarity(&words("a b c"), &words("c b a")), 2.0 / 6.0));
    assert!(close(word_f1(&words("a a"), &words("a")), 2.0 / 3.0));
    assert!(close(order_similarity(&words("a x b c"), &words("a b c")), 6.0 / 7.0));
    assert!(close(word_f1(&[], &[]), 1.0) && close(word_f1(&[], &words("a")), 0.0));
}

#[test]
fn a_folder_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let fixture =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/documents/tests/fixtures/other.pdf");
    fs::copy(fixture, folder.path().join("other.pdf")).unwrap();
    fs::write(folder.path().join("broken.pdf"), b"%PDF-1.4 nothing").unwrap();
    let text = "Made by another program. Its second line.";
    let rows = format!(
        "{{\"pdf\":\"other.pdf\",\"tags\":[\"plain\"],\"text\":\"{text}\",\"body\":\"{text}\"}}\n\
         {{\"pdf\":\"broken.pdf\",\"tags\":[\"damaged\"],\"text\":\"lost\",\"body\":\"lost\"}}\n"
    );
    fs::write(folder.path().join("gold.jsonl"), rows).unwrap();
    let figures = measure(&PdfText { folder: folder.path().to_owned() }).unwrap();
    assert_eq!((figures.documents, figures.failed), (2, 1));
    assert!((figures.word_f1 - 0.5).abs() < 1e-9 && (figures.body_word_f1 - 0.5).abs() < 1e-9);
    assert!((figures.order_by_tag["plain"] - 1.0).abs() < 1e-9);
    assert!(measure(&PdfText { folder: folder.path().join("none") }).is_err());
}
