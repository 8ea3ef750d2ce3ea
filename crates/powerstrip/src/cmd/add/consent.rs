//! Asks before a server that a registry describes is added: others wrote what will be run, sent and set.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Write as _};

use config::client_files::Imported;
use gateway::install::private_address;
use operations::install::NewServer;
use recipes::Plan;

use super::Add;
use crate::exit::Usage;

impl Add {
    /// Shows the whole entry and asks. Nothing has been written or stored before.
    pub(super) async fn ask(
        &self,
        listed: &str,
        new: &NewServer,
        plan: &Plan,
        imported: &Imported,
        stored: &BTreeSet<String>,
    ) -> anyhow::Result<()> {
        terminal::note(format_args!("The registry describes `{listed}` so:"));
        for line in plan.recipe.preview(&recipes::own_names(new)) {
            terminal::note(format_args!("  {line}"));
        }
        for secret in imported.needed.keys().filter(|secret| stored.contains(*secret)) {
            terminal::note(format_args!(
                "  it receives the secret {secret}, which is in the vault"
            ));
        }
        if let Some(address) = private_address(plan).await.filter(|_| !self.allow_private) {
            let usage = format!("its URL leads to {address}; add --allow-private if it is yours");
            return Err(Usage(usage).into());
        }
        if self.yes {
            return Ok(());
        }
        if !io::stdin().is_terminal() {
            let usage = "a server of a registry is added only with your consent: repeat with --yes";
            return Err(Usage(usage.to_owned()).into());
        }
        write!(io::stderr(), "Add it? [y/N] ")?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        if matches!(answer.trim(), "y" | "Y" | "yes") {
            return Ok(());
        }
        anyhow::bail!("nothing was added")
    }
}
