//! Files of people: what commands write where links are planted, and what they read where a file never ends.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::CommandOutput;

use crate::commands::project::Project;

const TOKEN: &str = "ghp_0123456789abcdefghij";

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

fn at_home(project: &Project, home: &Path, arguments: &[&str]) -> CommandOutput {
    project.run_with(arguments, "", &[("HOME", home.to_str().unwrap()), ("XDG_CONFIG_HOME", "")])
}

#[test]
fn a_planted_link_of_the_draft_is_not_followed() {
    let (project, outside) = (Project::new(), tempfile::tempdir().unwrap());
    project.write("powerstrip.yaml", "listen: 127.0.0.1:0\n");
    fs::set_permissions(project.path().join("powerstrip.yaml"), fs::Permissions::from_mode(0o640))
        .unwrap();
    fs::write(outside.path().join("victim"), "kept").unwrap();
    // The shell's process id is the command's after `exec`.
    let script = "ln -s \"$0\" .powerstrip.yaml.$$.tmp && exec \"$@\"";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(outside.path().join("victim"))
        .arg(env!("CARGO_BIN_EXE_powerstrip"))
        .args(["add", "crm", "https://mcp.example.com/mcp"])
        .current_dir(project.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    CommandOutput::from(output).ok();
    assert_eq!(fs::read_to_string(outside.path().join("victim")).unwrap(), "kept");
    let config = project.path().join("powerstrip.yaml");
    assert!(!fs::symlink_metadata(&config).unwrap().is_symlink());
    assert!(project.read("powerstrip.yaml").contains("mcp.example.com"));
    assert_eq!(mode(&config), 0o640, "the mode stays");
}

#[test]
fn a_file_with_a_secret_is_closed_to_others() {
    let project = Project::new();
    let yaml = format!("servers:\n  a:\n    command: x\n    env: {{ A_TOKEN: {TOKEN} }}\n");
    project.write("powerstrip.yaml", &yaml);
    let config = project.path().join("powerstrip.yaml");
    fs::set_permissions(&config, fs::Permissions::from_mode(0o644)).unwrap();
    let added = project.run(&["add", "crm", "https://mcp.example.com/mcp"]);
    added.ok();
    assert!(added.stderr.contains("only you can read it now"), "{added:?}");
    assert_eq!(mode(&config), 0o600);
}

#[test]
fn copies_of_client_files_are_private_and_follow_no_link() {
    let (project, outside) = (Project::new(), tempfile::tempdir().unwrap());
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".cursor");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("mcp.json");
    let text = format!(
        "{{\"mcpServers\": {{\"a\": {{\"command\": \"x\", \"env\": {{\"A_TOKEN\": \"{TOKEN}\"}}}}}}}}"
    );
    fs::write(&file, &text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    symlink(outside.path().join("stolen"), folder.join("mcp.json.bak")).unwrap();
    let connected = at_home(&project, home.path(), &["connect", "cursor", "--json"]).json_of(0);
    assert!(is_empty(outside.path()), "nothing is written where the link leads");
    let backup = Path::new(connected["backup"].as_str().unwrap());
    assert_eq!(fs::read_to_string(backup).unwrap(), text);
    assert_eq!((mode(backup), mode(&file)), (0o600, 0o600));
}

#[test]
fn a_link_at_the_file_is_followed_within_the_home_folder_only() {
    let (project, outside) = (Project::new(), tempfile::tempdir().unwrap());
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".cursor/mcp.json");
    fs::create_dir_all(home.path().join(".cursor")).unwrap();
    fs::create_dir_all(home.path().join("dotfiles")).unwrap();
    let kept = home.path().join("dotfiles/mcp.json");
    fs::write(&kept, "{}").unwrap();
    symlink("../dotfiles/mcp.json", &file).unwrap();
    at_home(&project, home.path(), &["connect", "cursor"]).ok();
    assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
    assert!(fs::read_to_string(&kept).unwrap().contains("powerstrip"));

    let victim = outside.path().join("other.json");
    fs::write(&victim, "{}").unwrap();
    for target in [victim.clone(), outside.path().join("new.json")] {
        fs::remove_file(&file).unwrap();
        symlink(target, &file).unwrap();
        let refused = at_home(&project, home.path(), &["connect", "cursor"]);
        assert!(refused.failed(1).contains("nothing is written through it"), "{refused:?}");
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), "{}");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn a_planted_lock_of_the_data_folder_is_refused() {
    let (project, outside) = (Project::new(), tempfile::tempdir().unwrap());
    let victim = outside.path().join("victim");
    fs::write(&victim, "kept").unwrap();
    fs::create_dir(project.path().join(".powerstrip")).unwrap();
    symlink(&victim, project.path().join(".powerstrip/lock")).unwrap();
    let refused = project.run_with(&["secret", "set", "TOKEN"], "value", &[]);
    assert!(refused.failed(1).contains("it is a link"), "{refused:?}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "kept");
}

#[test]
fn files_without_end_are_refused_at_once() {
    let project = Project::new();
    let pipe = project.path().join("pipe");
    let (fifo, owner) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, fifo, owner, 0).unwrap();
    fs::File::create(project.path().join("sparse")).unwrap().set_len(5 << 30).unwrap();
    for file in ["/dev/zero", "pipe", ".", "sparse"] {
        let entry = format!(
            "{{\"mcpServers\": {{\"a\": {{\"command\": \"x\", \"envFile\": \"{file}\"}}, \"b\": {{\"command\": \"y\"}}}}}}"
        );
        project.write("mcp.json", &entry);
        let imported = project.run(&["import", "mcp.json"]);
        assert!(imported.ok().contains("command: \"y\""), "{imported:?}");
        assert!(imported.stderr.contains("envFile"), "{file}: {imported:?}");
        let argument = format!("@{file}");
        for arguments in [
            &["import", file][..],
            &["--config", file, "check"],
            &["call", "json.select", "--input", &argument],
            &["workflows", "run", file],
            &["serve", "--mcp-json", file],
        ] {
            let refused = project.run(arguments);
            assert_ne!(refused.code, Some(0), "{arguments:?}: {refused:?}");
            let said = ["not a regular file", "more than the"];
            let printed = format!("{}{}", refused.stdout, refused.stderr);
            let said = said.iter().any(|said| printed.contains(said));
            assert!(said, "{arguments:?}: {refused:?}");
        }
    }
    project.write(
        "powerstrip.yaml",
        "servers:\n  a:\n    url: https://x.example/\n    headers: { X-Key: { file: pipe } }\n",
    );
    let listed = project.run(&["servers", "--json"]);
    assert!(listed.ok().contains("not a regular file"), "{listed:?}");
}

#[test]
fn an_imported_server_does_not_replace_built_in_tools() {
    let project = Project::new();
    project.write("mcp.json", "{\"mcpServers\": {\"web-research\": {\"command\": \"x\"}}}");
    let imported = project.run(&["import", "mcp.json", "--write"]);
    imported.ok();
    assert!(imported.stderr.contains("the gateway's own tools"), "{imported:?}");
    assert!(project.read("powerstrip.yaml").contains("  web-research-server:\n"));
    assert!(project.run(&["tools"]).ok().contains("web-research:web_search"));
    let refused = project.run(&["add", "Web_Research", "--", "x"]);
    assert!(refused.failed(2).contains("choose another name"), "{refused:?}");
}
