//! What a running gateway makes of a changed config file.

use std::collections::BTreeMap;
use std::time::Duration;

use config::Loaded;
use gateway::server_operations::{EnableServer, ListServers};
use operations::NoInput;
use operations::servers::{Cause, ServerName, causes, fix_missing_program};
use proto::clean;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::owner::OwnerProcess;
use terminal::Style;

/// How long servers may take to come up. A package that is downloaded first takes longer.
const WAIT: Duration = Duration::from_secs(10);

const POLL: Duration = Duration::from_millis(100);

/// The state that a server should reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Up,
    Disabled,
    Gone,
}

/// The state of a server, in the words of the gateway, and its last error.
#[derive(Clone, Debug, Default)]
struct Seen {
    state: String,
    error: Option<String>,
    tools: u64,
}

/// The states of the changed servers.
pub(crate) enum Outcome {
    /// No gateway runs on this data folder.
    NotRunning,
    Servers(Vec<(String, Expected, Option<Value>)>),
}

/// Makes a gateway that runs on the data folder apply the config file, so that the states which it then lists are those
/// of the new entries, not of those that were replaced.
pub(crate) async fn apply_replaced(loaded: &Loaded, replaced: &[String]) {
    let folder = &loaded.config.data_dir;
    let Some(name) = replaced.first().cloned().filter(|_| folder.exists()) else { return };
    if let Some(owner) = OwnerProcess::find(folder).await {
        // It applies the whole file. If it refuses, its servers are waited for all the same.
        let _ = owner.run::<EnableServer>(&ServerName { name }).await;
    }
}

/// Waits until the gateway that runs on the data folder, if any, has taken up the change.
pub(crate) async fn wait(loaded: &Loaded, expected: &[(String, Expected)]) -> Outcome {
    let folder = &loaded.config.data_dir;
    let owner = if folder.exists() { OwnerProcess::find(folder).await } else { None };
    let Some(owner) = owner else { return Outcome::NotRunning };
    let deadline = Instant::now() + WAIT;
    loop {
        let seen = list(&owner).await;
        let settled = |(name, expected): &(String, Expected)| is_settled(seen.get(name), *expected);
        if expected.iter().all(settled) || Instant::now() > deadline {
            let rows = expected.iter().map(|(name, expected)| {
                let seen = seen.get(name).map(Seen::describe);
                (name.clone(), *expected, seen)
            });
            return Outcome::Servers(rows.collect());
        }
        tokio::time::sleep(POLL).await;
    }
}

async fn list(owner: &OwnerProcess) -> BTreeMap<String, Seen> {
    let Ok(list) = owner.run::<ListServers>(&NoInput {}).await else { return BTreeMap::new() };
    let list = json!(list);
    let rows = list["servers"].as_array().cloned().unwrap_or_default();
    let row = |row: &Value| {
        let text = |key: &str| row[key].as_str().map(clean::line);
        let seen = Seen {
            state: text("state").unwrap_or_default(),
            error: text("reason").or_else(|| text("last_error")).or_else(|| text("lastError")),
            tools: row["tools"].as_u64().unwrap_or_default(),
        };
        Some((row["name"].as_str()?.to_owned(), seen))
    };
    rows.iter().filter_map(row).collect()
}

fn is_settled(seen: Option<&Seen>, expected: Expected) -> bool {
    match (seen, expected) {
        (None, expected) => expected == Expected::Gone,
        (Some(seen), Expected::Disabled) => seen.state == "disabled",
        (Some(seen), Expected::Up) => match seen.state.as_str() {
            "starting" | "disabled" => false,
            // The tools are listed shortly after the server is ready.
            "ready" => seen.tools > 0,
            // The error says why, and comes a little later than the state.
            "down" | "degraded" => seen.error.is_some(),
            _ => true,
        },
        (Some(_), Expected::Gone) => false,
    }
}

impl Seen {
    fn describe(&self) -> Value {
        // The last error of a server that works is that of an earlier start, or of the entry before.
        let works = ["ready", "starting", "stopped", "disabled"].contains(&self.state.as_str());
        let error = self.error.as_ref().filter(|_| !works);
        json!({"state": self.state, "error": error, "tools": self.tools})
    }
}

/// Prints what became of the servers.
pub(crate) fn report(outcome: &Outcome, style: Style) -> std::io::Result<()> {
    let rows = match outcome {
        Outcome::NotRunning => {
            return terminal::line("start the gateway with `powerstrip serve`");
        }
        Outcome::Servers(rows) => rows,
    };
    for (name, expected, seen) in rows {
        let name = style.bold(name);
        let Some(seen) = seen else {
            let text = match expected {
                Expected::Gone => "stopped".to_owned(),
                _ => style.doubtful(
                    "the running gateway has not taken it up; does it use this config file?",
                ),
            };
            terminal::line(format_args!("{name}  {text}"))?;
            continue;
        };
        let state = seen["state"].as_str().unwrap_or_default();
        let shown = match state {
            "ready" => style.good(format_args!("ready, {}", count_tools(&seen["tools"]))),
            "disabled" => "disabled".to_owned(),
            "starting" => "still starting; see `powerstrip servers`".to_owned(),
            state => {
                let error = seen["error"].as_str().unwrap_or("no error is known yet");
                style.bad(format_args!("{state}: {error}"))
            }
        };
        terminal::line(format_args!("{name}  {shown}"))?;
        if let Some(fix) = seen["error"].as_str().and_then(fix_missing_program) {
            terminal::line(fix)?;
        }
    }
    Ok(())
}

fn count_tools(tools: &Value) -> String {
    match tools.as_u64() {
        Some(1) => "1 tool".to_owned(),
        _ => format!("{tools} tools"),
    }
}

/// What the running gateway, if any, says about servers that it has already and that cannot be used: their names, why,
/// and what to do.
pub(crate) async fn broken_servers(loaded: &Loaded, names: &[String]) -> Vec<Cause> {
    let folder = &loaded.config.data_dir;
    if names.is_empty() || !folder.exists() {
        return Vec::new();
    }
    let Some(owner) = OwnerProcess::find(folder).await else { return Vec::new() };
    let Ok(mut listed) = owner.run::<ListServers>(&NoInput {}).await else { return Vec::new() };
    listed.servers.retain(|server| names.contains(&server.name));
    causes(&listed.servers)
}

impl Outcome {
    /// Whether a gateway runs on the data folder.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self, Self::Servers(_))
    }

    /// The outcome for programs: the state of each server, null where no gateway runs.
    pub(crate) fn json(&self) -> Value {
        match self {
            Self::NotRunning => Value::Null,
            Self::Servers(rows) => {
                rows.iter().map(|(name, _, seen)| (name.clone(), json!(seen))).collect()
            }
        }
    }
}
