//! `docs.load.fetch` says on which page of a file a chunk begins.

use serde_json::json;

use crate::documents::support::Setup;

const LINES: usize = 30;

/// A PDF with one page for each word: many lines that repeat it. The page of an empty word is blank.
fn pdf_of_words(words: &[&str]) -> Vec<u8> {
    let kids: Vec<_> = (0..words.len()).map(|at| format!("{} 0 R", 10 + at * 2)).collect();
    let mut file = format!(
        "%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n\
         2 0 obj\n<</Type/Pages/Kids[{}]/Count {}>>\nendobj\n\
         3 0 obj\n<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>\nendobj\n",
        kids.join(" "),
        words.len()
    );
    for (at, word) in words.iter().enumerate() {
        let (page, stream) = (10 + at * 2, 11 + at * 2);
        let line = format!("({}.) Tj T*\n", [*word; 8].join(" "));
        let lines = if word.is_empty() { String::new() } else { line.repeat(LINES) };
        let content = format!("BT /F 11 Tf 14 TL 60 700 Td\n{lines}ET");
        file += &format!(
            "{page} 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {stream} 0 R\
             /Resources<</Font<</F 3 0 R>>>>>>\nendobj\n\
             {stream} 0 obj\n<</Length {}>>\nstream\n{content}\nendstream\nendobj\n",
            content.len()
        );
    }
    file += "trailer\n<</Root 1 0 R>>\n%%EOF\n";
    file.into_bytes()
}

#[tokio::test]
async fn chunks_of_a_pdf_have_the_page_on_which_they_begin() {
    let setup = Setup::open().await;
    let words = ["Apples", "Pears", "", "Plums"];
    let id = setup.put("fruit.pdf", pdf_of_words(&words)).await;
    let input = json!({"file_id": id, "chunk_tokens": 100, "overlap_tokens": 10});
    let data = setup.data("docs.load.fetch", input).await;
    let chunks = data["chunks"].as_array().unwrap();
    let mut pages = Vec::new();
    for chunk in chunks {
        let first = chunk["text"].as_str().unwrap().split_whitespace().next().unwrap();
        let at = words.iter().position(|word| *word == first.trim_end_matches('.')).unwrap();
        assert_eq!(chunk["page"], at + 1, "{chunk}");
        pages.push(at + 1);
    }
    assert!(pages.is_sorted());
    pages.dedup();
    assert_eq!(pages, [1, 2, 4]);

    let text = setup.data("docs.load.fetch", json!({"content": "No pages here."})).await;
    assert!(text["chunks"][0]["page"].is_null(), "{text}");
}
