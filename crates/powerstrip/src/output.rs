//! What goes to standard output and standard error. Colours only where a person looks.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use config::Environment;
use serde::Serialize;

/// Prints one line to standard output. A reader that has gone away (`| head`) is no fault.
pub(crate) fn line(text: impl Display) -> io::Result<()> {
    forgiving(writeln!(io::stdout().lock(), "{text}"))
}

/// Prints text as it is to standard output.
pub(crate) fn text(text: impl Display) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    forgiving(write!(stdout, "{text}").and_then(|()| stdout.flush()))
}

/// Prints a value as indented JSON to standard output.
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    line(serde_json::to_string_pretty(value)?)
}

/// Prints one line to standard error, where everything that is not the answer goes.
pub(crate) fn note(text: impl Display) {
    // Nobody is left to tell when standard error is gone.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

fn forgiving(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// How text is set off, where it is.
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

    /// Things that are well.
    pub(crate) fn good(self, text: impl Display) -> String {
        self.paint("32", text)
    }

    /// Things that are not.
    pub(crate) fn bad(self, text: impl Display) -> String {
        self.paint("31", text)
    }

    /// Things to think about.
    pub(crate) fn doubtful(self, text: impl Display) -> String {
        self.paint("33", text)
    }

    /// Things that may be passed over.
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

/// A text of somebody else's as one line that a person may see: no character of it acts on the terminal, and none hides.
pub(crate) fn shown(text: &str) -> String {
    proto::clean::visible(text).replace(['\n', '\t'], " ")
}

/// A field of what was told, as a person may see it.
pub(crate) fn field(of: &serde_json::Value, name: &str) -> String {
    shown(of[name].as_str().unwrap_or("-"))
}
