use super::*;

fn kind(url: &str, content_type: &str, body: &[u8]) -> Kind {
    let content_type = Some(content_type).filter(|header| !header.is_empty());
    Kind::of_body(body, content_type, &Url::parse(url).unwrap())
}

#[test]
fn bytes_win_over_type_and_url() {
    let (page, pdf) = (&b"<!doctype html><p>Not found</p>"[..], &b"%PDF-1.7\n"[..]);
    for (url, content_type, body, expected) in [
        ("https://a.test/x", "text/html", pdf, Kind::Pdf),
        ("https://a.test/x", "application/octet-stream", pdf, Kind::Pdf),
        ("https://a.test/x.pdf", "application/pdf", page, Kind::Html),
        ("https://a.test/x.pdf", "", page, Kind::Html),
        ("https://a.test/x", "text/plain", page, Kind::Html),
        ("https://a.test/x", "text/plain; charset=utf-8", b"just words", Kind::Text),
        ("https://a.test/x", "text/html", b"just words", Kind::Html),
        ("https://a.test/x", "application/ld+json", b"{\"a\": 1}", Kind::Json),
        ("https://a.test/x", "", b"{\"a\": 1}", Kind::Json),
        ("https://a.test/x.png", "image/png", b"\x89PNG\r\n\x1a\n....", Kind::Other),
        ("https://a.test/x", "text/html", b"a page \x08\x01\x02 of text", Kind::Html),
        ("https://a.test/x", "text/html", b"\x01\x02\x03\x04ab", Kind::Other),
        ("https://a.test/x", "", b"a page \x08\x01\x02 of text", Kind::Other),
        ("https://a.test/x.docx", "", b"PK\x03\x04....", Kind::Docx),
    ] {
        assert_eq!(kind(url, content_type, body), expected, "{url} {content_type}");
    }
}

#[test]
fn urls_and_types_are_read_without_regard_to_case() {
    let url = Url::parse("https://a.test/dir.docx/Report.PDF?x=.pptx#y").unwrap();
    assert_eq!(Kind::of_url(&url), Some(Kind::Pdf));
    assert_eq!(Kind::of_url(&Url::parse("https://a.pdf/").unwrap()), None);
    assert_eq!(Kind::of_type("Application/PDF; a=b"), Some(Kind::Pdf));
    assert_eq!(Kind::of_type("image/png"), None);
    assert_eq!(charset("text/html; Charset=\"ISO-8859-1\""), Some("ISO-8859-1"));
    assert_eq!(charset("text/html"), None);
    assert_eq!(believable_charset("text/html; charset=utf-8", "größe".as_bytes()), Some("utf-8"));
    assert_eq!(believable_charset("text/html; charset=utf-8", b"gr\xf6\xdfe"), None);
    assert_eq!(believable_charset("text/html; charset=utf-8", b"cut \xc3"), Some("utf-8"));
}
