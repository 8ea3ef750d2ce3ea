use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};

use super::*;

type Events = super::Events<PlainData<{ 8 << 20 }>>;

fn all(chunks: &[&[u8]]) -> Vec<String> {
    let mut events = Events::default();
    let mut found = Vec::new();
    for chunk in chunks {
        let take = |_, data: Vec<u8>| {
            found.push(String::from_utf8_lossy(&data).into_owned());
            true
        };
        events.feed(&Bytes::copy_from_slice(chunk), take).unwrap();
    }
    found
}

#[test]
fn events_end_with_an_empty_line_for_all_line_endings() {
    let text = "\u{feff}: hello\r\nevent: message\r\nid: 1\r\ndata: a\r\ndata:b\r\n\r\ndata\n\n\
                retry: 5\n\nother: x\rdata: c\r\rdata: unfinished";
    assert_eq!(all(&[text.as_bytes()]), ["a\nb", "", "c"]);
}

#[test]
fn an_event_has_a_kind_and_moves_the_position() {
    let text = "event: endpoint\ndata: /post\n\nretry: 250\nid: 7\ndata:\n\nevent: ping\ndata: x\n\n\
                data: m\nid: 8\n\nretry: soon\nid: unfinished\n";
    let (mut events, mut found) = (Events::default(), Vec::new());
    let rest = events.feed(&Bytes::from_static(text.as_bytes()), |kind, data| {
        found.push((kind, String::from_utf8(data).unwrap()));
        true
    });
    assert_eq!(rest, Ok(Bytes::new()));
    let expected = [
        (EventKind::Endpoint, "/post"),
        (EventKind::Message, ""),
        (EventKind::Other, "x"),
        (EventKind::Message, "m"),
    ];
    assert_eq!(found, expected.map(|(kind, data)| (kind, data.to_owned())));
    assert_eq!(events.position.last_id.as_deref(), Some(b"8".as_slice()));
    assert_eq!(events.position.retry, Some(Duration::from_millis(250)));
    let stopped = Events::default().feed(&Bytes::from_static(b"data: a\n\ndata: b"), |_, _| false);
    assert_eq!(stopped, Ok(Bytes::from_static(b"data: b")));
}

#[test]
fn an_event_without_end_is_refused() {
    let feed = |events: &mut Events, bytes: &'static [u8], times: usize| {
        let bytes = Bytes::from_static(bytes);
        (0..times).try_for_each(|_| events.feed(&bytes, |_, _| true).map(|_rest| ()))
    };
    let part: &[u8] = &[b' '; 10_000];
    // Text of any length, in one line or in many, and a comment.
    let mut events = Events::default();
    assert_eq!(feed(&mut events, b"data: ", 1), Ok(()));
    assert_eq!(feed(&mut events, part, 1_000), Err(TooLarge));
    let mut events = Events::default();
    assert_eq!(feed(&mut events, b"data: a sentence with spaces\n", 1_000_000), Err(TooLarge));
    let mut events = Events::default();
    assert_eq!(feed(&mut events, b":", 1), Ok(()));
    assert_eq!(feed(&mut events, part, 2), Err(TooLarge));
    let mut events = Events::default();
    assert_eq!(feed(&mut events, b"data: 1234\n\n:keep\n", 10_000), Ok(()));
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"data: ".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"{}".to_vec()),
        any::<Vec<u8>>(),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn chunk_boundaries_do_not_matter(bytes in pieces(), cut in any::<prop::sample::Index>()) {
        let at = cut.index(bytes.len() + 1);
        let whole = collect(&[&bytes]);
        assert_eq!(collect(&[&bytes[..at], &bytes[at..]]), whole);
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(collect(&single), whole);
    }

    #[test]
    fn written_events_are_read_back(lines in prop::collection::vec("[^\r\n]{0,20}", 1..5)) {
        let mut text = String::new();
        for line in &lines {
            text.push_str(&format!("data: {line}\n"));
        }
        text.push('\n');
        assert_eq!(all(&[text.as_bytes()]), [lines.join("\n")]);
    }
}

fn collect(chunks: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut events = Events::default();
    let mut found = Vec::new();
    for chunk in chunks {
        let take = |_, data: Vec<u8>| {
            found.push(data);
            true
        };
        events.feed(&Bytes::copy_from_slice(chunk), take).unwrap();
    }
    found
}
