//! `stdio`: a pipe between a client and whoever holds the strip, that knows where messages begin and end. If the
//! strip moves to another process, the client notices nothing but, at worst, an error that says to try again.

mod bridge;
mod frame;
mod ledger;
mod line;
mod session;
mod sse;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use bytes::Bytes;
use config::Loaded;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::context::Context;

pub(crate) use bridge::bridge;
use frame::FrameReader;
use ledger::Ledger;
pub(crate) use line::Line;
use line::Mouth;
use session::Session;

/// How long calls under way may take to finish before the strip is handed over.
const DRAIN: Duration = Duration::from_secs(10);

/// How long the last messages of a session may take to reach the client.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A session that has lasted this long was a session, even if nobody said anything.
const ALIVE: Duration = Duration::from_secs(1);

/// So many sessions in a row that end at once are no accident.
const MAX_DEAF: u32 = 5;

/// Relays until the client closes its end or the process is told to stop.
pub(crate) async fn run<R, W>(
    line: Line<R, W>,
    context: &Arc<Context>,
    loaded: &Loaded,
    agent: Option<&str>,
    shutdown: CancellationToken,
) -> anyhow::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let Line { mut ear, mouth } = line;
    let ledger = Arc::new(Ledger::default());
    let (mut session, first) = tokio::try_join!(Session::open(context, loaded, agent), async {
        Ok(ear.next(&mouth).await)
    })?;
    let mut deaf = 0;
    let mut link = Link::begin(&mut session, &ear, &mouth, &ledger);
    let mut open = match first {
        Some(message) => {
            link.pass(&message).await;
            true
        }
        None => false,
    };
    loop {
        let event = tokio::select! {
            message = ear.next(&mouth), if open => Event::Said(message),
            () = link.lost() => Event::Lost,
            () = session.wanted() => Event::Wanted,
            () = ledger.settled(), if !open => Event::Done,
            () = shutdown.cancelled() => Event::Done,
        };
        match event {
            Event::Said(Some(message)) => link.pass(&message).await,
            Event::Said(None) => open = false,
            Event::Done => break,
            Event::Wanted | Event::Lost => {
                if let Event::Wanted = event {
                    tracing::info!("handing the data folder over");
                    let _ = tokio::time::timeout(DRAIN, ledger.settled()).await;
                }
                deaf = if link.was_alive() { 0 } else { deaf + 1 };
                ensure!(deaf < MAX_DEAF, "every session ends as soon as it is opened");
                link.end(session).await;
                for refusal in ledger.abandon() {
                    mouth.say(&refusal).await;
                }
                session = Session::open(context, loaded, agent).await?;
                link = Link::begin(&mut session, &ear, &mouth, &ledger);
                for message in ledger.replay() {
                    link.pass_unseen(&message).await;
                }
                for notice in ledger.notices() {
                    mouth.say(&notice).await;
                }
            }
        }
    }
    link.end(session).await;
    Ok(())
}

enum Event {
    Said(Option<Bytes>),
    Lost,
    Wanted,
    Done,
}

/// Both directions between the client and one session.
struct Link {
    up: session::Writer,
    framing: frame::Framing,
    ledger: Arc<Ledger>,
    down: tokio::task::JoinHandle<()>,
    broken: CancellationToken,
    heard: Arc<AtomicBool>,
    begun: Instant,
}

impl Link {
    fn begin<R, W>(
        session: &mut Session,
        ear: &line::Hearing<R>,
        mouth: &Arc<Mouth<W>>,
        ledger: &Arc<Ledger>,
    ) -> Self
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (read, up) = session.take();
        let framing = ear.framing();
        let broken = CancellationToken::new();
        let heard = Arc::new(AtomicBool::new(false));
        let down = tokio::spawn(pass_down(
            FrameReader::of(read, framing),
            Arc::clone(mouth),
            Arc::clone(ledger),
            broken.clone(),
            Arc::clone(&heard),
        ));
        let ledger = Arc::clone(ledger);
        Self { up, framing, ledger, down, broken, heard, begun: Instant::now() }
    }

    /// Passes a message of the client on.
    async fn pass(&mut self, message: &Bytes) {
        self.ledger.asked(message);
        self.pass_unseen(message).await;
    }

    /// Passes a message on that is not the client's own.
    async fn pass_unseen(&mut self, message: &Bytes) {
        if session::write(&mut self.up, &self.framing.encode(message)).await.is_err() {
            self.broken.cancel();
        }
    }

    /// Returns when the session is over.
    async fn lost(&self) {
        self.broken.cancelled().await;
    }

    /// Whether the session has said anything, or had been quiet for long without ending.
    fn was_alive(&self) -> bool {
        self.heard.load(Ordering::Relaxed) || self.begun.elapsed() > ALIVE
    }

    /// Ends the session; what it has said until then still reaches the client, message by message.
    async fn end(self, session: Session) {
        drop(self.up);
        session.close().await;
        let mut down = self.down;
        if tokio::time::timeout(LAST_WORDS, &mut down).await.is_err() {
            down.abort();
        }
    }
}

async fn pass_down<W: AsyncWrite + Send + Unpin>(
    mut read: FrameReader<session::Reader>,
    mouth: Arc<Mouth<W>>,
    ledger: Arc<Ledger>,
    broken: CancellationToken,
    heard: Arc<AtomicBool>,
) {
    let _broken_when_done = broken.drop_guard();
    while let Ok(Some(message)) = read.next().await {
        heard.store(true, Ordering::Relaxed);
        if Ledger::concerns_client(&message) {
            mouth.say(&message).await;
        }
        ledger.answered(&message);
    }
}
