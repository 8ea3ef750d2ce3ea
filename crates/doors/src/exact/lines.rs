use std::io;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, BytesMut};
use proto::big_integers;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};

use super::unreadable::{Unreadable, UnreadableLines};

/// The key of a request's `_meta` that has the path of an integer that was rounded.
pub(crate) const ROUNDED: &str = "powerstrip/rounded";

/// Longer lines are not read: no door takes such a message.
const MAX_LINE: usize = 16 << 20;

const CHUNK: usize = 16 * 1024;

/// A pipe of JSON messages, one per line, in which requests with integers that the reader will round are marked: the
/// reader parses messages itself, so that they cannot be refused before. Lone surrogates, which it refuses, are replaced.
pub(crate) struct MarkedLines<R> {
    inner: R,
    /// An incomplete line.
    line: BytesMut,
    /// Complete lines that were not read yet.
    ready: BytesMut,
    /// Lines that are not JSON or too long, which are not passed on.
    unreadable: UnreadableLines,
    /// A line that is too long, until its end.
    skipped: Option<Unreadable>,
}

impl<R> MarkedLines<R> {
    pub(crate) fn new(inner: R, unreadable: UnreadableLines) -> Self {
        Self { inner, line: BytesMut::new(), ready: BytesMut::new(), unreadable, skipped: None }
    }

    /// Splits bytes that were read into lines.
    fn take(&mut self, mut chunk: &[u8]) {
        if let Some(skipped) = self.skipped.take() {
            let Some(end) = chunk.iter().position(|byte| *byte == b'\n') else {
                self.skipped = Some(skipped);
                return;
            };
            self.refuse(skipped);
            chunk = &chunk[end + 1..];
        }
        let Some(end) = chunk.iter().rposition(|byte| *byte == b'\n') else {
            self.line.extend_from_slice(chunk);
            if self.line.len() > MAX_LINE {
                self.skipped = Some(Unreadable::too_long(&self.line, MAX_LINE));
                self.line = BytesMut::new();
            }
            return;
        };
        let (lines, rest) = chunk.split_at(end + 1);
        self.line.extend_from_slice(lines);
        let mut lines = self.line.split();
        proto::replace_lone_surrogates(&mut lines);
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let refused = if line.len() > MAX_LINE {
                Some(Unreadable::too_long(line, MAX_LINE))
            } else {
                Unreadable::of(line)
            };
            if let Some(refused) = refused {
                self.refuse(refused);
                continue;
            }
            match mark(line) {
                Some(marked) => self.ready.extend_from_slice(&marked),
                None => self.ready.extend_from_slice(line),
            }
        }
        self.line.extend_from_slice(rest);
    }

    fn refuse(&self, line: Unreadable) {
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner).push_back(line);
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for MarkedLines<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.ready.is_empty() {
            let mut chunk = [0; CHUNK];
            let mut read = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut this.inner).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                // The end: what is left is no complete line.
                this.ready = this.line.split();
                break;
            }
            this.take(read.filled());
            let unreadable = this.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
            if this.ready.is_empty() && !unreadable.is_empty() {
                // Unreadable lines are answered before more is read.
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        let length = this.ready.len().min(out.remaining());
        out.put_slice(&this.ready[..length]);
        this.ready.advance(length);
        Poll::Ready(Ok(()))
    }
}

/// A request with the path of its first big integer in `_meta`; none if it has none.
fn mark(line: &[u8]) -> Option<Vec<u8>> {
    let path = big_integers(line).into_iter().next()?;
    let mut message: Value = serde_json::from_slice(line).ok()?;
    let params = message.get_mut("params")?.as_object_mut()?;
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    meta.as_object_mut()?.insert(ROUNDED.to_owned(), Value::from(path));
    let mut marked = serde_json::to_vec(&message).ok()?;
    marked.push(b'\n');
    Some(marked)
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    async fn read(text: &str) -> String {
        let mut marked = String::new();
        let mut lines = MarkedLines::new(text.as_bytes(), UnreadableLines::default());
        lines.read_to_string(&mut marked).await.expect("a text");
        marked
    }

    #[tokio::test]
    async fn only_requests_with_big_integers_are_changed() {
        let plain = "{\"id\": 1,  \"params\": {\"a\": 1e30}}\n[1, \"99999999999999999999\"]\n\n";
        assert_eq!(read(plain).await, plain);
        let big = "{\"params\": {\"arguments\": {\"n\": 99999999999999999999}}}\n";
        let marked = read(&format!("{plain}{big}{plain}")).await;
        let line = marked.lines().nth(3).expect("the marked line");
        let message: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(message["params"]["_meta"][ROUNDED], json!("/params/arguments/n"));
        assert!(marked.starts_with(plain) && marked.ends_with(plain), "{marked}");
        let long = format!("{{\"x\": \"{}\"}}\n", "y".repeat(3 * CHUNK));
        assert_eq!(read(&long).await, long);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_refused_with_its_id() {
        let start = r#"{"jsonrpc": "2.0", "id": "big", "method": "tools/call", "params": {"a": ""#;
        let long = format!("{start}{}\"}}}}\n", "y".repeat(MAX_LINE));
        let refused = UnreadableLines::default();
        let text = format!("{long}{{\"id\": 2}}\n");
        let mut lines = MarkedLines::new(text.as_bytes(), UnreadableLines::clone(&refused));
        let mut read = Vec::new();
        let end = async {
            // They are answered as soon as they are there.
            loop {
                tokio::task::yield_now().await;
                if let Some(line) = refused.lock().expect("no panic").pop_front() {
                    return line;
                }
            }
        };
        let (line, done) = tokio::join!(end, lines.read_to_end(&mut read));
        assert_eq!(line.id.map(|id| id.to_string()).as_deref(), Some("big"), "{}", line.why);
        assert_eq!((done.expect("a text"), read.as_slice()), (10, &b"{\"id\": 2}\n"[..]));
    }
}
