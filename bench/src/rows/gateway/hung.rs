//! One server hangs while it is being called: does that slow down calls of another?

use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use tokio::task::JoinSet;

use super::calls::compare_fronts;
use super::setup::{CONNECTIONS, answering, gateway, upstream};
use crate::cli::GatewayRun;
use crate::gateway::Home;
use crate::load::{Connection, Era, Front};
use crate::rows::report::{comparison_row, say};
use crate::table::{Row, Target};

/// The pause of a caller after a failed call, so that refusals make no load.
const PAUSE: Duration = Duration::from_millis(250);

const SHARE: Target = Target::AtLeast(0.95);

pub(super) async fn measure(
    run: &GatewayRun,
    binary: &Path,
    rows: &mut Vec<Row>,
) -> anyhow::Result<()> {
    let (troubled, calm) = (Home::new()?, Home::new()?);
    let up = upstream(&troubled, "up", &[]).await?;
    let hung = upstream(&troubled, "hung", &["--hang"]).await?;
    let well = upstream(&calm, "well", &[]).await?;
    let (ours, front) = gateway(binary, &troubled, &[("up", &up), ("hung", &hung)]).await?;
    let (base, calm_front) = gateway(binary, &calm, &[("up", &up), ("well", &well)]).await?;
    // The other server must answer before the comparison starts.
    answering(&Front::new(base.address(), "well__echo"), Era::Modern).await?;

    let name = format!(
        "`tools/call` of {}, {CONNECTIONS} connections, with {CONNECTIONS} callers of a hung server",
        Era::Modern
    );
    say(&name);
    let mut waiting = JoinSet::new();
    for _ in 0..CONNECTIONS {
        waiting.spawn(keep_calling(Front::new(ours.address(), "hung__echo")));
    }
    let comparison = tokio::select! {
        comparison = compare_fronts(run, Era::Modern, &front, &calm_front, CONNECTIONS) => comparison?,
        Some(ended) = waiting.join_next() => ended??,
    };
    rows.push(comparison_row(name, &comparison, "one hangs", "all are well").target(SHARE));
    waiting.shutdown().await;
    ours.stop().await?;
    base.stop().await?;
    for server in [up, hung, well] {
        server.stop().await?;
    }
    Ok(())
}

/// Calls a server that never answers, again and again; ends only if something is wrong with that.
async fn keep_calling<Never>(front: Front) -> anyhow::Result<Never> {
    let mut connection = Connection::open(front.address).await?;
    let request = front.call(Era::Modern, &mut connection).await?;
    loop {
        let answer = connection.ask(request.bytes()).await?;
        ensure!(request.echo_in(answer.body, 0).is_none(), "the hung server answers: {answer}");
        let text = String::from_utf8_lossy(answer.body);
        ensure!(
            ["TIMEOUT", "UNAVAILABLE"].iter().any(|code| text.contains(code)),
            "a call of a hung server ended oddly: {answer}"
        );
        tokio::time::sleep(PAUSE).await;
    }
}
