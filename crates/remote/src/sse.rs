//! Server-sent events: what a gateway answers with when it has more than one message to send.

use bytes::BytesMut;

/// Takes events out of a stream of bytes.
#[derive(Default)]
pub(super) struct Events {
    buffer: BytesMut,
    data: Option<String>,
}

impl Events {
    /// Adds bytes as they arrived, and gives the data of every event that they complete.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<String> {
        self.buffer.extend_from_slice(bytes);
        let mut events = Vec::new();
        while let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
            let line = self.buffer.split_to(end + 1);
            let line = String::from_utf8_lossy(&line);
            events.extend(self.line(line.trim_end_matches(['\r', '\n'])));
        }
        events
    }

    /// An empty line ends an event; lines other than data (ids, comments, retry times) tell us nothing.
    fn line(&mut self, line: &str) -> Option<String> {
        if line.is_empty() {
            return self.data.take().filter(|data| !data.trim().is_empty());
        }
        if let Some(data) = line.strip_prefix("data:") {
            let data = data.strip_prefix(' ').unwrap_or(data);
            match &mut self.data {
                Some(known) => {
                    known.push('\n');
                    known.push_str(data);
                }
                None => self.data = Some(data.to_owned()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Events;

    #[test]
    fn events_end_with_an_empty_line() {
        let mut events = Events::default();
        assert!(events.feed(b": hello\nid: 1\ndata: {\"a\":").is_empty());
        assert!(events.feed(b"1}\r\n").is_empty());
        assert_eq!(
            events.feed(b"\r\ndata:x\ndata: y\n\nretry: 3\ndata: \n\n"),
            ["{\"a\":1}", "x\ny"]
        );
    }
}
