use proptest::prelude::{any, prop, proptest};

use super::*;

const LIMIT: usize = 4 << 20;

/// Feeds the bytes in pieces; the messages that came out and the fault that ended it, if any.
fn feed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Bytes>, Vec<FrameFault>) {
    let mut decoder = Decoder::default();
    let mut buffer = BytesMut::new();
    let (mut messages, mut faults) = (Vec::new(), Vec::new());
    for piece in pieces {
        buffer.extend_from_slice(piece);
        loop {
            match decoder.decode(&mut buffer, LIMIT) {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(fault) => {
                    let fatal = fault.is_fatal();
                    faults.push(fault);
                    if fatal {
                        return (messages, faults);
                    }
                }
            }
        }
    }
    (messages, faults)
}

fn one(bytes: &[u8]) -> (Vec<Bytes>, Vec<FrameFault>) {
    feed([bytes])
}

#[test]
fn headers_are_read_as_people_and_programs_write_them() {
    for header in [
        "Content-Length: 2\r\n\r\n",
        "content-length:2\r\n\r\n",
        "CONTENT-LENGTH:   2  \r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
        "Content-Length: 2\n\n",
        "\r\nContent-Length: 2\r\n\r\n",
        "Content-Length: 2\r\nContent-Length: 2\r\n\r\n",
    ] {
        let (messages, faults) = one(format!("{header}{{}}").as_bytes());
        assert_eq!((messages, faults), (vec![Bytes::from_static(b"{}")], vec![]), "{header:?}");
    }
}

#[test]
fn bad_headers_are_named() {
    let fault = |bytes: &[u8]| one(bytes).1.into_iter().next();
    assert_eq!(fault(b"Content-Type: x\r\n\r\n"), Some(FrameFault::NoLength));
    assert_eq!(fault(b"hello\r\n\r\n"), Some(FrameFault::NotAHeader("hello".to_owned())));
    for length in
        ["-1", "+2", "0x2", "2.0", "", "99999999999999999999999", "2\r\nContent-Length: 3"]
    {
        let bytes = format!("Content-Length: {length}\r\n\r\n{{}}");
        assert!(matches!(fault(bytes.as_bytes()), Some(FrameFault::BadLength(_))), "{length}");
    }
    assert_eq!(fault(&[b'a'; MAX_HEADER_BYTES + 1]), Some(FrameFault::HeaderTooLong));
}

#[test]
fn a_message_that_is_too_large_is_skipped_and_the_next_one_read() {
    let size = LIMIT + 1;
    let mut bytes = format!("Content-Length: {size}\r\n\r\n").into_bytes();
    bytes.resize(bytes.len() + size, b'x');
    bytes.extend(encode(b"{}"));
    let (messages, faults) = feed(bytes.chunks(1 << 20));
    assert_eq!(messages, [Bytes::from_static(b"{}")]);
    assert_eq!(faults, [FrameFault::TooLarge { size: size as u64, limit: LIMIT }]);
}

#[test]
fn an_absurd_length_ends_the_session() {
    let (_, faults) = one(b"Content-Length: 18446744073709551615\r\n\r\n");
    assert!(faults[0].is_fatal());
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in any::<Vec<u8>>(), size in 1_usize..64) {
        feed(bytes.chunks(size));
    }

    #[test]
    fn header_like_bytes_are_survived(text in "(Content-Length|X|)[: ]{0,3}[0-9]{0,4}(\r\n|\n|\r){0,3}[{}a-z\r\n:]{0,40}", size in 1_usize..16) {
        feed(text.as_bytes().chunks(size));
    }

    #[test]
    fn frames_survive_any_split(
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..6),
        cuts in prop::collection::vec(1_usize..40, 1..20),
    ) {
        let stream: Vec<u8> = messages.iter().flat_map(|message| encode(message)).collect();
        let mut pieces = Vec::new();
        let mut rest = stream.as_slice();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, later) = rest.split_at(rest.len().min(*cut));
            pieces.push(piece);
            rest = later;
        }
        let (read, faults) = feed(pieces);
        assert_eq!(faults, vec![]);
        assert_eq!(read, messages);
    }
}
