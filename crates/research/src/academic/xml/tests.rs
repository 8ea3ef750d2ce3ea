use super::*;

#[test]
fn a_document_becomes_a_tree() {
    let document = r#"<?xml version="1.0"?><!DOCTYPE x SYSTEM "http://x.invalid/x.dtd">
        <a:feed><entry k="1 &amp; 2"><title>One <i>two</i> &lt;3&#x21;</title></entry><entry/></a:feed>"#;
    let root = Element::parse(document.as_bytes()).unwrap();
    let entry = root.find(&["feed", "entry"]).unwrap();
    assert_eq!(entry.attribute("k"), Some("1 & 2"));
    assert_eq!(entry.find(&["title"]).unwrap().text(), "One two <3!");
    assert_eq!(root.find(&["feed"]).unwrap().children("entry").count(), 2);
}

#[test]
fn broken_and_excessive_documents_are_refused() {
    assert!(Element::parse(b"<a><b></a>").is_err());
    assert!(Element::parse(b"<a>cut").is_err());
    assert!(Element::parse("<a>".repeat(1_000).as_bytes()).is_err());
    let wide = format!("<a>{}</a>", "<b/>".repeat(200_000));
    assert!(Element::parse(wide.as_bytes()).is_err());
    let bomb = r#"<!DOCTYPE a [<!ENTITY x "xxxxxxxxxx">]><a>&x;&x;</a>"#;
    assert!(Element::parse(bomb.as_bytes()).unwrap().text().len() < 5);
}
