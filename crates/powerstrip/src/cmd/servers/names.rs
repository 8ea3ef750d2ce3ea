//! `servers names`, `servers release`: whose the names of registered servers are, and making one nobody's.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::access::Access;
use crate::context::Context;
use crate::gateway::{NAMES, RELEASE};
use crate::output::{self, Style};

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List the names of servers that registered themselves, and whose each is
    Names,
    /// Make a name nobody's: its server is taken out, and whoever registers first has the name
    Release(Release),
}

#[derive(Debug, Args)]
pub(crate) struct Release {
    /// The server's name.
    name: String,
}

/// A name that is somebody's.
#[derive(Deserialize, Serialize)]
pub(super) struct Held {
    name: String,
    tenant: String,
    owner: String,
    /// Whether a server stands under it now.
    served: bool,
}

impl Action {
    pub(super) async fn run(self, access: &Access, context: &Context) -> anyhow::Result<ExitCode> {
        match self {
            Self::Names => {
                let held = held(access).await?;
                if context.global.json {
                    output::json(&held)?;
                } else {
                    list(&held, Style::stdout(&context.environment))?;
                }
            }
            Self::Release(Release { name }) => {
                let released = access.operate(RELEASE, json!({"name": name})).await?;
                if context.global.json {
                    output::json(&released)?;
                } else {
                    let owner = released["owner"].as_str().unwrap_or("nobody");
                    output::line(format_args!(
                        "released: {name} belonged to {owner}, and goes to whoever registers it first"
                    ))?;
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Every name that is somebody's.
pub(super) async fn held(access: &Access) -> anyhow::Result<Vec<Held>> {
    Ok(serde_json::from_value(access.operate(NAMES, json!({})).await?)?)
}

/// Names that are somebody's though no server stands under them.
pub(super) fn list_unused(held: &[Held]) -> anyhow::Result<()> {
    for Held { name, owner, tenant, .. } in held.iter().filter(|held| !held.served) {
        output::line(format_args!("{name}  held by {owner} of {tenant}, not registered now"))?;
    }
    Ok(())
}

fn list(held: &[Held], style: Style) -> anyhow::Result<()> {
    if held.is_empty() {
        output::line("no name is held: no server has registered itself")?;
    }
    let width = held.iter().map(|held| held.name.chars().count()).max().unwrap_or(0);
    for Held { name, owner, tenant, served } in held {
        let now = if *served { "registered now" } else { "not registered now" };
        let name = style.bold(format_args!("{name:width$}")).to_string();
        output::line(format_args!("{name}  held by {owner} of {tenant}, {now}"))?;
    }
    Ok(())
}
