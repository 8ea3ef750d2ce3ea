//! The help texts: commands in groups, and the global options once, in the help of `powerstrip` itself.

use std::fmt::Write as _;

use clap::Command;

use crate::context::GLOBAL_OPTIONS;

/// The commands by what people want to do. One that is in no group stands under "More".
const GROUPS: [(&str, &[&str]); 5] = [
    ("Run", &["serve", "stdio", "connect", "check", "doctor"]),
    ("Servers", &["add", "import", "remove", "enable", "disable", "servers", "login", "secret"]),
    (
        "Tools and calls",
        &["tools", "call", "calls", "runs", "approvals", "prompts", "files", "text"],
    ),
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

fn groups(command: &Command) -> String {
    let named = |name: &str| {
        command.get_subcommands().find(|known| known.get_name() == name && !known.is_hide_set())
    };
    let grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let mut groups: Vec<(&str, Vec<&Command>)> = GROUPS
        .iter()
        .map(|(title, names)| (*title, names.iter().filter_map(|name| named(name)).collect()))
        .collect();
    let visible = command.get_subcommands().filter(|known| !known.is_hide_set());
    groups.push(("More", visible.filter(|known| !grouped(known.get_name())).collect()));
    let all = groups.iter().flat_map(|(_, commands)| commands);
    let width = all.map(|command| command.get_name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for (title, commands) in groups.iter().filter(|(_, commands)| !commands.is_empty()) {
        let _ = write!(text, "\n{title}:\n");
        for command in commands {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {:width$}  {about}", command.get_name());
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
        .mut_args(|option| match option.get_help_heading() == Some(GLOBAL_OPTIONS) {
            true => option.hide(true),
            false => option,
        })
        .mut_subcommands(fold)
        .after_help(after)
}

/// Makes one line of each paragraph, to be wrapped to the terminal; indented lines stay as they are.
fn reflow(text: &str) -> String {
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
