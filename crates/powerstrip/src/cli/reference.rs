//! The manual page about the command line, in Markdown. `docs/src/reference/cli.md` is this text; a test compares them.

use std::fmt::Write as _;

use clap::{Arg, Command};

use super::help::{grouped, reflow};
use crate::context::GLOBAL_OPTIONS;

/// The pages of the guide about a command.
const GUIDES: [(&str, &str, &str); 21] = [
    ("serve", "Operating", "operating.md"),
    ("stdio", "Doors", "doors.md#stdio-next-to-serve"),
    ("connect", "Quick start", "quickstart.md#connect-a-client"),
    ("add", "MCP servers", "servers.md"),
    ("import", "MCP servers", "servers.md"),
    ("remove", "MCP servers", "servers.md"),
    ("enable", "MCP servers", "servers.md"),
    ("disable", "MCP servers", "servers.md"),
    ("servers", "MCP servers", "servers.md"),
    ("login", "Protected servers", "protected.md"),
    ("secret", "Secrets", "secrets.md"),
    ("tools", "MCP servers", "servers.md#when-a-tool-changes"),
    ("calls", "Operating", "operating.md#the-audit-trail"),
    ("runs", "Runs", "runs.md"),
    ("workflows", "Workflows", "workflows.md"),
    ("approvals", "Approvals", "approvals.md"),
    ("prompts", "Prompts", "prompts.md"),
    ("files", "Files", "files.md"),
    ("text", "Text of documents", "documents.md"),
    ("agents", "Agents and skills", "agents.md"),
    ("keys", "Access", "access.md#keys-of-its-own"),
];

const INTRODUCTION: &str = "\
<!-- Printed by `powerstrip reference`; a test compares. -->
# Command line

`powerstrip help COMMAND` and `powerstrip COMMAND --help` print the same as this page.
";

const CONVENTIONS: &str = "\
A flag beats its variable, which beats the config file; [powerstrip.yaml](config.md) lists all variables. Answers go to \
stdout, everything else to stderr.

**For people**: lists are tables with a header. On a terminal states are coloured, long cells are cut to its width and end \
with `…`; in a pipe nothing is cut or coloured. `NO_COLOR` turns colours off, `CLICOLOR_FORCE=1` turns them on in pipes, too.

**For programs**: `--json` prints JSON. Times are fields `…_at` in RFC 3339 (`2026-11-16T12:30:00.000Z`). Fields `…UnixMs`, \
`…_unix_ms` and, of files, `created_ms` and `expires_ms` hold the same times in milliseconds since 1970. They are deprecated and \
will be removed in the next release.

**Ids**: the first characters of an id are enough where no other id begins with them: eight of an approval's, four of a file's, \
any number of a run's.

**Lists**: `ls` may be written `list`, and left out: `powerstrip files` is `powerstrip files ls`.

**Exit codes**: 0 all went well, 1 something failed, 2 wrong usage or a config that cannot be used.
";

/// The whole page.
pub(crate) fn page(mut command: Command) -> String {
    command.build();
    let mut page = INTRODUCTION.to_owned();
    for (title, commands) in grouped(&command) {
        let _ = write!(page, "\n| {} | |\n|---|---|\n", title.to_lowercase());
        for command in commands.iter().filter(|command| command.get_name() != "help") {
            let name = command.get_name();
            let _ = writeln!(page, "| [`{name}`](#{name}) | {} |", about(command));
        }
    }
    page.push_str("\n## Global options\n\nThey may come before or after the command.\n\n");
    page.push_str(&options(&command, true));
    page.push('\n');
    page.push_str(CONVENTIONS);
    for (_, commands) in grouped(&command) {
        for command in commands.iter().filter(|command| command.get_name() != "help") {
            let _ = write!(page, "\n## {}\n\n", command.get_name());
            describe(command, &mut page);
            if let Some((_, title, file)) =
                GUIDES.iter().find(|(name, ..)| *name == command.get_name())
            {
                let _ = write!(page, "\nSee [{title}](../guide/{file}).\n");
            }
            subcommands(command, &mut page);
        }
    }
    page
}

fn subcommands(command: &Command, page: &mut String) {
    for action in command.get_subcommands().filter(|action| !action.is_hide_set()) {
        if action.get_name() == "help" {
            continue;
        }
        let path = action.get_bin_name().unwrap_or_default().trim_start_matches("powerstrip ");
        let _ = write!(page, "\n### {path}\n\n");
        describe(action, page);
        subcommands(action, page);
    }
}

fn describe(command: &Command, page: &mut String) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim().trim_start_matches("Usage: ").replace("\n       ", "\n");
    let _ = write!(page, "{}.\n\n```text\n{usage}\n```\n", about(command));
    let aliases: Vec<_> = command.get_visible_aliases().map(|name| format!("`{name}`")).collect();
    if !aliases.is_empty() {
        let _ = write!(page, "\nAlso: {}.\n", aliases.join(", "));
    }
    let options = options(command, false);
    if !options.is_empty() {
        let _ = write!(page, "\n{options}");
    }
    if let Some(text) = command.get_after_help() {
        page.push_str(&examples(&reflow(&text.to_string())));
    }
}

/// Indented lines become a block of code, the others paragraphs.
fn examples(text: &str) -> String {
    let mut page = String::new();
    let mut code = false;
    for line in text.lines() {
        let indented = line.starts_with("  ");
        if indented != code {
            page.push_str(if indented { "\n```text\n" } else { "```\n" });
            code = indented;
        }
        match line {
            "" | "Examples:" => {}
            line if code => {
                let _ = writeln!(page, "{}", &line[2..]);
            }
            line => {
                let _ = write!(page, "\n{}\n", line.replace('<', "&lt;"));
            }
        }
    }
    if code {
        page.push_str("```\n");
    }
    page
}

fn about(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    cell(&about)
}

/// A table of arguments and options: the global ones, or a command's own.
fn options(command: &Command, global: bool) -> String {
    let is_global = |option: &Arg| option.get_help_heading() == Some(GLOBAL_OPTIONS);
    let own = command.get_arguments().filter(|option| {
        let name = option.get_id().as_str();
        is_global(option) == global && name != "help" && name != "version" && !option.is_hide_set()
    });
    let mut rows = String::new();
    for option in own {
        let _ = writeln!(rows, "| {} | {} |", names(option), meaning(option));
    }
    if rows.is_empty() { rows } else { format!("| | |\n|---|---|\n{rows}") }
}

fn names(option: &Arg) -> String {
    let values: Vec<_> = option.get_value_names().unwrap_or_default().iter().collect();
    let value = values.iter().map(|name| name.to_string()).collect::<Vec<_>>().join(" ");
    let many = option.get_num_args().is_some_and(|count| count.max_values() > 1);
    let value = if many { format!("{value}…") } else { value };
    let long = option.get_long().map(|name| format!("--{name}"));
    let short = option.get_short().map(|name| format!("`-{name}`, ")).unwrap_or_default();
    match (long, option.get_action().takes_values()) {
        (None, _) => format!("`{}`", cell(&value)),
        (Some(long), true) => format!("{short}`{long} {}`", cell(&value)),
        (Some(long), false) => format!("{short}`{long}`"),
    }
}

fn meaning(option: &Arg) -> String {
    let mut meaning = option.get_help().map(|help| cell(&help.to_string())).unwrap_or_default();
    let values = option.get_possible_values();
    let defaults = option.get_default_values();
    let has_default = !defaults.is_empty() && !option.is_hide_default_value_set();
    let has_more = option.get_action().takes_values() && (!values.is_empty() || has_default);
    if has_more && !meaning.is_empty() {
        meaning.push('.');
    }
    if option.get_action().takes_values() && !values.is_empty() {
        let values: Vec<_> = values
            .iter()
            .filter(|value| !value.is_hide_set())
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        let _ = write!(meaning, " One of {}.", values.join(", "));
    }
    if option.get_action().takes_values() && has_default {
        let defaults: Vec<_> = defaults.iter().map(|value| value.to_string_lossy()).collect();
        let _ = write!(meaning, " Default: `{}`.", defaults.join(" "));
    }
    meaning.trim_start().to_owned()
}

/// Text that stays within a cell of a table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|").replace('<', "&lt;")
}
