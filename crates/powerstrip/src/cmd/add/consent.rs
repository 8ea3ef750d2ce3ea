//! Asks before a server that a registry describes is added: others wrote what will be run, sent and set.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use config::client_files::Imported;
use recipes::Recipe;
use recipes::mcp_registry::find_private_address;
use serde_json::Value;

use super::Add;
use crate::exit::Usage;

/// How long the host of a URL may take to be resolved.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(3);

impl Add {
    /// Shows the whole entry and asks. Nothing has been written or stored before.
    pub(super) async fn ask(
        &self,
        listed: &str,
        recipe: &Recipe,
        imported: &Imported,
        stored: &BTreeSet<String>,
    ) -> anyhow::Result<()> {
        terminal::note(format_args!("The registry describes `{listed}` so:"));
        for line in recipe.preview(&self.own_names()) {
            terminal::note(format_args!("  {line}"));
        }
        for secret in imported.needed.keys().filter(|secret| stored.contains(*secret)) {
            terminal::note(format_args!(
                "  it receives the secret {secret}, which is in the vault"
            ));
        }
        if let Some(url) = recipe.entry.get("url").and_then(Value::as_str) {
            self.check_address(url).await?;
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

    /// The variables and headers that the user gave.
    fn own_names(&self) -> BTreeSet<String> {
        let variables = self.env.iter().filter_map(|text| text.split('=').next());
        let headers = self.headers.iter().filter_map(|text| text.split(':').next());
        variables.chain(headers).map(|name| name.trim().to_owned()).collect()
    }

    /// Refuses a name that leads to a private address. A name that cannot be resolved now is reported by the gateway.
    async fn check_address(&self, url: &str) -> Result<(), Usage> {
        if self.allow_private {
            return Ok(());
        }
        let found = tokio::time::timeout(RESOLVE_TIMEOUT, find_private_address(url)).await;
        match found {
            Ok(Ok(Some(address))) => Err(Usage(format!(
                "`{url}` leads to {address}; add --allow-private if it is yours"
            ))),
            _ => Ok(()),
        }
    }
}
