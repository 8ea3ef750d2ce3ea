use proptest::prelude::{any, prop_assert, proptest};

use super::*;

#[test]
fn a_text_is_cut_at_a_paragraph_else_a_sentence_else_a_word() {
    let text = "First paragraph.\n\nSecond one. It is longer than the first.";
    assert_eq!(cut(text, 30), "First paragraph.");
    assert_eq!(cut(text, 16), "First paragraph.");
    assert_eq!(cut(text, 58), text);
    assert_eq!(cut("One. Two is here. Three follows", 25), "One. Two is here.");
    assert_eq!(cut("no sentence ends in these words", 20), "no sentence ends in");
    assert_eq!(cut("wwwwwwwwww", 4), "wwww");
    assert_eq!(cut("ü".repeat(10).as_str(), 5), "üü");
    assert_eq!(cut("第一句。第二句。第三句。", 26), "第一句。第二句。");
    // A first line alone would lose too much: the sentence decides.
    let lead = format!("Title\n\n{}", "A sentence. ".repeat(20));
    assert!(cut(&lead, 100).len() > 80);
}

#[test]
fn a_code_block_that_is_cut_is_closed() {
    let text = "Before.\n\n```rust\nlet a = 1;\nlet b = 2;\nlet c = 3;\n```\n\nAfter.";
    let short = cut(text, 45);
    assert!(short.ends_with("\n```") && short.len() <= 45, "{short}");
    assert_eq!(open_fence(&short), None);
}

#[test]
fn a_preview_has_all_headings_and_the_beginning() {
    let body = "A sentence of the page. ".repeat(200);
    let text = format!("# Title\n\n{body}\n\n## Last\n\n{body}");
    let preview = preview(&text);
    assert!(preview.starts_with("# Title\n## Last\n\n# Title\n\nA sentence"), "{preview}");
    assert!(preview.len() <= PREVIEW + 20);
    assert_eq!(super::preview("short"), "short");
}

proptest! {
    #[test]
    fn no_cut_is_longer_than_asked(text in any::<String>(), max in 0_usize..200) {
        prop_assert!(cut(&text, max).len() <= max);
    }

    #[test]
    fn no_cut_of_code_is_longer_than_asked(text in "[a-c`~ \n.]{0,120}", max in 0_usize..120) {
        let short = cut(&text, max);
        prop_assert!(short.len() <= max);
    }
}
