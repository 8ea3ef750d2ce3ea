//! `secret prune`: removes secrets that the config does not use.

use std::io::{self, IsTerminal as _, Write as _};

use auth::secrets::operations::SecretInput;
use clap::Args;
use serde_json::json;

use super::Client;
use crate::exit::Usage;

#[derive(Debug, Args)]
pub(super) struct Prune {
    /// Remove them without asking.
    #[arg(short, long)]
    yes: bool,
}

impl Prune {
    pub(super) async fn run(self, client: &Client, as_json: bool) -> anyhow::Result<()> {
        let secrets = client.list().await?;
        if let Some(why) = secrets.iter().find_map(|secret| secret.unknown.as_ref()) {
            let why = terminal::shown(why);
            terminal::note(format_args!("it is not known which secrets are unused: {why}"));
        }
        let unused = secrets.into_iter().filter(|secret| !secret.used);
        let unused: Vec<_> = unused.map(|secret| secret.name).collect();
        if !unused.is_empty() {
            self.confirm(&unused)?;
        }
        for name in &unused {
            client.remove(false, SecretInput { name: name.clone() }).await?;
        }
        if as_json {
            return Ok(terminal::json(&json!({"removed": unused}))?);
        }
        if unused.is_empty() {
            terminal::line("nothing is removed: no secret is unused for certain")?;
        }
        for name in &unused {
            terminal::line(format_args!("{name} is removed"))?;
        }
        Ok(())
    }

    fn confirm(&self, unused: &[String]) -> anyhow::Result<()> {
        if self.yes {
            return Ok(());
        }
        terminal::note(format_args!("The config does not use: {}", unused.join(", ")));
        if !io::stdin().is_terminal() {
            return Err(Usage("nothing was removed: repeat with --yes".to_owned()).into());
        }
        write!(io::stderr(), "Remove them? [y/N] ")?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        if matches!(answer.trim(), "y" | "Y" | "yes") {
            return Ok(());
        }
        anyhow::bail!("nothing was removed")
    }
}
