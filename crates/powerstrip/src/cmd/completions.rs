use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;

const EXAMPLES: &str = "\
Examples:
  powerstrip completions bash > ~/.local/share/bash-completion/completions/powerstrip
  powerstrip completions zsh > ~/.zfunc/_powerstrip
  powerstrip completions fish > ~/.config/fish/completions/powerstrip.fish";

/// Print the completion script of a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell to complete for.
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "powerstrip", &mut script);
        io::stdout().write_all(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}
