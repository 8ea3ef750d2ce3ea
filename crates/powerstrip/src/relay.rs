//! `stdio`: relays messages between a client and the process that runs the strip. If the strip moves to another process,
//! the client sees at worst an error that says to try again.

mod client_gone;
mod session;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use bytes::Bytes;
use config::Loaded;
use remote::{Client, FrameReader, Framing, Ledger, MessageReader, MessageWriter};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::context::Context;

pub(crate) use client_gone::client_gone;
use session::Session;

/// How long running calls may take to finish before another process takes the data folder over.
const DRAIN: Duration = Duration::from_secs(10);

/// How long the last messages of a session may take to reach the client.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// A session that lasted this long counts as working, even without a message.
const ALIVE: Duration = Duration::from_secs(1);

/// This many sessions in a row that end at once are an error.
const MAX_FAILED_SESSIONS: u32 = 5;

/// Relays until the client closes its end, is gone, or the process stops. The calls of a client that is gone are cancelled.
pub(crate) async fn run<R, W>(
    client: Client<R, W>,
    context: &Arc<Context>,
    loaded: &Loaded,
    agent: Option<&str>,
    shutdown: CancellationToken,
    gone: CancellationToken,
) -> anyhow::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let Client { mut reader, writer } = client;
    let ledger = Arc::new(Ledger::default());
    let (mut session, first) = tokio::try_join!(Session::open(context, loaded, agent), async {
        Ok(reader.next(&writer).await)
    })?;
    let mut failed_sessions = 0;
    let mut link = Link::begin(&mut session, &reader, &writer, &ledger);
    let mut open = match first {
        Some(message) => {
            link.forward_request(&message).await;
            true
        }
        None => false,
    };
    loop {
        let event = tokio::select! {
            message = reader.next(&writer), if open => Event::Message(message),
            () = link.lost() => Event::Lost,
            () = session.handover_requested() => Event::Handover,
            () = ledger.settled(), if !open => Event::Done,
            () = shutdown.cancelled() => Event::Stop,
            () = gone.cancelled() => Event::Gone,
        };
        match event {
            Event::Message(Some(message)) => link.forward_request(&message).await,
            Event::Message(None) => open = false,
            Event::Done => break,
            Event::Stop => {
                tokio::select! {
                    () = session.finish_calls() => {}
                    () = gone.cancelled() => {}
                }
                break;
            }
            Event::Gone => {
                link.abandon(session).await;
                return Ok(());
            }
            Event::Handover | Event::Lost => {
                if let Event::Handover = event {
                    tracing::info!("handing the data folder over");
                    let _ = tokio::time::timeout(DRAIN, ledger.settled()).await;
                    session.finish_calls().await;
                }
                failed_sessions = if link.was_alive() { 0 } else { failed_sessions + 1 };
                ensure!(
                    failed_sessions < MAX_FAILED_SESSIONS,
                    "every session ends as soon as it is opened"
                );
                link.end(session).await;
                for refusal in ledger.abandon() {
                    writer.send(&refusal).await;
                }
                session = Session::open(context, loaded, agent).await?;
                link = Link::begin(&mut session, &reader, &writer, &ledger);
                for message in ledger.replay() {
                    link.forward(&message).await;
                }
                for notice in ledger.notices() {
                    writer.send(&notice).await;
                }
            }
        }
    }
    link.end(session).await;
    Ok(())
}

enum Event {
    Message(Option<Bytes>),
    Lost,
    Handover,
    Done,
    /// The process is asked to end.
    Stop,
    /// Nothing reads the answers any more.
    Gone,
}

/// Both directions between the client and one session.
struct Link {
    up: session::Writer,
    framing: Framing,
    ledger: Arc<Ledger>,
    down: tokio::task::JoinHandle<()>,
    broken: CancellationToken,
    received: Arc<AtomicBool>,
    begun: Instant,
}

impl Link {
    fn begin<R, W>(
        session: &mut Session,
        reader: &MessageReader<R>,
        writer: &Arc<MessageWriter<W>>,
        ledger: &Arc<Ledger>,
    ) -> Self
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (read, up) = session.take();
        let framing = reader.framing();
        let broken = CancellationToken::new();
        let received = Arc::new(AtomicBool::new(false));
        let down = tokio::spawn(relay_answers(
            FrameReader::of(read, framing),
            Arc::clone(writer),
            Arc::clone(ledger),
            broken.clone(),
            Arc::clone(&received),
        ));
        let ledger = Arc::clone(ledger);
        Self { up, framing, ledger, down, broken, received, begun: Instant::now() }
    }

    /// Forwards a message of the client, and remembers its request.
    async fn forward_request(&mut self, message: &Bytes) {
        self.ledger.record_request(message);
        self.forward(message).await;
    }

    /// Forwards a message without remembering it.
    async fn forward(&mut self, message: &Bytes) {
        if session::write(&mut self.up, &self.framing.encode(message)).await.is_err() {
            self.broken.cancel();
        }
    }

    /// Returns when the session is over.
    async fn lost(&self) {
        self.broken.cancelled().await;
    }

    /// Whether the session has sent a message, or lasted for a while.
    fn was_alive(&self) -> bool {
        self.received.load(Ordering::Relaxed) || self.begun.elapsed() > ALIVE
    }

    /// Ends the session at once, without its last messages.
    async fn abandon(self, session: Session) {
        self.down.abort();
        drop(self.up);
        session.close().await;
    }

    /// Ends the session; its messages until then still reach the client.
    async fn end(self, session: Session) {
        drop(self.up);
        session.close().await;
        let mut down = self.down;
        if tokio::time::timeout(FLUSH_TIMEOUT, &mut down).await.is_err() {
            down.abort();
        }
    }
}

async fn relay_answers<W: AsyncWrite + Send + Unpin>(
    mut read: FrameReader<session::Reader>,
    writer: Arc<MessageWriter<W>>,
    ledger: Arc<Ledger>,
    broken: CancellationToken,
    received: Arc<AtomicBool>,
) {
    let _broken_when_done = broken.drop_guard();
    while let Ok(Some(message)) = read.next().await {
        received.store(true, Ordering::Relaxed);
        if Ledger::concerns_client(&message) {
            writer.send(&message).await;
        }
        ledger.record_answer(&message);
    }
}
