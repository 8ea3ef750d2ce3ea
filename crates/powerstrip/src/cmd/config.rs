use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::context::Context;

/// Show the configuration in force, its JSON Schema or its manual page
#[derive(Debug, Args)]
pub(crate) struct ConfigCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print the configuration that flags, environment, file and defaults add up to, with literal secrets masked
    Show,
    /// Print the JSON Schema of powerstrip.yaml, for editors
    Schema,
    /// Print the manual page about powerstrip.yaml, in Markdown
    Docs,
}

impl ConfigCommand {
    pub(crate) fn run(&self, context: &Context) -> anyhow::Result<ExitCode> {
        match self.what {
            What::Show => {
                let loaded = context.load()?;
                for fault in loaded.invalid.values().flatten() {
                    terminal::note(format_args!("{fault} (its server is not used)"));
                }
                let config = loaded.config.masked();
                if context.global.json {
                    terminal::json(&config)?;
                } else {
                    terminal::text(schema::yaml::to_string(&config)?)?;
                }
            }
            What::Schema => terminal::json(&config::schema())?,
            What::Docs => terminal::text(config::reference_page())?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
