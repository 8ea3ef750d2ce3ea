//! What a person at a terminal sees, and what a pipe gets instead.

use std::process::Command;

use crate::commands::project::Project;

/// Runs a command on a terminal of this width, with these variables; returns what the terminal shows.
fn on_terminal(project: &Project, width: u16, variables: &str, command: &str) -> Vec<String> {
    let binary = env!("CARGO_BIN_EXE_powerstrip");
    let line = format!("stty cols {width} rows 40; env {variables} {binary} {command}");
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(project.path())
        .env("TERM", "xterm-256color")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{shown}");
    shown.lines().map(|line| line.trim_end_matches('\r').to_owned()).collect()
}

/// A line without its colours.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        text.push_str(before);
        rest = after.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, after)| after);
    }
    // Progress rewrites its line.
    (text + rest).rsplit('\r').next().unwrap_or_default().to_owned()
}

#[test]
fn a_terminal_gets_colours_and_lines_that_fit() {
    let project = Project::new();
    let lines = on_terminal(&project, 60, "A=b", "tools");
    assert!(lines.iter().any(|line| line.contains("\x1b[1mdemo.echo\x1b[0m")), "{lines:#?}");
    let plain: Vec<_> = lines.iter().map(|line| plain(line)).collect();
    assert!(plain[0].starts_with("TOOL "), "{plain:#?}");
    assert!(plain.iter().all(|line| line.chars().count() <= 60), "{plain:#?}");
    assert!(plain.iter().any(|line| line.ends_with('…')), "long descriptions are cut: {plain:#?}");
}

#[test]
fn no_color_is_respected() {
    let project = Project::new();
    let lines = on_terminal(&project, 80, "NO_COLOR=1", "keys");
    assert!(lines.iter().all(|line| !line.contains("\x1b[3")), "{lines:#?}");
    let lines = on_terminal(&project, 80, "NO_COLOR=1", "tools");
    assert!(lines.iter().all(|line| !line.contains("\x1b[1m")), "{lines:#?}");
}

#[test]
fn a_pipe_gets_everything_and_no_colours() {
    let project = Project::new();
    let piped = project.run(&["tools"]);
    assert!(!piped.ok().contains('\x1b') && !piped.stdout.contains('…'), "{piped:?}");
    assert!(piped.stdout.starts_with("TOOL "), "{piped:?}");
    assert!(piped.stdout.lines().any(|line| line.chars().count() > 100), "{piped:?}");
    let forced = project.run_with(&["tools"], "", &[("CLICOLOR_FORCE", "1")]);
    assert!(forced.ok().contains("\x1b[1mdemo.echo\x1b[0m"), "{forced:?}");
}

#[test]
fn help_wraps_to_the_terminal() {
    let project = Project::new();
    for command in ["--help", "serve --help", "approvals approve --help"] {
        let lines = on_terminal(&project, 70, "A=b", command);
        let lines: Vec<_> = lines.iter().map(|line| plain(line)).collect();
        // Examples of commands are not broken.
        let prose = lines.iter().filter(|line| !line.contains("powerstrip "));
        for line in prose {
            assert!(line.chars().count() <= 70, "{command}: {line}");
        }
    }
}

#[test]
fn tools_show_describes_one_tool() {
    let project = Project::new();
    let shown = project.run(&["tools", "show", "demo.echo"]);
    for text in ["id ", "demo.echo", "INPUT", "message", "powerstrip call demo.echo --input"] {
        assert!(shown.ok().contains(text), "{text}: {shown:?}");
    }
    let tool = project.run(&["tools", "show", "demo.echo", "--json"]).json_of(0);
    assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    assert_eq!(tool["caps"]["timeoutMs"], 30_000, "{tool}");
    let unknown = project.run(&["tools", "show", "demo.ecko"]);
    assert!(unknown.failed(1).contains("demo.echo"), "the nearest is suggested: {unknown:?}");
}
