//! The help texts: commands in groups, and the global options once, in the help of `powerstrip` itself.

use std::fmt::Write as _;

use clap::Command;
use terminal_size::terminal_size;

use crate::context::GLOBAL_OPTIONS;
use terminal::table::wrap;

/// The longest line of a help text, also on a wider terminal.
pub(super) const MAX_WIDTH: usize = 100;

/// The commands by what people want to do. One that is in no group is listed under "More".
const GROUPS: [(&str, &[&str]); 6] = [
    ("Run", &["serve", "stdio", "connect", "disconnect", "check", "doctor"]),
    ("Servers", &["add", "import", "remove", "enable", "disable", "servers", "login", "secret"]),
    (
        "Tools and calls",
        &["tools", "call", "calls", "runs", "plan", "workflows", "approvals", "prompts", "files"],
    ),
    ("Web and documents", &["research", "search", "scrape", "text", "collections"]),
    ("Write your own", &["new"]),
    ("Set up", &["agents", "keys", "config", "completions", "help"]),
];

/// Arranges the help of all commands.
pub(crate) fn arrange(mut command: Command) -> Command {
    // Copies the global options into all subcommands, where they can be hidden.
    command.build();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\nGlobal options:\n{{options}}{{after-help}}",
        groups(&command)
    );
    let after = reflow(&command.get_after_help().map(ToString::to_string).unwrap_or_default());
    command.mut_subcommands(fold).help_template(template).after_help(after)
}

/// The visible commands by group; those of no group come last.
pub(super) fn grouped(command: &Command) -> Vec<(&'static str, Vec<&Command>)> {
    let visible = || command.get_subcommands().filter(|known| !known.is_hide_set());
    let in_group = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let mut groups: Vec<_> = GROUPS
        .iter()
        .map(|(title, names)| {
            let named = |name: &&str| visible().find(|known| known.get_name() == *name);
            (*title, names.iter().filter_map(named).collect::<Vec<_>>())
        })
        .collect();
    groups.push(("More", visible().filter(|known| !in_group(known.get_name())).collect()));
    groups.retain(|(_, commands)| !commands.is_empty());
    groups
}

fn groups(command: &Command) -> String {
    let groups = grouped(command);
    let all = groups.iter().flat_map(|(_, commands)| commands);
    let width = all.map(|command| command.get_name().len()).max().unwrap_or(0);
    let terminal = terminal_size().map_or(MAX_WIDTH, |(width, _)| usize::from(width.0));
    let room = terminal.min(MAX_WIDTH).saturating_sub(width + 4);
    let mut text = String::new();
    for (title, commands) in groups {
        let _ = write!(text, "\n{title}:\n");
        for command in commands {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let mut name = command.get_name();
            for line in wrap(&about, Some(room)) {
                let _ = writeln!(text, "  {name:width$}  {line}");
                name = "";
            }
        }
    }
    text
}

/// Hides the global options in the help of a subcommand and of those below it, and says where they are.
fn fold(command: Command) -> Command {
    let globals: Vec<_> = command
        .get_arguments()
        .filter(|option| option.get_help_heading() == Some(GLOBAL_OPTIONS))
        .filter_map(|option| option.get_long().map(|name| format!("--{name}")))
        .collect();
    if globals.is_empty() {
        return command;
    }
    let note = format!("{GLOBAL_OPTIONS}: {}; see `powerstrip --help`.", globals.join(", "));
    let after = match command.get_after_help() {
        Some(text) => format!("{}\n\n{note}", reflow(&text.to_string())),
        None => note,
    };
    command
        .mut_args(|option| {
            if option.get_help_heading() == Some(GLOBAL_OPTIONS) {
                option.hide(true)
            } else {
                option
            }
        })
        .mut_subcommands(fold)
        .after_help(after)
}

/// Makes one line of each paragraph, to be wrapped to the terminal; indented lines stay as they are.
pub(super) fn reflow(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let continues = |last: &&mut String| {
            let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
            is_prose(line) && is_prose(last) && !last.ends_with(':')
        };
        match lines.last_mut().filter(continues) {
            Some(last) => {
                last.push(' ');
                last.push_str(line);
            }
            None => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;
