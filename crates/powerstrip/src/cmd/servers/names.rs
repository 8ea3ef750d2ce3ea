//! `servers names`, `servers release`: the holders of the names of registered servers, and releasing a name.

use clap::Args;
use operations::NoInput;
use upstream::operations::{HeldName, ListNames, ReleaseInput, ReleaseName};

use crate::access::Access;
use terminal::{Style, shown};

#[derive(Debug, Args)]
pub(super) struct Release {
    /// The server's name.
    name: String,
}

impl Release {
    pub(super) async fn run(self, access: &Access, as_json: bool) -> anyhow::Result<()> {
        let released = access.run::<ReleaseName>(&ReleaseInput { name: self.name }).await?;
        if as_json {
            return Ok(terminal::record(&released)?);
        }
        Ok(terminal::line(format_args!(
            "released: {} belonged to {}, and goes to the first token that registers it",
            shown(&released.name),
            shown(&released.owner)
        ))?)
    }
}

/// Lists all names and their holders.
pub(super) async fn run(access: &Access, style: Style, as_json: bool) -> anyhow::Result<()> {
    let names = access.run::<ListNames>(&NoInput {}).await?;
    if as_json { Ok(terminal::record(&names)?) } else { list(&names, style) }
}

/// Lists the names that are held but have no server.
pub(super) fn list_unused(names: &[HeldName]) -> anyhow::Result<()> {
    for HeldName { name, owner, tenant, .. } in names.iter().filter(|held| !held.served) {
        terminal::line(format_args!("{name}  held by {owner} of {tenant}, not registered now"))?;
    }
    Ok(())
}

fn list(names: &[HeldName], style: Style) -> anyhow::Result<()> {
    if names.is_empty() {
        terminal::line("no name is held: no server has registered itself")?;
    }
    let width = names.iter().map(|held| held.name.chars().count()).max().unwrap_or(0);
    for HeldName { name, owner, tenant, served } in names {
        let now = if *served { "registered now" } else { "not registered now" };
        let name = style.bold(format_args!("{name:width$}"));
        terminal::line(format_args!("{name}  held by {owner} of {tenant}, {now}"))?;
    }
    Ok(())
}
