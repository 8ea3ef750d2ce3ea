//! A call that was approved runs the code that was approved, or nothing.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Arc;

use egress::sandbox::Tier;
use proto::Code;
use serde_json::{Value, json};
use strip::{Job, Tool};
use toolpack::PackTool;

use crate::support::{Options, Setup, assert_code, call, eventually, is_missing, run, runtime};

/// A call whose current code was approved.
async fn approved(tool: &PackTool, input: Value) -> Job {
    let mut call = call(input);
    call.approved_code = tool.code_digest(&call).await.unwrap();
    assert!(call.approved_code.is_some());
    call
}

/// Replaces a file in one step.
fn swap(setup: &Setup, path: &str, text: &str) {
    let place = setup.root().join(path);
    let replacement = place.with_extension("new");
    let mode = fs::metadata(&place).unwrap().permissions();
    fs::write(&replacement, text).unwrap();
    fs::set_permissions(&replacement, mode).unwrap();
    fs::rename(replacement, place).unwrap();
}

fn program(setup: &Setup, path: &str, text: &str) {
    setup.write(path, text);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(setup.root().join(path), mode).unwrap();
}

const SCRIPT: &str = "import json\nimport helper\nprint(json.dumps(helper.value))\n";
const SHELL: &str = "#!/bin/sh\n. \"$(dirname \"$0\")/lib.sh\"\necho \"\\\"$value\\\"\"\n";

/// Runs the tool, then replaces a file, and expects that the approval is no longer valid.
async fn refuses(setup: &Setup, path: &str, new: &str) {
    let tool = setup.tool("x");
    let before = approved(&tool, json!({})).await;
    assert_eq!(*tool.run(&before).await.unwrap().data, json!("old"), "{path}");
    let place = setup.root().join(path);
    let old = fs::read_to_string(&place).unwrap();
    swap(setup, path, new);
    assert_code(&tool.run(&before).await.unwrap_err(), Code::Denied, "code changed");
    let after = approved(&tool, json!({})).await;
    assert_ne!(before.approved_code, after.approved_code, "{path}");
    assert_eq!(*tool.run(&after).await.unwrap().data, json!("new"), "{path}");
    swap(setup, path, &old);
    assert_eq!(*tool.run(&before).await.unwrap().data, json!("old"), "{path}: it is back");
}

#[tokio::test]
async fn a_swapped_script_or_module_does_not_run() {
    for tier in [Tier::T0, Tier::T1, Tier::T2] {
        let setup = Setup::with(Options { tier, ..Options::default() }).await;
        setup.write("tools/x.py", SCRIPT).write("tools/helper.py", "value = 'old'\n");
        setup.pack("x", "execution: {kind: python, script: x.py}");
        refuses(&setup, "tools/x.py", "print('\"new\"')\n").await;
        refuses(&setup, "tools/helper.py", "value = 'new'\n").await;
    }
}

#[tokio::test]
async fn a_swapped_module_of_a_function_does_not_run() {
    let setup = Setup::new().await;
    setup.write("tools/lib/__init__.py", "");
    setup.write("tools/lib/deep.py", "value = 'old'\n");
    setup.write("tools/m.py", "import lib.deep\ndef f(input):\n    return lib.deep.value\n");
    setup.pack("x", "execution: {kind: python, module: 'm:f', workers: 1}");
    refuses(&setup, "tools/lib/deep.py", "value = 'new'\n").await;
}

#[tokio::test]
async fn a_swapped_program_does_not_run() {
    for tier in [Tier::T0, Tier::T1, Tier::T2] {
        let setup = Setup::with(Options { tier, ..Options::default() }).await;
        program(&setup, "tools/act/run", SHELL);
        setup.write("tools/act/lib.sh", "value=old\n");
        setup.pack("x", "execution: {kind: cli, cmd: ['./act/run']}");
        refuses(&setup, "tools/act/run", "#!/bin/sh\necho '\"new\"'\n").await;
        refuses(&setup, "tools/act/lib.sh", "value=new\n").await;
        // The author may name a script, which no definition covers.
        setup.write("tools/say.py", "print('\"old\"')\n");
        let script = setup.tools().canonicalize().unwrap().join("say.py");
        let cmd = format!("execution: {{kind: cli, cmd: [python3, '{}']}}", script.display());
        setup.pack("x", &cmd);
        refuses(&setup, "tools/say.py", "print('\"new\"')\n").await;
    }
}

#[tokio::test]
async fn a_swapped_interpreter_does_not_run() {
    for tier in [Tier::T0, Tier::T1, Tier::T2] {
        let setup = Setup::with(Options { tier, ..Options::default() }).await;
        let other = tempfile::tempdir().unwrap();
        let link = other.path().join("python");
        let python = runtime(Options::default()).await.runner.locate("python3").await.unwrap();
        symlink(python.canonicalize().unwrap(), &link).unwrap();
        setup.write("tools/x.py", "print('\"old\"')\n");
        let interpreter = link.display();
        let rest = format!("execution: {{kind: python, script: x.py, python: '{interpreter}'}}");
        setup.pack("x", &rest);
        let tool = setup.tool("x");
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
    let setup = Setup::new().await;
    setup.write("tools/x.py", SCRIPT);
    setup.write("tools/old/v.py", "value = 'old'\n").write("tools/new/v.py", "value = 'new'\n");
    symlink("old/v.py", setup.tools().join("helper.py")).unwrap();
    setup.pack("x", "execution: {kind: python, script: x.py}");
    let tool = setup.tool("x");
    let call = approved(&tool, json!({})).await;
    assert_eq!(*tool.run(&call).await.unwrap().data, json!("old"));
    fs::remove_file(setup.tools().join("helper.py")).unwrap();
    symlink("new/v.py", setup.tools().join("helper.py")).unwrap();
    assert_code(&tool.run(&call).await.unwrap_err(), Code::Denied, "code changed");
}

#[tokio::test]
async fn a_file_swapped_after_the_check_has_no_effect() {
    let setup = Setup::new().await;
    setup.write("tools/helper.py", "value = 'old'\n").write("tools/out/empty", "");
    setup.write(
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
    setup.pack("x", "caps: {files: {write: [out]}}\nexecution: {kind: python, script: x.py}");
    let tool = setup.tool("x");
    let call = approved(&tool, json!({})).await;
    let running = tokio::spawn({
        let tool = Arc::clone(&tool);
        async move { tool.run(&call).await }
    });
    let out = setup.tools().join("out");
    eventually("the script waits", || out.join("begun").exists()).await;
    swap(&setup, "tools/helper.py", "value = 'new'\n");
    fs::write(out.join("go"), "").unwrap();
    assert_eq!(*running.await.unwrap().unwrap().data, json!("old"));
}

#[tokio::test]
async fn an_approved_call_never_uses_a_warm_worker() {
    let setup = Setup::new().await;
    setup.write(
        "tools/m.py",
        "calls = 0\ndef f(input):\n    global calls\n    calls += 1\n    return calls\n",
    );
    setup.pack("x", "execution: {kind: python, module: 'm:f', workers: 1}");
    let tool = setup.tool("x");
    for n in 1..=2 {
        assert_eq!(*run(&tool, json!({})).await.unwrap().data, json!(n));
    }
    let call = approved(&tool, json!({})).await;
    assert_eq!(*tool.run(&call).await.unwrap().data, json!(1), "in a process of its own");
    assert_eq!(*run(&tool, json!({})).await.unwrap().data, json!(3));
}

#[tokio::test]
async fn data_may_change_but_code_among_it_may_not() {
    let setup = Setup::new().await;
    setup.write("tools/data/rows.txt", "one").write("tools/data/plug.py", "value = 'old'\n");
    setup.write(
        "tools/x.py",
        "import json, os, sys\nhere = os.path.dirname(os.path.abspath(__file__)) + '/data'\n\
         sys.path.insert(0, here)\nimport plug\n\
         print(json.dumps([plug.value, open(here + '/rows.txt').read()]))\n",
    );
    setup.pack("x", "caps: {files: {read: [data]}}\nexecution: {kind: python, script: x.py}");
    let tool = setup.tool("x");
    let call = approved(&tool, json!({})).await;
    swap(&setup, "tools/data/rows.txt", "two");
    assert_eq!(*tool.run(&call).await.unwrap().data, json!(["old", "two"]));
    swap(&setup, "tools/data/plug.py", "value = 'new'\n");
    assert_code(&tool.run(&call).await.unwrap_err(), Code::Denied, "code changed");
}

#[tokio::test]
async fn modules_of_node_and_php_are_code_too() {
    if !is_missing("node").await {
        let setup = Setup::new().await;
        setup.write("tools/x.js", "const v = require('./lib/v');\nmodule.exports = () => v;\n");
        setup.write("tools/lib/v.js", "module.exports = 'old';\n");
        setup.pack("x", "execution: {kind: node, node: x.js}");
        refuses(&setup, "tools/lib/v.js", "module.exports = 'new';\n").await;
    }
    if !is_missing("php").await {
        let setup = Setup::new().await;
        setup.write("tools/x.php", "<?php\necho json_encode(require __DIR__ . '/v.php');\n");
        setup.write("tools/v.php", "<?php return 'old';\n");
        setup.pack("x", "execution: {kind: php, php: x.php}");
        refuses(&setup, "tools/v.php", "<?php return 'new';\n").await;
    }
}

#[tokio::test]
async fn the_data_of_a_gateway_is_never_copied() {
    let setup = Setup::new().await;
    setup
        .write("tools/.powerstrip/powerstrip.db", "")
        .write("tools/.powerstrip/admin.token", "psa_x");
    setup.write(
        "tools/x.py",
        "import json, os\nhere = os.path.dirname(os.path.abspath(__file__))\n\
         print(json.dumps(os.path.exists(here + '/.powerstrip')))\n",
    );
    setup.pack("x", "execution: {kind: python, script: x.py}");
    let tool = setup.tool("x");
    let call = approved(&tool, json!({})).await;
    assert_eq!(*tool.run(&call).await.unwrap().data, json!(false));
}
