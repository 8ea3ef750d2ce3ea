use proptest::prelude::{any, proptest};

use super::*;

#[test]
fn both_shapes_give_the_same_text() {
    let json = br#"{"wireMagic":"pb3","events":[{"tStartMs":0,"dDurationMs":1000,"id":1},{"tStartMs":0,"dDurationMs":2000,"segs":[{"utf8":"Hello"},{"utf8":" world,"}]},
        {"tStartMs":2000,"dDurationMs":100,"segs":[{"utf8":"\n"}]},{"tStartMs":2100,"dDurationMs":1000,"segs":[{"utf8":"it's me."}]},{"tStartMs":20000,"segs":[{"utf8":"After a pause."}]}]}"#;
    let xml = br#"<?xml version="1.0" encoding="utf-8" ?><transcript><text start="0" dur="2">Hello
        world,</text><text start="2.1" dur="1">it&amp;#39;s me.</text><text start="20">After a &lt;i&gt;pause.</text></transcript>"#;
    let timed = br#"<timedtext format="3"><body><p t="0" d="2000"><s>Hello</s><s t="5"> world,</s></p><p t="2100" d="1000">it&#39;s me.</p></body></timedtext>"#;
    assert_eq!(transcript(json).as_deref(), Some("Hello world, it's me.\n\nAfter a pause."));
    assert_eq!(transcript(xml).as_deref(), Some("Hello world, it's me.\n\nAfter a <i>pause."));
    assert_eq!(transcript(timed).as_deref(), Some("Hello world, it's me."));
}

#[test]
fn a_body_without_a_track_has_no_transcript() {
    for body in [&b""[..], b"   ", b"{}", b"<html><body>x</body></html>", b"{broken", b"text"] {
        assert_eq!(transcript(body), None, "{body:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(body in any::<Vec<u8>>()) {
        transcript(&body);
    }

    #[test]
    fn any_xml_is_read_without_a_panic(body in "<(text|p) [a-z\"=<>/.0-9&;]{0,60}") {
        transcript(body.as_bytes());
    }
}
