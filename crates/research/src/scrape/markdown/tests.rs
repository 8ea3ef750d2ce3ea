use super::*;

#[test]
fn markdown_has_two_kinds_of_its_syntax() {
    for text in [
        "# Title\n\nText with a [link](/a).",
        "Title\n=====\n\n- one\n- two",
        "> quoted\n\n**bold** text",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n1. one\n2. two",
        "```sh\nls\n```\n\n## Next",
        &format!("# Title\n\n[{}](/a)", "é".repeat(499)),
    ] {
        assert!(looks_like_markdown(text), "{text}");
    }
    for text in [
        "Just a text. With sentences.",
        "# only a comment\nUser-agent: *",
        "<!doctype html><h1>x</h1>\n# a\n- b\n- c\n[a](b)",
        "a,b,c\n1,2,3",
        "- one dash",
        "",
        &format!("# Title\n\n[{}](/a)", "é".repeat(501)),
        &format!("# Title\n\n[a]({})", "é".repeat(500)),
    ] {
        assert!(!looks_like_markdown(text), "{text}");
    }
    assert!(is_html("\n <HTML lang=en>") && !is_html("<p>fragment</p>"));
}
