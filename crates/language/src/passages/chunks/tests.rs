use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

use super::*;

fn cut(text: &str, chunk_tokens: usize, overlap_tokens: usize) -> Vec<TextChunk> {
    chunks(text, ChunkOptions { chunk_tokens, overlap_tokens }).collect()
}

fn at(text: &str, chunk: &TextChunk) -> String {
    text.chars().skip(chunk.offset).take(chunk.length).collect()
}

#[test]
fn chunks_end_where_sentences_do() {
    let sentence = "Trees shade the street and cool the air around them. ";
    let text = format!("# Heat\n\n{}\n\n## Trees\n\n{}", sentence.repeat(12), sentence.repeat(3));
    let chunks = cut(&text, 60, 20);
    assert!(chunks.len() > 3, "{chunks:#?}");
    for chunk in &chunks {
        assert!(chunk.text.len() <= 240 && chunk.text.ends_with("them."), "{chunk:?}");
        assert_eq!(at(&text, chunk), chunk.text);
    }
    assert!(chunks[0].text.starts_with("# Heat\n\nTrees"));
    assert_eq!(chunks[1].heading_path, ["Heat"]);
    assert_eq!(chunks.last().unwrap().heading_path, ["Heat", "Trees"]);
    assert!(chunks[1].offset < chunks[0].offset + chunks[0].length);
    assert!(chunks[1].text.starts_with("Trees shade"));
}

#[test]
fn code_is_no_heading_and_small_sections_stay_together() {
    let text = "# A\n\nOne.\n\n```\n# no heading\n```\n\n## B\n\nTwo.\n\n# C\n\nThree.";
    let chunks = cut(text, 400, 40);
    assert_eq!(chunks.len(), 1);
    assert_eq!((chunks[0].offset, &chunks[0].heading_path[..]), (0, &["A".to_owned()][..]));
    assert_eq!(cut("", 10, 2), []);
    assert_eq!(cut(" \n\n ", 10, 2), []);
}

#[test]
fn a_section_begins_a_chunk() {
    let section = "This sentence is about the one subject of its section. ".repeat(3);
    let text = format!("# One\n\n{section}\n\n# Two\n\n{section}");
    let chunks = cut(&text, 100, 20);
    assert_eq!(chunks.len(), 2);
    assert_eq!(chunks[1].heading_path, ["Two"]);
    assert!(chunks[1].text.starts_with("# Two"));
}

#[test]
fn an_endless_line_is_cut_in_linear_time() {
    for text in ["x".repeat(1_000_000), "é ".repeat(400_000), "a. ".repeat(300_000)] {
        let started = std::time::Instant::now();
        let chunks = cut(&text, 400, 399);
        assert!(chunks.iter().all(|chunk| chunk.text.len() <= 1_600));
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }
}

proptest! {
    #[test]
    fn chunks_cover_the_text(
        text in "(\\PC|\n|\n\n|# |- |```\n|[a-z]{1,9} |[a-z]\\. |\u{200d}|漢|。){0,300}",
        chunk_tokens in 1usize..60, overlap_tokens in 0usize..60,
    ) {
        let chunks = cut(&text, chunk_tokens, overlap_tokens);
        let mut covered = 0;
        for chunk in &chunks {
            prop_assert_eq!(at(&text, chunk), chunk.text.clone());
            prop_assert!(chunk.text.len() <= (chunk_tokens * 4).max(4));
            let between: String =
                text.chars().skip(covered).take(chunk.offset.saturating_sub(covered)).collect();
            prop_assert!(between.trim().is_empty(), "lost {between:?}");
            prop_assert!(chunk.offset + chunk.length > covered);
            covered = chunk.offset + chunk.length;
        }
        let rest: String = text.chars().skip(covered).collect();
        prop_assert!(rest.trim().is_empty(), "lost {rest:?}");
        prop_assert_eq!(chunks, cut(&text, chunk_tokens, overlap_tokens));
    }
}
