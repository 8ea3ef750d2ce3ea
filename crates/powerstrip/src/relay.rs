//! `stdio`: a pipe between a client and whoever holds the strip, that knows where messages begin and end. If the
//! strip moves to another process, the client notices nothing but, at worst, an error that says to try again.

mod bridge;
mod frame;
mod ledger;
mod line;
mod session;
mod sse;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::cmd::Context;
use crate::config::Loaded;

pub(crate) use bridge::bridge;
use frame::FrameReader;
use ledger::Ledger;
pub(crate) use line::Line;
use line::Mouth;
use session::Session;

/// How long calls under way may take to finish before the strip is handed over.
const DRAIN: Duration = Duration::from_secs(10);

/// Relays until the client closes its end or the process is told to stop.
pub(crate) async fn run<R, W>(
    line: Line<R, W>,
    context: &Context,
    loaded: &Loaded,
    shutdown: CancellationToken,
) -> anyhow::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let Line { mut ear, mouth } = line;
    let ledger = Arc::new(Ledger::default());
    let (mut session, first) =
        tokio::try_join!(Session::open(context, loaded), async { Ok(ear.next(&mouth).await) })?;
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
                link.end();
                session.close().await;
                for refusal in ledger.abandon() {
                    mouth.say(&refusal).await;
                }
                session = Session::open(context, loaded).await?;
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
    link.end();
    session.close().await;
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
        let down = tokio::spawn(pass_down(
            FrameReader::of(read, framing),
            Arc::clone(mouth),
            Arc::clone(ledger),
            broken.clone(),
        ));
        Self { up, framing, ledger: Arc::clone(ledger), down, broken }
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

    fn end(&self) {
        self.down.abort();
    }
}

async fn pass_down<W: AsyncWrite + Send + Unpin>(
    mut read: FrameReader<session::Reader>,
    mouth: Arc<Mouth<W>>,
    ledger: Arc<Ledger>,
    broken: CancellationToken,
) {
    let _broken_when_done = broken.drop_guard();
    while let Ok(Some(message)) = read.next().await {
        if ledger.answered(&message) {
            mouth.say(&message).await;
        }
    }
}
