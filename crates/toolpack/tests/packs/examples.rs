//! The packs that ship with Powerstrip.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use schema::Schema;
use strip::Tool;
use toolpack::{Toolpacks, canned_calls, lint};

use crate::support::{Options, call, is_missing, runtime};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/tools")
}

#[test]
fn they_pass_the_lint() {
    let findings = lint(&[folder()], &HashSet::new());
    assert!(findings.is_empty(), "{findings:#?}");
}

#[tokio::test]
async fn their_examples_pass() {
    let packs = Toolpacks::new(vec![folder()], runtime(Options::default()).await);
    let loaded = packs.load();
    assert!(loaded.findings.is_empty(), "{:?}", loaded.findings);
    let no_php = is_missing("php").await;
    let no_node = is_missing("node").await;
    let mut ran = 0;
    for canned in canned_calls(&[folder()], &HashSet::new()) {
        let file = canned.file.to_string_lossy().into_owned();
        let absent = (no_php && file.contains("php")) || (no_node && file.contains("node"));
        if absent {
            continue;
        }
        let tool = loaded
            .tools
            .iter()
            .find(|tool| tool.descriptor().id == canned.tool)
            .map(Arc::clone)
            .unwrap();
        let output = tool.run(&call(canned.input.clone())).await.unwrap();
        assert_eq!(*output.data, canned.data, "{file}");
        let schema = Schema::compile(tool.descriptor().output_schema.as_ref().unwrap()).unwrap();
        assert_eq!(schema.violations(&output.data), []);
        ran += 1;
    }
    assert!(ran >= 3, "only {ran} canned calls were run");
}
