//! Answers for requests that are too long: the transport drops their lines, and their callers would wait for ever.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};

/// The method of the request that takes the place of one that is too long; its answer says so.
pub(crate) const TOO_LONG: &str = "powerstrip/too_long";

/// The bytes at both ends of a line in which its id is looked for: clients write it before or after the parameters.
const ENDS: usize = 512;

/// Bytes read at once.
const CHUNK: usize = 64 << 10;

/// Passes lines on, and after one that is too long a short request with the same id.
pub(super) struct LongLines<R> {
    inner: R,
    limit: usize,
    /// What was read and not yet passed on.
    chunk: Vec<u8>,
    at: usize,
    line: Line,
    /// The request that takes the place of the last line.
    stand_in: VecDeque<u8>,
}

/// What is known about the line that is passed on.
#[derive(Default)]
struct Line {
    length: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl<R> LongLines<R> {
    /// Lines of more than `limit` bytes are too long.
    pub(super) fn new(inner: R, limit: usize) -> Self {
        let (chunk, stand_in) = (Vec::new(), VecDeque::new());
        Self { inner, limit, chunk, at: 0, line: Line::default(), stand_in }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LongLines<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.stand_in.is_empty() {
            let count = buffer.remaining().min(this.stand_in.len());
            buffer.put_slice(&this.stand_in.drain(..count).collect::<Vec<u8>>());
            return Poll::Ready(Ok(()));
        }
        if this.at == this.chunk.len() {
            this.chunk.resize(CHUNK, 0);
            let mut read = ReadBuf::new(&mut this.chunk);
            let outcome = Pin::new(&mut this.inner).poll_read(context, &mut read);
            let length = read.filled().len();
            this.chunk.truncate(length);
            this.at = 0;
            ready!(outcome)?;
        }
        let rest = &this.chunk[this.at..];
        let newline = rest.iter().position(|byte| *byte == b'\n');
        let count = newline.map_or(rest.len(), |at| at + 1).min(buffer.remaining());
        let piece = &rest[..count];
        buffer.put_slice(piece);
        this.line.add(piece);
        if piece.ends_with(b"\n") {
            let line = std::mem::take(&mut this.line);
            this.stand_in = line.stand_in(this.limit).unwrap_or_default();
        }
        this.at += count;
        Poll::Ready(Ok(()))
    }
}

impl Line {
    fn add(&mut self, piece: &[u8]) {
        self.length += piece.len();
        let missing = ENDS.saturating_sub(self.head.len()).min(piece.len());
        self.head.extend_from_slice(&piece[..missing]);
        self.tail.extend_from_slice(&piece[piece.len().saturating_sub(ENDS)..]);
        self.tail.drain(..self.tail.len().saturating_sub(ENDS));
    }

    /// The request in place of this one, if it is too long and has an id.
    fn stand_in(&self, limit: usize) -> Option<VecDeque<u8>> {
        let id = (self.length > limit).then(|| self.id())??;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let request =
            json!({"jsonrpc": "2.0", "id": id, "method": TOO_LONG, "params": {"_meta": meta}});
        Some(format!("{request}\n").into_bytes().into())
    }

    /// The id of a request, before or after its parameters.
    fn id(&self) -> Option<Value> {
        let (head, tail) =
            (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&self.tail));
        let before = head.split("\"params\"").next().unwrap_or_default();
        let tail = tail.trim_end().strip_suffix('}').unwrap_or_default();
        let after = tail.rsplit('}').next().unwrap_or_default();
        // An answer of the client has an id as well, which is none of its own.
        let is_request = [before, after].iter().any(|part| part.contains("\"method\""));
        let id = [before, after].into_iter().find_map(id_in);
        id.filter(|_| is_request)
    }
}

fn id_in(part: &str) -> Option<Value> {
    let (_, rest) = part.split_once("\"id\"")?;
    let rest = rest.trim_start().strip_prefix(':')?;
    let value = serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()?;
    (value.is_number() || value.is_string()).then_some(value)
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// What comes after a line in which `x` is a long text.
    async fn after(line: &str) -> String {
        let line = line.replace("TEXT", &"\\\"id\\\":9}".repeat(200));
        let input = format!("{line}\n{{\"next\":1}}\n");
        let mut passed = String::new();
        LongLines::new(input.as_bytes(), 1000).read_to_string(&mut passed).await.unwrap();
        let rest = passed.strip_prefix(&line).unwrap().strip_prefix('\n').unwrap();
        rest.strip_suffix("{\"next\":1}\n").unwrap().to_owned()
    }

    #[tokio::test]
    async fn a_long_request_is_followed_by_a_short_one_with_its_id() {
        for (line, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":"TEXT"}}"#, json!(7)),
            (r#"{"method": "a", "params": {"x": "TEXT"}, "id" : "s-1"}"#, json!("s-1")),
            (r#"{"method":"a","params":{"x":["TEXT"]},"jsonrpc":"2.0","id":8} "#, json!(8)),
        ] {
            let request: Value = serde_json::from_str(&after(line).await).unwrap();
            assert_eq!((&request["id"], &request["method"]), (&id, &json!(TOO_LONG)), "{line}");
        }
    }

    #[tokio::test]
    async fn other_lines_pass_alone() {
        for line in [
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"x":"TEXT"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"x":"TEXT"}}"#,
            "TEXT",
        ] {
            assert_eq!(after(line).await, "", "{line}");
        }
    }
}
