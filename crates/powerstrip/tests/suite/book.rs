//! Checks the book: its examples run with the real binary, and its links have targets.

mod commands;
mod deploy;
mod links;
mod pages;
mod routes;
mod times;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::book::pages::{Block, blocks, markdown_below, root};

/// Runs the binary in a folder, with the environment variables of the book's configs.
fn powerstrip(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_powerstrip"))
        .args(arguments)
        .current_dir(folder)
        .env("OTLP_TOKEN", "a token for the test")
        .env("S3_ACCESS_KEY", "a key")
        .env("S3_SECRET_KEY", "a secret")
        .output()
        .unwrap()
}

/// Lints a folder and runs its examples; returns the findings, which must not be errors.
fn check(folder: &Path) -> Vec<Value> {
    let output = powerstrip(folder, &["check", "--run", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &report["ok"]), (Some(0), &Value::Bool(true)), "{report:#}");
    report["findings"].as_array().unwrap().clone()
}

/// The kinds of tools whose interpreter is not installed here.
fn missing_kinds() -> Vec<&'static str> {
    let folder = tempfile::tempdir().unwrap();
    let output = powerstrip(folder.path(), &["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let programs = report["programs"].as_array().unwrap();
    let is_missing = |name: &str| {
        let found = programs.iter().find(|program| program["name"] == name);
        found.unwrap_or_else(|| panic!("doctor says nothing of {name}"))["version"].is_null()
    };
    [("python", "python3"), ("node", "node"), ("php", "php")]
        .into_iter()
        .filter(|(_, program)| is_missing(program))
        .map(|(kind, _)| kind)
        .collect()
}

/// Whether this machine can run a pack; prints a note if not.
fn can_run(path: &str, pack: &str, missing: &[&str]) -> bool {
    let kind = missing.iter().find(|kind| pack.contains(&format!("kind: {kind}")));
    if let Some(kind) = kind {
        testkit::skip_without(format_args!("an interpreter for kind `{kind}` of {path}"));
    }
    kind.is_none()
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn the_toolpack_guide_works_as_written() {
    let guide = root().join("docs/src/guide/toolpacks.md");
    let files: Vec<Block> =
        blocks(&guide).into_iter().filter(|block| block.file.is_some()).collect();
    let packs = || {
        files
            .iter()
            .filter(|block| block.file.as_ref().is_some_and(|file| file.ends_with(".tool.yaml")))
    };
    for kind in ["cli", "python", "node", "php", "http"] {
        assert!(
            packs().any(|pack| pack.text.contains(&format!("kind: {kind}"))),
            "no example of kind {kind}"
        );
    }
    for pack in packs() {
        let canned = pack.text.contains("\nexamples:");
        let varies = pack.text.contains("\ndeterministic: false");
        assert!(canned != varies, "{}: an example to run, or `deterministic: false`", pack.place);
    }

    let missing = missing_kinds();
    let folder = tempfile::tempdir().unwrap();
    for block in &files {
        let file = block.file.as_deref().unwrap();
        if !file.ends_with(".tool.yaml") || can_run(file, &block.text, &missing) {
            write(folder.path(), file, &block.text);
        }
    }
    // Pages that people copy from must not cause advice either.
    assert_eq!(check(folder.path()), Vec::<Value>::new());
}

#[test]
fn the_examples_folder_passes_its_own_check() {
    let missing = missing_kinds();
    let examples = root().join("examples");
    let folder = tempfile::tempdir().unwrap();
    let mut packs = 0;
    for path in pages::files_below(&examples) {
        let name = path.strip_prefix(&examples).unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        if name.ends_with(".tool.yaml") {
            if !can_run(name, &text, &missing) {
                continue;
            }
            packs += 1;
        }
        write(folder.path(), name, &text);
    }
    assert!(packs > 0, "there are no examples in {}", examples.display());
    check(folder.path());
}

#[test]
fn the_configs_in_the_book_are_accepted() {
    let mut configs = 0;
    for page in markdown_below(&root().join("docs/src")) {
        let named = |block: &Block| block.file.as_deref() == Some("powerstrip.yaml");
        for block in blocks(&page).into_iter().filter(named) {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), "powerstrip.yaml", &block.text);
            let output = powerstrip(folder.path(), &["config", "show"]);
            let why = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {why}", block.place);
            configs += 1;
        }
    }
    assert!(configs > 0, "no page shows a `# file: powerstrip.yaml`");
}
