//! No test is left out by accident.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{metadata, packages, root, shown, sources, text};

/// `testkit` decides whether a test may be skipped: not in CI.
#[test]
fn tests_are_skipped_in_one_place() {
    for file in sources(&root()) {
        let source = std::fs::read_to_string(&file).expect("a source file");
        let prints =
            ["println!(\"skip", "println!(\"SKIP"].iter().any(|start| source.contains(start));
        let is_home = file.ends_with("testkit/src/skip.rs") || file.ends_with("house/suite.rs");
        assert!(!prints || is_home, "{}: use `testkit::skip_without`", shown(&file));
    }
}

/// Cargo would not run the tests of a target that has `test = false` to save its linking.
#[test]
fn targets_that_are_not_tested_have_no_tests() {
    let metadata = metadata();
    for package in packages(&metadata).iter().filter(|package| package["source"].is_null()) {
        let tested = folders(package, true);
        for folder in folders(package, false) {
            let inner: Vec<_> = tested.iter().filter(|inner| inner.starts_with(&folder)).collect();
            let own = |file: &PathBuf| !inner.iter().any(|inner| file.starts_with(inner));
            for file in sources(&folder).into_iter().filter(own) {
                let source = std::fs::read_to_string(&file).expect("a source file");
                assert!(
                    !source.contains("#[test]") && !source.contains("#[tokio::test"),
                    "{}: its target has `test = false`",
                    shown(&file)
                );
            }
        }
    }
}

/// Where the libraries and programs of a package are, either those that are tested or the others.
fn folders(package: &Value, tested: bool) -> Vec<PathBuf> {
    let targets = package["targets"].as_array().expect("a list of targets").iter();
    targets
        .filter(|target| target["test"] == tested)
        .filter(|target| target["kind"] == json!(["lib"]) || target["kind"] == json!(["bin"]))
        .filter_map(|target| Path::new(text(target, "src_path")).parent())
        .map(Path::to_owned)
        .collect()
}
