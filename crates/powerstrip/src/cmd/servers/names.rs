//! `servers names`, `servers release`: the holders of the names of registered servers, and releasing a name.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use operations::NoInput;
use upstream::operations::{HeldName, ListNames, ReleaseInput, ReleaseName};

use crate::access::Access;
use crate::context::Context;
use crate::output::{self, Style};

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List the names of servers that registered themselves, and their holders
    Names,
    /// Release a name: its server is removed, and the first token to register the name holds it
    Release(Release),
}

#[derive(Debug, Args)]
pub(crate) struct Release {
    /// The server's name.
    name: String,
}

impl Action {
    pub(super) async fn run(self, access: &Access, context: &Context) -> anyhow::Result<ExitCode> {
        match self {
            Self::Names => {
                let names = access.run::<ListNames>(&NoInput {}).await?;
                if context.global.json {
                    output::json(&names)?;
                } else {
                    list(&names, Style::stdout(&context.environment))?;
                }
            }
            Self::Release(Release { name }) => {
                let released = access.run::<ReleaseName>(&ReleaseInput { name }).await?;
                if context.global.json {
                    output::json(&released)?;
                } else {
                    output::line(format_args!(
                        "released: {} belonged to {}, and goes to the first token that registers it",
                        released.name, released.owner
                    ))?;
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Lists the names that are held but have no server.
pub(super) fn list_unused(names: &[HeldName]) -> anyhow::Result<()> {
    for HeldName { name, owner, tenant, .. } in names.iter().filter(|held| !held.served) {
        output::line(format_args!("{name}  held by {owner} of {tenant}, not registered now"))?;
    }
    Ok(())
}

fn list(names: &[HeldName], style: Style) -> anyhow::Result<()> {
    if names.is_empty() {
        output::line("no name is held: no server has registered itself")?;
    }
    let width = names.iter().map(|held| held.name.chars().count()).max().unwrap_or(0);
    for HeldName { name, owner, tenant, served } in names {
        let now = if *served { "registered now" } else { "not registered now" };
        let name = style.bold(format_args!("{name:width$}"));
        output::line(format_args!("{name}  held by {owner} of {tenant}, {now}"))?;
    }
    Ok(())
}
