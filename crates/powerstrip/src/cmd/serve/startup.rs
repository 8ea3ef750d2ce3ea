//! What a person at a terminal sees while the servers start: a line for each once it is up, or known to be down.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use gateway::Gateway;
use operations::servers::ServerState;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use upstream::Status;

use terminal::{Style, Tone, shown};

/// How often the servers are looked at.
const INTERVAL: Duration = Duration::from_millis(100);

/// How long servers that are still starting are waited for.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Prints how each server of the config starts, and then how many are ready.
pub(super) async fn report_servers(
    gateway: Arc<Gateway>,
    style: Style,
    shutdown: CancellationToken,
) {
    let began = Instant::now();
    let mut reported = HashSet::new();
    let count = gateway.server_statuses().len();
    if count > 0 {
        terminal::note(style.faint(format_args!("  starting {count} servers")));
    }
    while !shutdown.is_cancelled() {
        let statuses = gateway.server_statuses();
        let (starting, settled): (Vec<_>, Vec<_>) =
            statuses.iter().partition(|status| status.state == ServerState::Starting);
        for status in settled {
            if reported.insert(status.name.clone()) {
                terminal::note(describe(status, began.elapsed(), style));
            }
        }
        if starting.is_empty() {
            break;
        }
        if began.elapsed() > TIMEOUT {
            let names: Vec<_> = starting.iter().map(|status| shown(&status.name)).collect();
            let names = names.join(", ");
            terminal::note(format_args!("  {} {names}", style.doubtful("still starting:")));
            break;
        }
        tokio::time::sleep(INTERVAL).await;
    }
    let statuses = gateway.server_statuses();
    let ready = statuses.iter().filter(|status| status.state == ServerState::Ready).count();
    if !statuses.is_empty() {
        let advice = if ready < statuses.len() { "; `powerstrip servers` shows more" } else { "" };
        let text = format!("  {ready} of {} servers ready{advice}", statuses.len());
        terminal::note(style.faint(text));
    }
}

fn describe(status: &Status, after: Duration, style: Style) -> String {
    let state = status.state.as_str();
    let (state, tone) = (state.replace('_', " "), Tone::of_state(state));
    let detail = match (&status.last_error, status.state) {
        (Some(error), state) if state != ServerState::Ready => format!(": {}", shown(error)),
        _ => {
            let tools = if status.tools == 1 { "tool" } else { "tools" };
            format!(", {} {tools}, after {:.1}s", status.tools, after.as_secs_f32())
        }
    };
    format!("  {}  {}{detail}", style.bold(shown(&status.name)), style.paint(tone, state))
}
