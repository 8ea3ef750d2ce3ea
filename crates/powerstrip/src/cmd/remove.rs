use std::process::ExitCode;

use clap::Args;
use config::edit;
use serde_json::json;

use crate::context::Context;
use crate::installer::{self, Expected, Installer};
use terminal::Style;

const EXAMPLES: &str = "\
Examples:
  powerstrip remove docs            take the server `docs` out of the config
  powerstrip disable docs           keep its entry without using it

Secrets of the server stay in the vault; `powerstrip secret rm NAME` removes them.";

/// Remove MCP servers from the config
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Remove {
    /// The servers' names.
    #[arg(required = true)]
    names: Vec<String>,
}

/// Use disabled MCP servers again
#[derive(Debug, Args)]
pub(crate) struct Enable {
    /// The servers' names.
    #[arg(required = true)]
    names: Vec<String>,
}

/// Stop MCP servers and keep their entries in the config
#[derive(Debug, Args)]
pub(crate) struct Disable {
    /// The servers' names.
    #[arg(required = true)]
    names: Vec<String>,
}

impl Remove {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        change(context, &self.names, Expected::Gone).await
    }
}

impl Enable {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        change(context, &self.names, Expected::Up).await
    }
}

impl Disable {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        change(context, &self.names, Expected::Disabled).await
    }
}

async fn change(
    context: &Context,
    names: &[String],
    expected: Expected,
) -> anyhow::Result<ExitCode> {
    let installer = Installer::new(context);
    // All or nothing: a typo in the last name must not leave half of the change behind.
    match expected {
        Expected::Gone => installer.update(|yaml| {
            names.iter().try_fold(yaml.to_owned(), |yaml, name| edit::remove_server(&yaml, name))
        })?,
        Expected::Up | Expected::Disabled => {
            installer.switch(names, expected == Expected::Disabled)?;
        }
    }
    let changes: Vec<_> = names.iter().map(|name| (name.clone(), expected)).collect();
    let outcome = installer::wait(&installer.load()?, &changes).await;
    if context.global.json {
        let done = json!({"config": installer.file(), "changed": names, "servers": outcome.json()});
        terminal::json(&done)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (done, file) = (
        match expected {
            Expected::Gone => "removed",
            Expected::Up => "enabled",
            Expected::Disabled => "disabled",
        },
        installer.file().display(),
    );
    for name in names {
        terminal::line(format_args!("{done} `{name}` in {file}"))?;
    }
    installer::report(&outcome, Style::stdout(&context.environment))?;
    Ok(ExitCode::SUCCESS)
}
