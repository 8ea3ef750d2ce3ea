//! Printing to standard output and standard error, in colour only on terminals.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use config::Environment;
use serde::Serialize;

/// Prints one line to standard output. A closed pipe (`| head`) is no error.
pub(crate) fn line(text: impl Display) -> io::Result<()> {
    ignore_closed_pipe(writeln!(io::stdout().lock(), "{text}"))
}

/// Prints text as it is to standard output.
pub(crate) fn text(text: impl Display) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    ignore_closed_pipe(write!(stdout, "{text}").and_then(|()| stdout.flush()))
}

/// Prints a value as indented JSON to standard output.
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    line(serde_json::to_string_pretty(value)?)
}

/// Prints one line to standard error, for everything that is not the result.
pub(crate) fn note(text: impl Display) {
    // There is nowhere else to report a closed standard error.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

fn ignore_closed_pipe(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Colours for text, if they are on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    coloured: bool,
}

impl Style {
    /// For standard output.
    pub(crate) fn stdout(environment: &Environment) -> Self {
        Self { coloured: io::stdout().is_terminal() && wants_colour(environment) }
    }

    /// For standard error.
    pub(crate) fn stderr(environment: &Environment) -> Self {
        Self { coloured: io::stderr().is_terminal() && wants_colour(environment) }
    }

    /// Whether colours are on.
    pub(crate) fn is_coloured(self) -> bool {
        self.coloured
    }

    /// Names of things.
    pub(crate) fn bold(self, text: impl Display) -> String {
        self.paint("1", text)
    }

    /// Good states.
    pub(crate) fn good(self, text: impl Display) -> String {
        self.paint("32", text)
    }

    /// Bad states.
    pub(crate) fn bad(self, text: impl Display) -> String {
        self.paint("31", text)
    }

    /// States that need attention.
    pub(crate) fn doubtful(self, text: impl Display) -> String {
        self.paint("33", text)
    }

    /// Details.
    pub(crate) fn faint(self, text: impl Display) -> String {
        self.paint("2", text)
    }

    fn paint(self, code: &str, text: impl Display) -> String {
        if self.coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}

fn wants_colour(environment: &Environment) -> bool {
    environment.text("NO_COLOR").is_none()
        && environment.text("TERM").is_none_or(|term| term != "dumb")
}

/// Untrusted text as one line: no character acts on the terminal, and none is invisible.
pub(crate) fn shown(text: &str) -> String {
    proto::clean::visible(text).replace(['\n', '\t'], " ")
}
