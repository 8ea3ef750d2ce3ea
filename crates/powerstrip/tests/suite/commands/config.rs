use std::path::PathBuf;

use serde_json::json;

use crate::commands::project::Project;

fn docs(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file)
}

/// Compares with the committed copy; `UPDATE_DOCS=1` updates it.
fn assert_current(file: &str, command: &[&str]) {
    let generated = Project::new().run(command);
    let path = docs(file);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, generated.ok()).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == generated.ok(), "{file} is stale: run this test once with UPDATE_DOCS=1");
}

#[test]
fn the_committed_schema_is_current() {
    assert_current("powerstrip.schema.json", &["config", "schema"]);
}

#[test]
fn the_manual_page_is_current() {
    assert_current("src/reference/config.md", &["config", "docs"]);
}

#[test]
fn the_page_about_the_command_line_is_current() {
    assert_current("src/reference/cli.md", &["reference"]);
}

#[test]
fn the_configuration_in_force_is_shown() {
    let project = Project::new();
    project.write("powerstrip.yaml", "limits: { timeout: 1m }\n");
    let shown = project.run_with(
        &["config", "show", "--json", "--tools", "flag"],
        "",
        &[("POWERSTRIP_PROMPTS", "env")],
    );
    let shown = shown.json_of(0);
    assert_eq!(shown["limits"]["timeout"], "1m");
    assert_eq!(shown["tools"], json!(["flag"]));
    assert_eq!(shown["prompts"], "env");
    assert_eq!(shown["listen"], "127.0.0.1:7777");
}

#[test]
fn the_output_of_config_show_is_a_valid_config() {
    let project = Project::new();
    let shown = project.run(&["config", "show"]);
    project.write("powerstrip.yaml", shown.ok());
    assert_eq!(project.run(&["config", "show"]).ok(), shown.ok());
}

#[test]
fn a_bad_config_ends_every_command_with_2_and_all_faults() {
    let project = Project::new();
    project.write("powerstrip.yaml", "listen: 0.0.0.0:7777\nlimits:\n  tiemout: 30s\nflows: {}\n");
    for command in [
        &["serve"][..],
        &["stdio"],
        &["tools"],
        &["call", "demo.echo"],
        &["config", "show"],
        &["prompts"],
    ] {
        let ended = project.run(command);
        let stderr = ended.failed(2);
        assert!(
            stderr.contains(
                "powerstrip.yaml:3: limits.tiemout: unknown key; did you mean `timeout`?"
            ),
            "{stderr}"
        );
        assert!(stderr.contains("powerstrip.yaml:4: flows: "), "{stderr}");
        assert!(stderr.contains("powerstrip.yaml:1: listen: "), "{stderr}");
        assert_eq!(ended.stdout, "");
    }
}

#[test]
fn bad_flags_and_variables_are_named() {
    let project = Project::new();
    assert!(project.run(&["serve", "--listen", "here"]).failed(2).contains("here"));
    assert!(project.run(&["serve", "--listen", "0.0.0.0:0"]).failed(2).contains("auth"));
    let variable = project.run_with(&["tools"], "", &[("POWERSTRIP_LISTEN", "here")]);
    assert!(variable.failed(2).contains("POWERSTRIP_LISTEN"));
    assert!(project.run(&["tools", "--config", "nowhere.yaml"]).failed(2).contains("nowhere.yaml"));
    assert!(project.run(&["tools", "--log", "a=b=c"]).failed(2).contains("--log"));
    let unknown = project.run_with(&["tools"], "", &[("POWERSTRIP_LISTN", "x")]);
    assert!(
        unknown.ok().contains("demo.echo") && unknown.stderr.contains("POWERSTRIP_LISTN"),
        "{unknown:?}"
    );
}

#[test]
fn completions_are_printed_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(Project::new().run(&["completions", shell]).ok().contains("powerstrip"), "{shell}");
    }
    Project::new().run(&["completions", "tcsh"]).failed(2);
}

#[test]
fn every_command_has_help() {
    let project = Project::new();
    let help = project.run(&["--help"]);
    for command in [
        "serve",
        "stdio",
        "tools",
        "call",
        "prompts",
        "check",
        "new",
        "doctor",
        "completions",
        "config",
    ] {
        assert!(help.ok().contains(command), "{command}");
        let own = project.run(&[command, "--help"]);
        assert!(own.ok().contains("Usage: powerstrip"), "{command}");
    }
}
