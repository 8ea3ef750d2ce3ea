//! The load: the same requests over the same number of kept-alive connections, in rounds that alternate between two
//! servers, so that other load on the machine affects both.

mod connection;
mod front;
mod request;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use tokio::task::JoinSet;

use crate::stats::{median, percentile};

pub(crate) use connection::Connection;
pub(crate) use front::{Era, Front};
pub(crate) use request::Request;

/// The number of the last input that was sent; every distinct input of this process has its own.
static LAST_INPUT: AtomicU64 = AtomicU64::new(0);

/// How long one round lasts: short enough that the machine is the same for both sides.
const ROUND: Duration = Duration::from_millis(500);

/// The fewest rounds of a side.
const FEWEST_ROUNDS: u32 = 4;

/// Whether a server sees each input once or again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inputs {
    Distinct,
    Equal,
}

impl Inputs {
    /// The number of the next input.
    pub(crate) fn next(self) -> u64 {
        match self {
            Inputs::Distinct => LAST_INPUT.fetch_add(1, Ordering::Relaxed) + 1,
            Inputs::Equal => 0,
        }
    }
}

/// How a side's time under load is divided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    rounds: u32,
    round: Duration,
    /// The time before the first round, which is not counted.
    warm_up: Duration,
}

impl Plan {
    /// A plan that loads each side for this long.
    pub(crate) fn lasting(time: Duration) -> Self {
        let rounds = (time.as_secs_f64() / ROUND.as_secs_f64()).round() as u32;
        let rounds = rounds.max(FEWEST_ROUNDS);
        let round = time / rounds;
        Self { rounds, round, warm_up: round.min(ROUND) }
    }

    /// The same plan, or a longer one for slow calls.
    pub(crate) fn at_least(self, time: Duration) -> Self {
        if self.round * self.rounds < time { Self::lasting(time) } else { self }
    }
}

/// One server under load, with its connections.
pub(crate) struct Client {
    callers: Vec<Caller>,
}

/// One connection, and the requests that take turns on it.
struct Caller {
    connection: Connection,
    requests: Vec<Request>,
    next: usize,
}

/// The measurements of one side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) calls_per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
}

/// The result of loading two sides in turns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    pub(crate) ours: Figures,
    pub(crate) base: Figures,
    /// Our calls per second relative to the base: the median over the pairs of rounds.
    pub(crate) ratio: f64,
    /// The added latency of our calls: again the median over the pairs.
    pub(crate) added_p50_ms: f64,
    pub(crate) added_p99_ms: f64,
}

#[derive(Debug, Default)]
struct Round {
    elapsed: Duration,
    latencies_ms: Vec<f64>,
}

impl Round {
    fn calls_per_second(&self) -> f64 {
        self.latencies_ms.len() as f64 / self.elapsed.as_secs_f64()
    }

    fn percentile(&mut self, percent: f64) -> f64 {
        percentile(&mut self.latencies_ms, percent)
    }
}

impl Client {
    /// Opens the connections.
    pub(crate) async fn connect(
        address: SocketAddr,
        request: Request,
        connections: usize,
    ) -> anyhow::Result<Self> {
        let mut callers = Vec::with_capacity(connections);
        for _ in 0..connections {
            let connection = Connection::open(address).await?;
            callers.push(Caller { connection, requests: vec![request.clone()], next: 0 });
        }
        Ok(Self { callers })
    }

    /// Opens the connections to an MCP server, and in the era of sessions as many of these, dealt out evenly.
    pub(crate) async fn greet(
        front: &Front,
        era: Era,
        connections: usize,
        sessions: usize,
    ) -> anyhow::Result<Self> {
        let mut callers = Vec::with_capacity(connections);
        for index in 0..connections {
            let mut connection = Connection::open(front.address).await?;
            let mut requests = Vec::new();
            for _ in (index..sessions.max(connections)).step_by(connections) {
                requests.push(front.call(era, &mut connection).await?);
            }
            callers.push(Caller { connection, requests, next: 0 });
        }
        Ok(Self { callers })
    }

    /// Lets every connection call once.
    pub(crate) async fn call_once(&mut self) -> anyhow::Result<()> {
        self.round(Duration::ZERO, Inputs::Distinct).await.map(drop)
    }

    /// Has every connection call for this long.
    pub(crate) async fn call_for(&mut self, time: Duration, inputs: Inputs) -> anyhow::Result<()> {
        self.round(time, inputs).await.map(drop)
    }

    async fn round(&mut self, time: Duration, inputs: Inputs) -> anyhow::Result<Round> {
        let mut calling = JoinSet::new();
        let start = Instant::now();
        for caller in self.callers.drain(..) {
            calling.spawn(call_until(caller, start + time, inputs));
        }
        let mut latencies_ms = Vec::new();
        while let Some(ended) = calling.join_next().await {
            let (caller, latencies) = ended.context("a caller of the load was lost")??;
            self.callers.push(caller);
            latencies_ms.extend(latencies);
        }
        Ok(Round { elapsed: start.elapsed(), latencies_ms })
    }
}

async fn call_until(
    mut caller: Caller,
    end: Instant,
    inputs: Inputs,
) -> anyhow::Result<(Caller, Vec<f64>)> {
    let mut latencies = Vec::new();
    let mut offset = 0;
    loop {
        let request = &mut caller.requests[caller.next];
        request.number(inputs.next());
        let begun = Instant::now();
        let answer = caller.connection.ask(request.bytes()).await?;
        let ended = Instant::now();
        // Answers have the same shape each time, so the echo is first looked for at the last offset.
        match request.echo_in(answer.body, offset) {
            Some(found) if answer.status == 200 => offset = found,
            _ => bail!("a call went wrong: {answer}"),
        }
        latencies.push((ended - begun).as_secs_f64() * 1_000.0);
        caller.next = (caller.next + 1) % caller.requests.len();
        if ended >= end {
            return Ok((caller, latencies));
        }
    }
}

/// Loads two servers in turns.
pub(crate) async fn compare(
    ours: &mut Client,
    base: &mut Client,
    plan: Plan,
    inputs: Inputs,
) -> anyhow::Result<Comparison> {
    ours.round(plan.warm_up, inputs).await?;
    base.round(plan.warm_up, inputs).await?;
    let mut pairs = Vec::new();
    for _ in 0..plan.rounds {
        let first = ours.round(plan.round, inputs).await?;
        let second = base.round(plan.round, inputs).await?;
        pairs.push((first, second));
    }
    Ok(Comparison::between(pairs))
}

impl Comparison {
    fn between(mut pairs: Vec<(Round, Round)>) -> Self {
        let mut over_pairs = |compare: &dyn Fn(&mut Round, &mut Round) -> f64| {
            let mut all: Vec<_> =
                pairs.iter_mut().map(|(ours, base)| compare(ours, base)).collect();
            median(&mut all)
        };
        let ratio = over_pairs(&|ours, base| ours.calls_per_second() / base.calls_per_second());
        let added_p50_ms = over_pairs(&|ours, base| ours.percentile(50.0) - base.percentile(50.0));
        let added_p99_ms = over_pairs(&|ours, base| ours.percentile(99.0) - base.percentile(99.0));
        let (ours, base): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let (ours, base) = (Figures::over(ours), Figures::over(base));
        Self { ours, base, ratio, added_p50_ms, added_p99_ms }
    }
}

impl Figures {
    fn over(rounds: Vec<Round>) -> Self {
        let mut all = Round::default();
        for round in rounds {
            all.elapsed += round.elapsed;
            all.latencies_ms.extend(round.latencies_ms);
        }
        let calls_per_second = all.calls_per_second();
        Self { calls_per_second, p50_ms: all.percentile(50.0), p99_ms: all.percentile(99.0) }
    }
}

#[cfg(test)]
mod tests;
