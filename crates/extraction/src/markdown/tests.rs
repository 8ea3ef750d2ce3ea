use super::{
    Marker, code, code_block, emphasis, escape, heading, is_unsafe, item, link, quote, row,
    separator, strong, target,
};

#[test]
fn markup_is_escaped_where_it_would_count() {
    for (plain, escaped) in [
        ("plain text, (with) [1] signs!", "plain text, (with) [1] signs!"),
        ("2 * 3 and a_word", "2 * 3 and a_word"),
        ("*bold* and _em_", "\\*bold\\* and \\_em\\_"),
        ("`code`", "\\`code\\`"),
        ("[a](javascript:b)", "[a\\](javascript:b)"),
        ("a < b, <b>, </b>, <!-- -->", "a < b, \\<b>, \\</b>, \\<!-- -->"),
        ("AT&T &amp; &#60;", "AT&T \\&amp; \\&#60;"),
        ("# one\n#two", "\\# one\n#two"),
        ("- a\n+ b\n-c", "\\- a\n\\+ b\n-c"),
        ("1. one\n1.5\n 2) two", "1\\. one\n1.5\n 2\\) two"),
        ("> quoted > not", "\\> quoted > not"),
        ("a\n---\n===", "a\n\\---\n\\==="),
        ("~~gone~~", "\\~\\~gone\\~\\~"),
        ("C:\\dir \\* \\a", "C:\\dir \\\\\\* \\a"),
        ("größe_der_Ä", "größe_der_Ä"),
        ("", ""),
    ] {
        assert_eq!(escape(plain), escaped, "{plain}");
    }
}

#[test]
fn a_long_line_is_escaped_in_linear_time() {
    let line = "So. ".repeat(500_000);
    assert_eq!(escape(&line), line);
}

#[test]
fn blocks_are_written() {
    assert_eq!(heading(2, "Two\nlines"), "## Two lines");
    assert_eq!(heading(9, "x"), "###### x");
    assert_eq!(item(0, Marker::Bullet, "a\nb"), "- a\n  b");
    assert_eq!(item(1, Marker::Number(12), "a\nb"), "  12. a\n      b");
    assert_eq!(row(&["a", "b|c", "d\\|e", "two\nlines"]), "| a | b\\|c | d\\|e | two lines |");
    assert_eq!(separator(2), "| --- | --- |");
    assert_eq!(quote("a\n\nb"), "> a\n>\n> b");
}

#[test]
fn code_is_fenced_by_what_it_does_not_contain() {
    assert_eq!(code("a"), "`a`");
    assert_eq!(code("a`b"), "``a`b``");
    assert_eq!(code("`"), "`` ` ``");
    assert_eq!(code(" "), "");
    assert_eq!(code_block("rust", "\n  a\n```\n"), "````rust\n  a\n```\n````");
    assert_eq!(code_block("x`\ny", "a"), "```xy\na\n```");
}

#[test]
fn links_have_a_safe_target() {
    assert_eq!(link("a", "https://e.org/(b) c"), "[a](https://e.org/%28b%29%20c)");
    assert_eq!(link("", "https://e.org"), "");
    for bad in ["javascript:x()", " JaVa\tScript:x", "data:text/html,x", "\u{1}vbscript:x", ""] {
        assert_eq!(link("a", bad), "a", "{bad:?}");
        assert_eq!(target(bad), None);
    }
    assert!(!is_unsafe("https://e.org/javascript:"));
}

#[test]
fn emphasis_keeps_its_white_space_outside() {
    assert_eq!(strong(" a "), " **a** ");
    assert_eq!(emphasis("a\nb"), "*a b*");
    assert_eq!(strong("  "), "  ");
}
