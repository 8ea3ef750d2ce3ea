use super::*;

#[test]
fn code_is_one_block_with_its_blank_lines() {
    let text = "# Title\n\nOne\ntwo.\n \n```rust\nfn a() {\n\n}\n# no heading\n```\n\n\n## End";
    let found: Vec<_> = blocks(text).collect();
    let code = "```rust\nfn a() {\n\n}\n# no heading\n```";
    assert_eq!(found, ["# Title", "One\ntwo.", code, "## End"]);
    assert_eq!(headings(text).collect::<Vec<_>>(), ["# Title", "## End"]);
}

#[test]
fn fences_close_with_a_marker_of_their_kind() {
    assert_eq!(open_fence("```\ncode"), Some(Fence("```")));
    assert_eq!(open_fence("```\ncode\n```"), None);
    assert_eq!(open_fence("~~~~\n```\n~~~"), Some(Fence("~~~~")));
    assert_eq!(open_fence("- a\n\n  ```sh\n  ls"), Some(Fence("  ```")));
    assert_eq!(open_fence("- a\n\n  ```sh\n  ls\n   ````"), None);
    assert_eq!(open_fence("``` inline ``` text"), None);
    assert_eq!(open_fence("#hashtag"), None);
    assert!(!is_heading("#hashtag") && !is_heading("####### seven") && is_heading("# one"));
}
