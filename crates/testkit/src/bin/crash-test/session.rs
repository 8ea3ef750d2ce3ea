//! One data folder, its servers and clients, and a number of kills.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tempfile::TempDir;
use testkit::{ReservedPort, ServerProcess, sibling_program};
use tokio::process::Command;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::gateway::{Gateway, orphans_end};
use crate::ledger::Ledger;
use crate::rng::Rng;
use crate::spec::Spec;
use crate::steer::{Steered, World};
use crate::{approvals, database, questions};

/// How many workflows are under way at once.
const CLIENTS: u64 = 6;

/// How long the last gateway may take to finish all workflows.
const FINISH: Duration = Duration::from_secs(120);

pub(crate) struct Session {
    seed: u64,
    server: Option<String>,
}

pub(crate) struct Summary {
    pub(crate) workflows: u64,
    pub(crate) runs: u64,
    pub(crate) repeated: u64,
    pub(crate) quarantined: u64,
}

/// The workflows of a session.
struct Clients {
    world: World,
    steered: Mutex<Vec<Arc<Steered>>>,
    number: AtomicU64,
    /// Whether no more workflows are started.
    closing: AtomicBool,
}

impl Session {
    pub(crate) fn new(seed: u64, server: Option<&str>) -> Self {
        Self { seed, server: server.map(str::to_owned) }
    }

    /// Names one process of the gateway. The gateway takes it for a secret and removes it from what servers say, so it
    /// must not be a part of anything else, such as a date.
    fn generation(&self, number: u64) -> String {
        format!("generation-{}-{number}", self.seed)
    }

    fn database_name(&self) -> String {
        format!("crash_test_{}_{}", std::process::id(), self.seed)
    }

    /// Ends the connections to the database, on PostgreSQL.
    fn cut_connections(&self) -> Result<(), String> {
        let name = self.database_name();
        self.server.as_deref().map_or(Ok(()), |server| database::cut_connections(server, &name))
    }

    /// Runs the session. After a violation its folder is kept.
    pub(crate) async fn run(&self, kills: u64) -> Result<Summary, String> {
        let folder = TempDir::with_prefix("crash-test.").map_err(|error| error.to_string())?;
        let name = self.database_name();
        let url =
            self.server.as_deref().map(|server| database::create(server, &name)).transpose()?;
        match self.attempt(folder.path(), url.as_deref(), kills).await {
            Ok(summary) => {
                if let Some(server) = &self.server {
                    database::remove(server, &name)?;
                }
                Ok(summary)
            }
            Err(violation) => {
                let kept = folder.keep();
                Err(format!("{violation}\nlogs, ledger and database: {}", kept.display()))
            }
        }
    }

    async fn attempt(
        &self,
        folder: &Path,
        database_url: Option<&str>,
        kills: u64,
    ) -> Result<Summary, String> {
        let ledger = folder.join("ledger");
        let mut command = Command::new(sibling_program("powerstrip-ledger"));
        command.args(["--listen", "127.0.0.1:0"]).env("LEDGER", &ledger);
        let server = ServerProcess::start(&mut command).await;
        let port = ReservedPort::reserve();
        let config = config(&port.address(), &server.url, &ledger, database_url);
        std::fs::write(folder.join("powerstrip.yaml"), config)
            .map_err(|error| error.to_string())?;

        let clients = Arc::new(Clients {
            world: World {
                client: reqwest::Client::new(),
                url: format!("http://{}", port.address()),
                folder: folder.to_owned(),
                up: watch::Sender::new(false),
            },
            steered: Mutex::default(),
            number: AtomicU64::new(0),
            closing: AtomicBool::new(false),
        });
        let mut tasks = JoinSet::new();
        for client in 0..CLIENTS {
            tasks.spawn(Arc::clone(&clients).run(Rng::new(self.seed << 8 | client)));
        }
        let mut rng = Rng::new(self.seed);
        for kill in 0..kills {
            let generation = self.generation(kill);
            tokio::select! {
                killed = clients.kill_one(self, &generation, &mut rng) => killed?,
                // Clients end early only because of a violation.
                Some(ended) = tasks.join_next() => ended.map_err(|error| error.to_string())??,
            }
            clients.check(&ledger)?;
        }
        clients.closing.store(true, Ordering::Release);
        let mut gateway = Gateway::spawn(folder, &self.generation(kills))?;
        clients.open(&mut gateway).await?;
        let finish = async {
            while let Some(ended) = tasks.join_next().await {
                ended.map_err(|error| error.to_string())??;
            }
            Ok::<_, String>(())
        };
        timeout(FINISH, finish).await.map_err(|_| clients.stuck())??;
        for steered in clients.all() {
            steered.repeat(&clients.world).await?;
        }
        let ledger = clients.check(&ledger)?;
        for steered in clients.all() {
            ledger.check_end(&steered.spec, &steered.record())?;
        }
        gateway.stop().await?;
        database::check(folder, database_url)?;
        server.kill().await;
        let (runs, repeated) = ledger.counts();
        let all = clients.all();
        let quarantined = all.iter().map(|steered| steered.record().quarantined).sum();
        Ok(Summary { workflows: all.len() as u64, runs, repeated, quarantined })
    }
}

impl Clients {
    /// Runs workflows one after the other.
    async fn run(self: Arc<Self>, mut rng: Rng) -> Result<(), String> {
        while !self.closing.load(Ordering::Acquire) {
            let number = self.number.fetch_add(1, Ordering::Relaxed);
            let spec = Spec::random(format!("w{number}"), &mut rng);
            let steered = Arc::new(Steered::new(spec));
            self.steered.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&steered));
            steered.run(&self.world).await?;
        }
        Ok(())
    }

    fn all(&self) -> Vec<Arc<Steered>> {
        self.steered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Starts a gateway and kills it: mostly while it works, sometimes while it starts. Sometimes it loses its database
    /// before.
    async fn kill_one(
        &self,
        session: &Session,
        generation: &str,
        rng: &mut Rng,
    ) -> Result<(), String> {
        let mut gateway = Gateway::spawn(&self.world.folder, generation)?;
        if rng.percent(15) {
            sleep(Duration::from_millis(rng.between(1, 500))).await;
        } else {
            self.open(&mut gateway).await?;
            if rng.percent(30) {
                sleep(Duration::from_millis(rng.between(1, 200))).await;
                session.cut_connections()?;
            }
            let most = if rng.percent(50) { 150 } else { 900 };
            sleep(Duration::from_millis(rng.between(1, most))).await;
        }
        gateway.kill().await?;
        self.world.up.send_replace(false);
        orphans_end(generation).await
    }

    /// Waits for the gateway, and lets clients in.
    async fn open(&self, gateway: &mut Gateway) -> Result<(), String> {
        gateway.ready(&self.world.url).await?;
        let deadlines = approvals::deadlines(&self.world).await?;
        for steered in self.all() {
            approvals::compare(&mut steered.record(), &deadlines)?;
            let (id, open) = {
                let record = steered.record();
                (record.id.clone(), record.unanswered())
            };
            if let Some(id) = id.filter(|_| !open.is_empty()) {
                questions::compare(&self.world, &id, &open).await?;
            }
        }
        self.world.up.send_replace(true);
        Ok(())
    }

    fn check(&self, path: &Path) -> Result<Ledger, String> {
        let ledger = Ledger::read(path)?;
        for steered in self.all() {
            ledger.check(&steered.spec, &steered.record())?;
        }
        Ok(ledger)
    }

    /// The workflows that have not ended, for messages.
    fn stuck(&self) -> String {
        let all = self.all();
        let open = all.iter().filter(|steered| !steered.record().ended);
        let open = open.map(|steered| format!("{}: {}", steered.spec.name, steered.record().last));
        format!("workflows do not end:\n{}", open.collect::<Vec<_>>().join("\n"))
    }
}

fn config(address: &str, url: &str, ledger: &Path, database_url: Option<&str>) -> String {
    let program = sibling_program("powerstrip-ledger");
    let storage =
        database_url.map_or(String::new(), |url| format!("storage:\n  database: {url}\n"));
    format!(
        "listen: {address}
{storage}servers:
  ledger:
    url: {url}
    headers: {{ X-Generation: {{ env: GENERATION }} }}
  local:
    command: {program}
    env: {{ LEDGER: {ledger}, GENERATION: {{ env: GENERATION }} }}
skills:
  careful: {{ tools: [\"ledger:deploy\"], auto_approve: false }}
workflows:
  control_calls_per_minute: 100000
",
        program = program.display(),
        ledger = ledger.display()
    )
}
