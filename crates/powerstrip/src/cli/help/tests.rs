use clap::CommandFactory as _;

use super::{GROUPS, arrange, reflow};
use crate::cli::Cli;

#[test]
fn every_command_is_in_one_group() {
    let command = arrange(Cli::command());
    for known in command.get_subcommands().filter(|known| !known.is_hide_set()) {
        let name = known.get_name();
        let groups = GROUPS.iter().filter(|(_, names)| names.contains(&name)).count();
        assert_eq!(groups, 1, "`{name}` is in {groups} groups");
    }
}

#[test]
fn global_options_are_explained_once_and_accepted_everywhere() {
    let mut command = arrange(Cli::command());
    let whole = command.render_help().to_string();
    assert!(whole.contains("--data-dir <DIR>"), "{whole}");
    assert!(whole.contains("Servers:\n"), "{whole}");
    let tools = command.find_subcommand_mut("tools").unwrap();
    let help = tools.render_help().to_string();
    assert!(!help.contains("--data-dir <DIR>"), "{help}");
    assert!(help.contains("Global options: --config"), "{help}");
    let show = tools.find_subcommand_mut("show").unwrap().render_help().to_string();
    assert!(!show.contains("--data-dir <DIR>"), "{show}");
    let command = arrange(Cli::command());
    let matches = command.try_get_matches_from(["powerstrip", "tools", "show", "x", "--json"]);
    assert!(matches.unwrap().get_flag("json"));
}

#[test]
fn a_misspelt_command_gets_a_suggestion() {
    for (wrong, right) in [("toolz", "tools"), ("sevre", "serve"), ("approval", "approvals")] {
        let refused = arrange(Cli::command()).try_get_matches_from(["powerstrip", wrong]);
        let message = refused.unwrap_err().to_string();
        assert!(message.contains(&format!("'{right}'")), "{message}");
    }
}

#[test]
fn every_list_is_ls_or_list() {
    let command = arrange(Cli::command());
    for group in command.get_subcommands() {
        for action in group.get_subcommands().filter(|_| group.get_name() != "help") {
            assert_ne!(action.get_name(), "list", "{}: spell it `ls`", group.get_name());
            if action.get_name() == "ls" {
                let aliases: Vec<_> = action.get_visible_aliases().collect();
                assert_eq!(aliases, ["list"], "{} ls", group.get_name());
            }
        }
    }
}

#[test]
fn paragraphs_become_one_line_and_examples_stay() {
    let text = "Examples:\n  one   first\n  two\n\nIt runs\nuntil the end.\n\nExit codes: 0, 1.";
    let whole = "Examples:\n  one   first\n  two\n\nIt runs until the end.\n\nExit codes: 0, 1.";
    assert_eq!(reflow(text), whole);
}
