use super::{FrameReader, Framing};

async fn messages(bytes: &[u8]) -> (Vec<String>, Framing, Option<String>) {
    let mut reader = FrameReader::sniffing(bytes);
    let mut messages = Vec::new();
    loop {
        match reader.next().await {
            Ok(Some(message)) => messages.push(String::from_utf8(message.to_vec()).unwrap()),
            Ok(None) => return (messages, reader.framing(), None),
            Err(error) => return (messages, reader.framing(), Some(error.to_string())),
        }
    }
}

#[tokio::test]
async fn lines_are_messages() {
    let (read, framing, error) = messages(b"\n {\"a\":1}\r\n\n{\"b\":2}\n{\"c\":3}").await;
    assert_eq!(read, ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"]);
    assert_eq!((framing, error), (Framing::Lines, None));
}

#[tokio::test]
async fn frames_are_messages() {
    let bytes = b"Content-Length: 7\r\n\r\n{\"a\":1}content-length:7\nX-Other: y\n\n{\n\"b\":2";
    let (read, framing, error) = messages(bytes).await;
    assert_eq!(read, ["{\"a\":1}", "{\n\"b\":2"]);
    assert_eq!((framing, error), (Framing::Headers, None));
}

#[tokio::test]
async fn half_a_frame_is_no_message() {
    let (read, _, error) = messages(b"Content-Length: 9\r\n\r\n{\"a\":1}").await;
    assert!(read.is_empty() && error.is_none());
}

#[tokio::test]
async fn broken_headers_are_refused() {
    for bytes in [
        b"Content-Length: x\r\n\r\n".as_slice(),
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 99999999999\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"X: y\r\n\r\n",
    ] {
        let (read, _, error) = messages(bytes).await;
        assert!(read.is_empty() && error.is_some(), "{}", String::from_utf8_lossy(bytes));
    }
}

#[tokio::test]
async fn a_message_may_arrive_byte_by_byte() {
    let (mut write, read) = tokio::io::duplex(1);
    let sender = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt as _;
        write.write_all(b"Content-Length: 7\r\n\r\n{\"a\":1}").await.unwrap();
    });
    let message = FrameReader::sniffing(read).next().await.unwrap().unwrap();
    assert_eq!(&message[..], b"{\"a\":1}");
    sender.await.unwrap();
}

#[test]
fn a_message_over_several_lines_becomes_one() {
    assert_eq!(Framing::Lines.encode(b"{\n\"a\":1}"), b"{ \"a\":1}\n");
    assert_eq!(Framing::Headers.encode(b"{\n\"a\":1}"), b"Content-Length: 8\r\n\r\n{\n\"a\":1}");
}
