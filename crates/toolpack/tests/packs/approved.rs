//! A call that was approved runs the code that was approved, or nothing.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Arc;

use egress::sandbox::Tier;
use proto::Code;
use serde_json::{Value, json};
use strip::{Job, Tool};
use toolpack::PackTool;

use crate::support::{Setting, Workshop, assert_code, call, eventually, is_missing, run, runtime};

/// A call as it is after a person has approved the code that is there now.
async fn approved(tool: &PackTool, input: Value) -> Job {
    let mut call = call(input);
    call.approved_code = tool.code_digest(&call.request).await.unwrap();
    assert!(call.approved_code.is_some());
    call
}

/// Puts another file in the place of one, in one step.
fn swap(workshop: &Workshop, path: &str, text: &str) {
    let place = workshop.root().join(path);
    let replacement = place.with_extension("new");
    let mode = fs::metadata(&place).unwrap().permissions();
    fs::write(&replacement, text).unwrap();
    fs::set_permissions(&replacement, mode).unwrap();
    fs::rename(replacement, place).unwrap();
}

fn program(workshop: &Workshop, path: &str, text: &str) {
    workshop.write(path, text);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(workshop.root().join(path), mode).unwrap();
}

const SCRIPT: &str = "import json\nimport helper\nprint(json.dumps(helper.value))\n";
const SHELL: &str = "#!/bin/sh\n. \"$(dirname \"$0\")/lib.sh\"\necho \"\\\"$value\\\"\"\n";

/// Runs the tool, then swaps a file, and expects that the approval of before is good for nothing.
async fn refuses(workshop: &Workshop, path: &str, new: &str) {
    let tool = workshop.tool("x");
    let before = approved(&tool, json!({})).await;
    assert_eq!(*tool.run(&before).await.unwrap().data, json!("old"), "{path}");
    let place = workshop.root().join(path);
    let old = fs::read_to_string(&place).unwrap();
    swap(workshop, path, new);
    assert_code(&tool.run(&before).await.unwrap_err(), Code::Denied, "code changed");
    let after = approved(&tool, json!({})).await;
    assert_ne!(before.approved_code, after.approved_code, "{path}");
    assert_eq!(*tool.run(&after).await.unwrap().data, json!("new"), "{path}");
    swap(workshop, path, &old);
    assert_eq!(*tool.run(&before).await.unwrap().data, json!("old"), "{path}: it is back");
}

#[tokio::test]
async fn a_swapped_script_or_module_does_not_run() {
    for tier in [Tier::T0, Tier::T1, Tier::T2] {
        let workshop = Workshop::with(Setting { tier, ..Setting::default() }).await;
        workshop.write("tools/x.py", SCRIPT).write("tools/helper.py", "value = 'old'\n");
        workshop.pack("x", "execution: {kind: python, script: x.py}");
        refuses(&workshop, "tools/x.py", "print('\"new\"')\n").await;
        refuses(&workshop, "tools/helper.py", "value = 'new'\n").await;
    }
}

#[tokio::test]
async fn a_swapped_module_of_a_function_does_not_run() {
    let workshop = Workshop::new().await;
    workshop.write("tools/lib/__init__.py", "");
    workshop.write("tools/lib/deep.py", "value = 'old'\n");
    workshop.write("tools/m.py", "import lib.deep\ndef f(input):\n    return lib.deep.value\n");
    workshop.pack("x", "execution: {kind: python, module: 'm:f', workers: 1}");
    refuses(&workshop, "tools/lib/deep.py", "value = 'new'\n").await;
}

#[tokio::test]
async fn a_swapped_program_does_not_run() {
    for tier in [Tier::T0, Tier::T1, Tier::T2] {
        let workshop = Workshop::with(Setting { tier, ..Setting::default() }).await;
        program(&workshop, "tools/act/run", SHELL);
        workshop.write("tools/act/lib.sh", "value=old\n");
        workshop.pack("x", "execution: {kind: cli, cmd: ['./act/run']}");
        refuses(&workshop, "tools/act/run", "#!/bin/sh\necho '\"new\"'\n").await;
        refuses(&workshop, "tools/act/lib.sh", "value=new\n").await;
        // The author may name a script, which no definition covers.
        workshop.write("tools/say.py", "print('\"old\"')\n");
        let script = workshop.tools().canonicalize().unwrap().join("say.py");
        let cmd = format!("execution: {{kind: cli, cmd: [python3, '{}']}}", script.display());
        workshop.pack("x", &cmd);
        refuses(&workshop, "tools/say.py", "print('\"new\"')\n").await;
    }
}

#[tokio::test]
async fn a_swapped_interpreter_does_not_run() {
    for tier in [Tier::T0, Tier::T1, Tier::T2] {
        let workshop = Workshop::with(Setting { tier, ..Setting::default() }).await;
        let other = tempfile::tempdir().unwrap();
        let link = other.path().join("python");
        let python = runtime(Setting::default()).await.runner.locate("python3").await.unwrap();
        symlink(python.canonicalize().unwrap(), &link).unwrap();
        workshop.write("tools/x.py", "print('\"old\"')\n");
        let interpreter = link.display();
        let rest = format!("execution: {{kind: python, script: x.py, python: '{interpreter}'}}");
        workshop.pack("x", &rest);
        let tool = workshop.tool("x");
        let call = approved(&tool, json!({})).await;
        assert_eq!(*tool.run(&call).await.unwrap().data, json!("old"));
        fs::remove_file(&link).unwrap();
        fs::write(&link, "#!/bin/sh\necho '\"new\"'\n").unwrap();
        fs::set_permissions(&link, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(*run(&tool, json!({})).await.unwrap().data, json!("new"), "it would run");
        assert_code(&tool.run(&call).await.unwrap_err(), Code::Denied, "code changed");
    }
}

#[tokio::test]
async fn a_swapped_link_does_not_run() {
    let workshop = Workshop::new().await;
    workshop.write("tools/x.py", SCRIPT);
    workshop.write("tools/old/v.py", "value = 'old'\n").write("tools/new/v.py", "value = 'new'\n");
    symlink("old/v.py", workshop.tools().join("helper.py")).unwrap();
    workshop.pack("x", "execution: {kind: python, script: x.py}");
    let tool = workshop.tool("x");
    let call = approved(&tool, json!({})).await;
    assert_eq!(*tool.run(&call).await.unwrap().data, json!("old"));
    fs::remove_file(workshop.tools().join("helper.py")).unwrap();
    symlink("new/v.py", workshop.tools().join("helper.py")).unwrap();
    assert_code(&tool.run(&call).await.unwrap_err(), Code::Denied, "code changed");
}

#[tokio::test]
async fn what_is_swapped_after_the_check_changes_nothing() {
    let workshop = Workshop::new().await;
    workshop.write("tools/helper.py", "value = 'old'\n").write("tools/out/empty", "");
    workshop.write(
        "tools/x.py",
        r#"
import json, os, time
out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "out")
open(os.path.join(out, "begun"), "w").close()
while not os.path.exists(os.path.join(out, "go")):
    time.sleep(0.01)
import helper
print(json.dumps(helper.value))
"#,
    );
    workshop.pack("x", "caps: {files: {write: [out]}}\nexecution: {kind: python, script: x.py}");
    let tool = workshop.tool("x");
    let call = approved(&tool, json!({})).await;
    let running = tokio::spawn({
        let tool = Arc::clone(&tool);
        async move { tool.run(&call).await }
    });
    let out = workshop.tools().join("out");
    eventually("the script waits", || out.join("begun").exists()).await;
    swap(&workshop, "tools/helper.py", "value = 'new'\n");
    fs::write(out.join("go"), "").unwrap();
    assert_eq!(*running.await.unwrap().unwrap().data, json!("old"));
}

#[tokio::test]
async fn an_approved_call_never_meets_a_warm_worker() {
    let workshop = Workshop::new().await;
    workshop.write(
        "tools/m.py",
        "calls = 0\ndef f(input):\n    global calls\n    calls += 1\n    return calls\n",
    );
    workshop.pack("x", "execution: {kind: python, module: 'm:f', workers: 1}");
    let tool = workshop.tool("x");
    for n in 1..=2 {
        assert_eq!(*run(&tool, json!({})).await.unwrap().data, json!(n));
    }
    let call = approved(&tool, json!({})).await;
    assert_eq!(*tool.run(&call).await.unwrap().data, json!(1), "in a process of its own");
    assert_eq!(*run(&tool, json!({})).await.unwrap().data, json!(3));
}

#[tokio::test]
async fn data_may_change_and_code_among_it_may_not() {
    let workshop = Workshop::new().await;
    workshop.write("tools/data/rows.txt", "one").write("tools/data/plug.py", "value = 'old'\n");
    workshop.write(
        "tools/x.py",
        "import json, os, sys\nhere = os.path.dirname(os.path.abspath(__file__)) + '/data'\n\
         sys.path.insert(0, here)\nimport plug\n\
         print(json.dumps([plug.value, open(here + '/rows.txt').read()]))\n",
    );
    workshop.pack("x", "caps: {files: {read: [data]}}\nexecution: {kind: python, script: x.py}");
    let tool = workshop.tool("x");
    let call = approved(&tool, json!({})).await;
    swap(&workshop, "tools/data/rows.txt", "two");
    assert_eq!(*tool.run(&call).await.unwrap().data, json!(["old", "two"]));
    swap(&workshop, "tools/data/plug.py", "value = 'new'\n");
    assert_code(&tool.run(&call).await.unwrap_err(), Code::Denied, "code changed");
}

#[tokio::test]
async fn modules_of_node_and_php_are_code_too() {
    if !is_missing("node").await {
        let workshop = Workshop::new().await;
        workshop.write("tools/x.js", "const v = require('./lib/v');\nmodule.exports = () => v;\n");
        workshop.write("tools/lib/v.js", "module.exports = 'old';\n");
        workshop.pack("x", "execution: {kind: node, node: x.js}");
        refuses(&workshop, "tools/lib/v.js", "module.exports = 'new';\n").await;
    }
    if !is_missing("php").await {
        let workshop = Workshop::new().await;
        workshop.write("tools/x.php", "<?php\necho json_encode(require __DIR__ . '/v.php');\n");
        workshop.write("tools/v.php", "<?php return 'old';\n");
        workshop.pack("x", "execution: {kind: php, php: x.php}");
        refuses(&workshop, "tools/v.php", "<?php return 'new';\n").await;
    }
}

#[tokio::test]
async fn the_data_of_a_gateway_is_never_copied() {
    let workshop = Workshop::new().await;
    workshop
        .write("tools/.powerstrip/powerstrip.db", "")
        .write("tools/.powerstrip/admin.token", "psa_x");
    workshop.write(
        "tools/x.py",
        "import json, os\nhere = os.path.dirname(os.path.abspath(__file__))\n\
         print(json.dumps(os.path.exists(here + '/.powerstrip')))\n",
    );
    workshop.pack("x", "execution: {kind: python, script: x.py}");
    let tool = workshop.tool("x");
    let call = approved(&tool, json!({})).await;
    assert_eq!(*tool.run(&call).await.unwrap().data, json!(false));
}
