use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use egress::process::{Exit, Piped, Process};
use egress::sandbox::Tier;
use proto::Failure;
use serde_json::{Map, Value};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;

use crate::contract;

/// How much of stderr is buffered.
const MAX_STDERR: usize = 8_192;

/// How long to wait for the exit of a process, and the end of its stderr, after the end of its stdout.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// A running interpreter and its pipes.
pub(crate) struct Worker {
    /// None once the input has been closed.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    process: Process,
    stderr: Arc<Mutex<Vec<u8>>>,
    stderr_reader: JoinHandle<()>,
    /// Whether the worker has said that it kept state which another call could see.
    spent: bool,
}

/// What a worker answered.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    /// A function returned this.
    Data(Value),
    /// A script printed this and ended with this status.
    Printed { text: String, status: i32, why: String },
    /// A script printed too much.
    TooLarge { size: u64 },
    /// A function returned something that this says is no JSON.
    Unreadable(String),
    /// A function raised this.
    Failed(String),
}

impl Worker {
    pub(crate) fn new(piped: Piped) -> Self {
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let stderr_reader = tokio::spawn(read_stderr(piped.stderr, Arc::clone(&stderr)));
        Self {
            stdin: Some(piped.stdin),
            stdout: BufReader::new(piped.stdout),
            process: piped.process,
            stderr,
            stderr_reader,
            spent: false,
        }
    }

    /// Whether it must not be used for another call.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent
    }

    /// Whether the last call left no process, no file, and nothing on stdout.
    pub(crate) fn is_untouched(&self) -> bool {
        self.stdout.buffer().is_empty() && self.process.is_untouched()
    }

    /// Removes the processes and files of earlier calls. False if that failed: the worker must not be used again.
    pub(crate) async fn reset(&self) -> bool {
        self.stdout.buffer().is_empty() && self.process.reset().await
    }

    /// The sandbox tier in effect.
    pub(crate) fn tier(&self) -> Tier {
        self.process.tier()
    }

    /// Whether the process has not ended by itself.
    pub(crate) async fn is_alive(&mut self) -> bool {
        tokio::select! {
            biased;
            _ = self.process.wait() => false,
            () = std::future::ready(()) => true,
        }
    }

    /// Sends a request and reads its reply. An error means that the worker must not be used again.
    pub(crate) async fn ask(
        &mut self,
        id: u64,
        mut request: Map<String, Value>,
        limit: usize,
    ) -> Result<Answer, Failure> {
        request.insert("id".to_owned(), id.into());
        let line = line_of(&request)?;
        let Some(stdin) = &mut self.stdin else {
            return Err(contract::tool_failure("the worker was used up"));
        };
        // Reads while it writes, so that neither side can block the other. A reply has a few dozen bytes around its data.
        let (written, reply) = tokio::join!(
            async {
                stdin.write_all(&line).await?;
                stdin.flush().await
            },
            read_line(&mut self.stdout, limit.saturating_add(64)),
        );
        match reply? {
            Some(reply) => {
                written.map_err(broken_pipe)?;
                let (answer, last) = answer(&reply, id)?;
                self.spent = last;
                Ok(answer)
            }
            None => Err(self.ended().await),
        }
    }

    /// Sends a program its one request, and reads all it prints until it ends.
    pub(crate) async fn finish(
        &mut self,
        request: Map<String, Value>,
        limit: usize,
    ) -> Result<(Vec<u8>, Exit), Failure> {
        let line = line_of(&request)?;
        let stdin = self.stdin.take();
        let mut printed = Vec::new();
        let mut stdout = (&mut self.stdout).take(limit as u64 + 1);
        let (_, read) = tokio::join!(
            async {
                if let Some(mut stdin) = stdin {
                    // A program may answer without reading its input to the end.
                    let _ = stdin.write_all(&line).await;
                    let _ = stdin.shutdown().await;
                }
            },
            stdout.read_to_end(&mut printed),
        );
        read.map_err(broken_pipe)?;
        if printed.len() > limit {
            return Err(contract::too_large(printed.len() as u64, limit as u64));
        }
        let exit = self.process.wait().await.map_err(broken_pipe)?;
        self.drain_stderr().await;
        Ok((printed, exit))
    }

    /// Takes what was written to stderr since the last time.
    pub(crate) fn take_stderr(&self) -> Vec<u8> {
        std::mem::take(&mut *self.stderr.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What was written to stderr since it was last taken.
    pub(crate) fn stderr_so_far(&self) -> String {
        let stderr = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&stderr).into_owned()
    }

    /// The failure for a missing reply.
    async fn ended(&mut self) -> Failure {
        let exit = tokio::time::timeout(EXIT_TIMEOUT, self.process.wait()).await;
        self.drain_stderr().await;
        let stderr = self.stderr_so_far();
        let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let hint = match contract::preview(last) {
            hint if hint.is_empty() => hint,
            hint => format!(": {hint}"),
        };
        contract::unreadable(match exit {
            Ok(Ok(Exit::Code(code))) => {
                format!("the tool ended with exit code {code} before it answered{hint}")
            }
            Ok(Ok(Exit::Signal(signal))) => format!("the tool was killed by signal {signal}"),
            _ => format!("the tool closed its output before it answered{hint}"),
        })
    }

    /// Waits for the end of stderr, which follows the end of the process at once.
    async fn drain_stderr(&mut self) {
        let _ = tokio::time::timeout(EXIT_TIMEOUT, &mut self.stderr_reader).await;
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stderr_reader.abort();
    }
}

fn line_of(request: &Map<String, Value>) -> Result<Vec<u8>, Failure> {
    let mut line = serde_json::to_vec(request).map_err(|error| {
        contract::tool_failure("the input cannot be serialized").caused_by(error)
    })?;
    line.push(b'\n');
    Ok(line)
}

fn broken_pipe(error: std::io::Error) -> Failure {
    contract::unreadable("the pipe to the tool broke").caused_by(error)
}

/// Reads to the end of a line; `None` at the end of the stream.
async fn read_line(
    stdout: &mut (impl AsyncBufRead + Unpin),
    limit: usize,
) -> Result<Option<Vec<u8>>, Failure> {
    let mut line = Vec::new();
    loop {
        let piece = stdout.fill_buf().await.map_err(broken_pipe)?;
        if piece.is_empty() {
            return Ok(None);
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        line.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
        let used = end.map_or(piece.len(), |end| end + 1);
        stdout.consume(used);
        if line.len() > limit {
            return Err(contract::too_large(line.len() as u64, limit as u64));
        }
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

/// Reads a reply, and whether it is the worker's last. Any other line means that the tool wrote to stdout directly.
fn answer(reply: &[u8], id: u64) -> Result<(Answer, bool), Failure> {
    let unexpected = || {
        let text = String::from_utf8_lossy(reply);
        contract::unreadable(format!(
            "the tool wrote `{}` to stdout past its language's own print",
            contract::preview(&text)
        ))
    };
    let mut reply: Map<String, Value> = serde_json::from_slice(reply).map_err(|_| unexpected())?;
    if reply.get("id").and_then(Value::as_u64) != Some(id) {
        return Err(unexpected());
    }
    let last = reply.get("last").is_some_and(|last| *last == true);
    let status = reply.get("status").and_then(Value::as_i64).unwrap_or(0);
    let data = reply.remove("data");
    let size = reply.get("size").and_then(Value::as_u64);
    let mut text = |name: &str| match reply.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let answer = if let Some(data) = data {
        Answer::Data(data)
    } else if let Some(size) = size {
        Answer::TooLarge { size }
    } else if let Some(why) = text("unreadable") {
        Answer::Unreadable(why)
    } else if let Some(why) = text("failed") {
        Answer::Failed(why)
    } else if let Some(printed) = text("printed") {
        Answer::Printed {
            text: printed,
            status: i32::try_from(status).unwrap_or(i32::MAX),
            why: text("why").unwrap_or_default(),
        }
    } else {
        return Err(unexpected());
    };
    Ok((answer, last))
}

/// Reads stderr and keeps its last bytes, so that the process never blocks on it.
async fn read_stderr(mut stderr: ChildStderr, buffer: Arc<Mutex<Vec<u8>>>) {
    let mut piece = [0; 4_096];
    while let Ok(length @ 1..) = stderr.read(&mut piece).await {
        let mut buffer = buffer.lock().unwrap_or_else(PoisonError::into_inner);
        buffer.extend_from_slice(&piece[..length]);
        let surplus = buffer.len().saturating_sub(MAX_STDERR);
        buffer.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_replies_to_this_request_count() {
        for (reply, expected) in [
            (r#"{"id":7,"data":null}"#, Answer::Data(Value::Null)),
            (
                r#"{"id":7,"printed":"{}","status":3,"why":"no"}"#,
                Answer::Printed { text: "{}".to_owned(), status: 3, why: "no".to_owned() },
            ),
            (r#"{"id":7,"size":99}"#, Answer::TooLarge { size: 99 }),
            (r#"{"id":7,"failed":"x"}"#, Answer::Failed("x".to_owned())),
            (r#"{"id":7,"unreadable":"x"}"#, Answer::Unreadable("x".to_owned())),
        ] {
            assert_eq!(answer(reply.as_bytes(), 7).unwrap(), (expected, false));
        }
        assert!(answer(br#"{"id":7,"data":1,"last":true}"#, 7).unwrap().1);
        for unexpected in [r#"{"id":6,"data":1}"#, "hello", r#"{"data":1}"#, r#"{"id":7}"#, "[]"] {
            assert!(answer(unexpected.as_bytes(), 7).is_err(), "{unexpected}");
        }
    }

    #[tokio::test]
    async fn lines_are_capped() {
        let mut stdout = BufReader::with_capacity(4, &b"abcdef\nrest"[..]);
        assert_eq!(read_line(&mut stdout, 6).await.unwrap().unwrap(), b"abcdef");
        assert_eq!(read_line(&mut stdout, 6).await.unwrap(), None);
        let mut stdout = BufReader::with_capacity(4, &b"abcdefg\n"[..]);
        let failure = read_line(&mut stdout, 6).await.unwrap_err();
        assert!(failure.details.unwrap()["size"].as_u64() > json!(6).as_u64());
    }
}
