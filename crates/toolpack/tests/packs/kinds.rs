use egress::sandbox::{Mode, Tier};
use proto::Code;
use serde_json::json;
use strip::{Job, Tool};

use crate::support::{Options, Setup, assert_code, is_missing, request};

#[tokio::test]
async fn cli_elements_are_filled_in() {
    let setup = Setup::with(Options {
        env: vec![("REGION", "eu".to_owned()), ("OTHER", "hidden".to_owned())],
        ..Options::default()
    })
    .await;
    setup.pack(
        "printf",
        r#"execution: {kind: cli, cmd: [printf, '{"q":"%s","id":"%s","r":"%s"}', '{{input.q}}', '{{id}}@{{version}}', '{{env.REGION}}']}
env: {passthrough: [REGION]}"#,
    );
    setup.pack("cat", "execution: {kind: cli, cmd: [cat]}");
    setup.pack("env", r#"execution: {kind: cli, cmd: [sh, -c, 'printf "{\"vars\":\"%s\"}" "$(env | cut -d= -f1 | sort | tr "\n" " ")"']}
env: {passthrough: [REGION]}"#);
    assert_eq!(
        setup.data("printf", json!({"q": "a b"})).await,
        json!({"q": "a b", "id": "demo.printf@1.0.0", "r": "eu"})
    );
    // The request itself is on stdin.
    assert_eq!(setup.data("cat", json!({"x": [1]})).await, json!({"input": {"x": [1]}}));
    let vars = setup.data("env", json!({})).await["vars"].to_string();
    assert!(vars.contains("REGION") && !vars.contains("OTHER") && !vars.contains("HOME"), "{vars}");
}

#[tokio::test]
async fn programs_may_be_next_to_the_pack() {
    let setup = Setup::new().await;
    setup.write("tools/bin/hello", "#!/bin/sh\necho '\"hello\"'\n");
    let file = setup.tools().join("bin/hello");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    setup.pack("hello", "execution: {kind: cli, cmd: [./bin/hello]}");
    assert_eq!(setup.data("hello", json!({})).await, json!("hello"));
}

#[tokio::test]
async fn the_callers_key_is_forwarded() {
    let setup = Setup::new().await;
    setup.pack(
        "cat",
        "deterministic: false\nidempotency: {key: required}\nexecution: {kind: cli, cmd: [cat]}",
    );
    let tool = setup.tool("cat");
    let mut request = request(json!(1));
    let keyless = Job::new(request.clone());
    assert_code(&tool.run(&keyless).await.unwrap_err(), Code::InvalidInput, "Idempotency-Key");
    request.idempotency_key = Some("k1".to_owned());
    let output = tool.run(&Job::new(request)).await.unwrap();
    assert_eq!(*output.data, json!({"input": 1, "meta": {"idempotencyKey": "k1"}}));
}

#[tokio::test]
async fn python_scripts_and_functions() {
    let setup = Setup::new().await;
    setup.write("tools/double.py", "import json, sys\nrequest = json.loads(sys.stdin.readline())\nprint(json.dumps({'n': request['input']['n'] * 2}))\n");
    setup.write("tools/pkg/__init__.py", "");
    setup.write("tools/pkg/math.py", "from . import helper\ndef triple(input):\n    print('not an answer')\n    return {'n': helper.times(input['n'], 3)}\nasync def later(input, meta):\n    return meta\n");
    setup.write("tools/pkg/helper.py", "def times(a, b):\n    return a * b\n");
    setup.write("lib/__init__.py", "");
    setup.write("lib/outer.py", "def four(input):\n    return 4\n");
    setup.pack("double", "execution: {kind: python, script: ./double.py}");
    setup.pack("triple", "execution: {kind: python, module: 'pkg.math:triple'}");
    setup.pack("later", "execution: {kind: python, module: 'pkg.math:later'}");
    setup.pack("four", "execution: {kind: python, module: 'lib.outer:four'}");
    assert_eq!(setup.data("double", json!({"n": 4})).await, json!({"n": 8}));
    assert_eq!(setup.data("triple", json!({"n": 4})).await, json!({"n": 12}));
    assert_eq!(setup.data("four", json!({})).await, json!(4));
    let mut request = request(json!({}));
    request.idempotency_key = Some("k".to_owned());
    let output = setup.tool("later").run(&Job::new(request)).await.unwrap();
    assert_eq!(*output.data, json!({"idempotencyKey": "k"}));
}

#[tokio::test]
async fn python_errors_are_named() {
    let setup = Setup::new().await;
    setup.write("tools/m.py", "def fails(input):\n    raise ValueError('too blue')\ndef odd(input):\n    return object()\ndef nan(input):\n    return float('nan')\n");
    for (name, function, words) in [
        ("fails", "m:fails", "ValueError: too blue"),
        ("odd", "m:odd", "not JSON serializable"),
        ("nan", "m:nan", "not JSON compliant"),
        ("gone", "m:gone", "gone"),
        ("nomod", "no_such_module:x", "no_such_module"),
    ] {
        for workers in ["", ", workers: 1"] {
            setup
                .pack(name, &format!("execution: {{kind: python, module: '{function}'{workers}}}"));
            assert_code(&setup.failure(name, json!({})).await, Code::Internal, words);
        }
    }
}

#[tokio::test]
async fn node_scripts_and_functions() {
    if is_missing("node").await {
        return;
    }
    let setup = Setup::new().await;
    setup.write("tools/sum.js", "let text = '';\nprocess.stdin.on('data', (c) => { text += c; });\nprocess.stdin.on('end', () => {\n  const { input } = JSON.parse(text);\n  console.log(JSON.stringify({ sum: input.reduce((a, b) => a + b, 0) }));\n});\n");
    setup.write("tools/fn.js", "module.exports = async (input, meta) => { console.log('noise'); return { twice: input.n * 2 }; };\n");
    setup.write("tools/esm.mjs", "export default function (input) { return [input, null]; }\n");
    setup
        .write("tools/throws.js", "module.exports = () => { throw new RangeError('too red'); };\n");
    for workers in ["", ", workers: 2"] {
        setup.pack("sum", &format!("execution: {{kind: node, node: ./sum.js{workers}}}"));
        setup.pack("fn", &format!("execution: {{kind: node, node: ./fn.js{workers}}}"));
        setup.pack("esm", &format!("execution: {{kind: node, node: ./esm.mjs{workers}}}"));
        setup.pack("throws", &format!("execution: {{kind: node, node: ./throws.js{workers}}}"));
        assert_eq!(setup.data("sum", json!([1, 2, 3])).await, json!({"sum": 6}));
        assert_eq!(setup.data("sum", json!([4])).await, json!({"sum": 4}));
        assert_eq!(setup.data("fn", json!({"n": 4})).await, json!({"twice": 8}));
        assert_eq!(setup.data("esm", json!(7)).await, json!([7, null]));
        assert_eq!(setup.failure("throws", json!(7)).await.code, Code::Internal);
    }
    assert_code(&setup.failure("throws", json!(7)).await, Code::Internal, "RangeError: too red");
}

#[tokio::test]
async fn php_scripts_and_functions() {
    if is_missing("php").await {
        return;
    }
    let setup = Setup::new().await;
    setup.write("tools/up.php", "<?php\nfunction up($s) { return strtoupper($s); }\n$request = json_decode(fgets(STDIN), true);\necho json_encode(['up' => up($request['input']['s'])]), \"\\n\";\n");
    setup.write("tools/fn.php", "<?php\nreturn function (array $input) { echo 'noise'; return ['len' => strlen($input['s'])]; };\n");
    setup.write("tools/warns.php", "<?php\necho $undefined;\necho json_encode(1), \"\\n\";\n");
    for workers in ["", ", workers: 1"] {
        setup.pack("up", &format!("execution: {{kind: php, php: ./up.php{workers}}}"));
        setup.pack("fn", &format!("execution: {{kind: php, php: ./fn.php{workers}}}"));
        setup.pack("warns", &format!("execution: {{kind: php, php: ./warns.php{workers}}}"));
        assert_eq!(setup.data("up", json!({"s": "é x"})).await["up"], json!("é X"));
        assert_eq!(setup.data("up", json!({"s": "b"})).await, json!({"up": "B"}));
        assert_eq!(setup.data("fn", json!({"s": "abc"})).await, json!({"len": 3}));
        assert_eq!(setup.data("warns", json!({})).await, json!(1));
        assert_eq!(setup.failure("fn", json!("not an array")).await.code, Code::Internal);
    }
}

#[tokio::test]
async fn missing_programs_are_unsupported() {
    let setup = Setup::new().await;
    setup.write("tools/x.py", "");
    setup.pack("cli", "execution: {kind: cli, cmd: [no-such-program-here]}");
    setup.pack("python", "execution: {kind: python, script: x.py, python: no-such-python}");
    setup.pack(
        "warm",
        "execution: {kind: python, script: x.py, python: no-such-python, workers: 1}",
    );
    setup.pack("path", "execution: {kind: php, php: x.py, phpBinary: ./bin/php}");
    for name in ["cli", "python", "warm", "path"] {
        assert_code(&setup.failure(name, json!({})).await, Code::Unsupported, "not found");
    }
}

#[tokio::test]
async fn answers_are_mapped_and_keys_are_made() {
    let setup = Setup::new().await;
    setup.pack(
        "cat",
        "execution: {kind: cli, cmd: [cat]}\nonSuccess: {path: '$.input.rows[*].n'}\ntemplating: {engine: jinja2, cacheKey: '{{id}}|{{ input.rows | length }}'}",
    );
    let input = json!({"rows": [{"n": 1}, {"n": 2}]});
    assert_eq!(setup.data("cat", input.clone()).await, json!([1, 2]));
    let tool = setup.tool("cat");
    assert_eq!(tool.cache_key(&input).unwrap().as_deref(), Some("demo.cat|2"));
    assert_eq!(tool.cache_key(&json!({})).unwrap_err().code, Code::InvalidInput);
}

#[tokio::test]
async fn a_pack_stays_within_its_caps() {
    let setup = Setup::new().await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let input = json!({"port": listener.local_addr().unwrap().port()});
    setup.write("secret.txt", "s");
    setup.write("out/.keep", "");
    setup.write(
        "tools/probe.py",
        r#"
import json, os, socket, sys
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
port = json.loads(sys.stdin.readline())["input"]["port"]
def attempt(action):
    try:
        action()
        return True
    except OSError:
        return False
print(json.dumps({
    "own": attempt(lambda: open("own.txt", "w").write("x")),
    "outside": attempt(lambda: open(os.path.join(root, "secret.txt")).read()),
    "pack": attempt(lambda: open(os.path.join(root, "tools", "new.txt"), "w")),
    "granted": attempt(lambda: open(os.path.join(root, "out", "x.txt"), "w").write("x")),
    "network": attempt(lambda: socket.create_connection(("127.0.0.1", port), 10).close()),
}))
"#,
    );
    setup.pack("plain", "execution: {kind: python, script: probe.py}");
    setup.pack("granted", "execution: {kind: python, script: probe.py}\ncaps: {network: [https], files: {write: [../out]}}");
    let tool = setup.tool("plain");
    let plain = setup.data("plain", input.clone()).await;
    let granted = setup.data("granted", input.clone()).await;
    assert_eq!(plain["own"], true);
    assert_eq!(
        granted,
        json!({"own": true, "outside": granted["outside"], "pack": granted["pack"], "granted": true, "network": true})
    );
    let output = crate::support::run(&tool, input).await.unwrap();
    match tool.health().tier.unwrap() {
        Tier::T0 => {
            testkit::skip_on_this_host("it offers no sandbox");
            assert!(output.warnings[0].contains("T0"));
        }
        _ => {
            assert_eq!(
                plain,
                json!({"own": true, "outside": false, "pack": false, "granted": false, "network": false})
            );
            assert!(output.warnings.is_empty());
        }
    }
}

#[tokio::test]
async fn a_required_tier_that_the_host_lacks_is_unsupported() {
    let options = |sandbox| Options { sandbox, tier: Tier::T0, ..Options::default() };
    let setup = Setup::with(options(Mode::Required(Tier::T1))).await;
    setup.pack("x", "execution: {kind: cli, cmd: [cat]}");
    assert_code(&setup.failure("x", json!({})).await, Code::Unsupported, "tier");

    let lenient = Setup::with(options(Mode::Auto)).await;
    lenient.pack("x", "execution: {kind: cli, cmd: [cat]}");
    let output = lenient.run("x", json!({})).await.unwrap();
    assert!(output.warnings[0].contains("T0"), "{:?}", output.warnings);
}
