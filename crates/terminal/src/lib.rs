//! Printing to standard output and standard error: tables, colours and progress for terminals, plain text for pipes.

pub mod plans;
pub mod progress;
pub mod research;
pub mod table;
pub mod time;
pub mod workflows;

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use environment::Environment;
use operations::servers::{Health, ServerState};
use proto::clean::{is_inert, visible_json};
use serde::Serialize;
use terminal_size::terminal_size_of;

/// Prints one line to standard output. A closed pipe (`| head`) is no error.
pub fn line(text: impl Display) -> io::Result<()> {
    ignore_closed_pipe(writeln!(io::stdout().lock(), "{}", inert(&text.to_string())))
}

/// Prints text to standard output: as it is, unless a terminal would obey or hide parts of it.
pub fn text(text: impl Display) -> io::Result<()> {
    let (mut stdout, text) = (io::stdout().lock(), text.to_string());
    let text = if stdout.is_terminal() { inert(&text) } else { text.into() };
    ignore_closed_pipe(write!(stdout, "{text}").and_then(|()| stdout.flush()))
}

/// Prints a value as indented JSON to standard output. Characters that a terminal would obey or hide are escaped, so the
/// text still parses to the same value.
pub fn json(value: &impl Serialize) -> io::Result<()> {
    line(visible_json(&serde_json::to_string_pretty(value)?))
}

/// Prints rows or one record as JSON to standard output: next to each `…UnixMs` there is an `…_at` in RFC 3339.
pub fn record(value: &impl Serialize) -> io::Result<()> {
    json(&with_timestamps(value)?)
}

/// As [`record`], on one line.
pub fn record_line(value: &impl Serialize) -> io::Result<()> {
    line(visible_json(&with_timestamps(value)?.to_string()))
}

fn with_timestamps(value: &impl Serialize) -> io::Result<serde_json::Value> {
    let mut value = serde_json::to_value(value)?;
    proto::time::add_timestamps(&mut value);
    Ok(value)
}

/// Prints one line to standard error, for everything that is not the result.
pub fn note(text: impl Display) {
    // There is nowhere else to report a closed standard error.
    let _ = writeln!(io::stderr().lock(), "{}", inert(&text.to_string()));
}

/// Text that can only be seen: apart from colours, what a terminal would obey or hide is escaped. Most of what is printed
/// comes from servers and callers.
fn inert(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let colour = colour_sequence(rest);
        let end = colour.unwrap_or(character.len_utf8());
        let (before, after) = (out.chars().next_back(), rest[end..].chars().next());
        if colour.is_some() || is_inert(character, before, after) || rest.starts_with("\r\n") {
            out.push_str(&rest[..end]);
        } else {
            out.extend(character.escape_unicode());
        }
        rest = &rest[end..];
    }
    out.into()
}

/// The length of a sequence at the start of the text that changes the colour and nothing else.
fn colour_sequence(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\x1b[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters[end..].starts_with('m').then_some("\x1b[".len() + end + 1)
}

fn ignore_closed_pipe(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// How an output shows text: in colour or not, and how wide a line may be.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    coloured: bool,
    width: Option<usize>,
}

impl Style {
    /// For standard output.
    pub fn stdout(environment: &Environment) -> Self {
        let width = terminal_size_of(io::stdout());
        Self::of(io::stdout().is_terminal(), width, environment)
    }

    /// For standard error.
    pub fn stderr(environment: &Environment) -> Self {
        let width = terminal_size_of(io::stderr());
        Self::of(io::stderr().is_terminal(), width, environment)
    }

    fn of(
        terminal: bool,
        size: Option<(terminal_size::Width, terminal_size::Height)>,
        environment: &Environment,
    ) -> Self {
        // A size of zero is what a terminal says that does not know its size.
        let width = size.map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0);
        Self { coloured: wants_colour(terminal, |name| environment.text(name)), width }
    }

    /// Whether colours are on.
    pub fn is_coloured(self) -> bool {
        self.coloured
    }

    /// The width of the terminal, or `None` if the output is no terminal: then nothing is cut or wrapped.
    pub fn width(self) -> Option<usize> {
        self.width
    }

    /// Text in a tone.
    pub fn paint(self, tone: Tone, text: impl Display) -> String {
        match tone.code().filter(|_| self.coloured) {
            Some(code) => format!("\x1b[{code}m{text}\x1b[0m"),
            None => text.to_string(),
        }
    }

    /// Names of things.
    pub fn bold(self, text: impl Display) -> String {
        self.paint(Tone::Strong, text)
    }

    /// Good states.
    pub fn good(self, text: impl Display) -> String {
        self.paint(Tone::Good, text)
    }

    /// Bad states.
    pub fn bad(self, text: impl Display) -> String {
        self.paint(Tone::Bad, text)
    }

    /// States that need attention.
    pub fn doubtful(self, text: impl Display) -> String {
        self.paint(Tone::Doubtful, text)
    }

    /// Details.
    pub fn faint(self, text: impl Display) -> String {
        self.paint(Tone::Faint, text)
    }
}

/// What a text means, from which its colour follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// No colour.
    #[default]
    Plain,
    /// Names of things.
    Strong,
    /// Good states.
    Good,
    /// States that need attention.
    Doubtful,
    /// Bad states.
    Bad,
    /// Details.
    Faint,
}

impl Tone {
    /// The tone of a state of a server, run, approval or call, by its name in our JSON.
    pub fn of_state(state: &str) -> Self {
        if let Some(state) = ServerState::named(state) {
            return match state.health() {
                Health::Good => Self::Good,
                Health::Changing | Health::Doubtful => Self::Doubtful,
                Health::Bad => Self::Bad,
                Health::Off => Self::Faint,
            };
        }
        match state {
            "ok" | "good" | "open" | "approved" | "consumed" | "completed" | "set" => Self::Good,
            "waiting" | "pending" | "quarantined" => Self::Doubtful,
            "failed" | "error" | "rejected" | "revoked" | "missing" => Self::Bad,
            "idle" | "expired" | "cancelled" | "aborted" => Self::Faint,
            _ => Self::Plain,
        }
    }

    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Faint => Some("2"),
            Self::Bad => Some("31"),
            Self::Good => Some("32"),
            Self::Doubtful => Some("33"),
        }
    }
}

/// `NO_COLOR` beats `CLICOLOR_FORCE`, which beats whether the output is a terminal (<https://no-color.org>,
/// <https://bixense.com/clicolors>).
fn wants_colour(terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    let is = |name: &str, value: &str| variable(name).is_some_and(|text| text == value);
    if variable("NO_COLOR").is_some() {
        return false;
    }
    if variable("CLICOLOR_FORCE").is_some() && !is("CLICOLOR_FORCE", "0") {
        return true;
    }
    terminal && !is("TERM", "dumb") && !is("CLICOLOR", "0")
}

/// Untrusted text of several lines: each line after the first is marked, so that it does not look like one of ours, and no
/// character acts on the terminal.
pub fn marked(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(shown).collect();
    lines.join("\n  | ")
}

/// Untrusted text as one line: no character acts on the terminal, and none is invisible.
pub fn shown(text: &str) -> String {
    proto::clean::visible(text).replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests;
