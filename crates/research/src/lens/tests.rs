use super::*;

#[test]
fn domains_are_checked_and_normalized() {
    let lens = Lens {
        name: " rust ".to_owned(),
        domains: vec!["https://www.Rust-lang.org/".to_owned(), "docs.rs".to_owned()],
        cx: None,
    };
    let lens = lens.checked().unwrap();
    assert_eq!(lens.domains, ["rust-lang.org", "docs.rs"]);
    assert!(lens.covers("docs.rs") && lens.covers("blog.rust-lang.org") && !lens.covers("rs"));
    assert!(Lens { name: "x".to_owned(), ..Lens::default() }.checked().is_err());
    let bad = Lens { name: "x".to_owned(), domains: vec!["a b".to_owned()], cx: None };
    assert!(bad.checked().unwrap_err().contains("a b"));
}
