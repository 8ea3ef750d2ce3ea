//! Callers that try to inject arguments, files and templates.

use proto::Code;
use serde_json::json;

use crate::support::{Options, Setup, assert_code};

/// Prints its arguments as a JSON list, so that a test sees exactly what a program gets.
const ARGV: &str = "import json, sys\nprint(json.dumps(sys.argv[1:]))\n";

async fn setup(cmd: &str, more: &str) -> Setup {
    let setup = Setup::with(Options {
        env: vec![("TOKEN", "s3cret-t0ken".to_owned())],
        ..Options::default()
    })
    .await;
    setup.write("tools/argv.py", ARGV);
    let script = setup.tools().join("argv.py");
    setup.pack(
        "x",
        &format!(
            "execution: {{kind: cli, cmd: [python3, '{}', {cmd}]{more}}}\nenv: {{passthrough: [TOKEN]}}",
            script.display()
        ),
    );
    setup
}

#[tokio::test]
async fn a_value_is_one_argument_whatever_it_contains() {
    let setup = setup("'{{input.q}}', 'q={{input.q}}'", "").await;
    for value in [
        ";id",
        "$(id)",
        "`id`",
        "a b  c",
        "line\nbreak",
        "tab\tand\rreturn",
        "'\"\\",
        "a -o/etc/x",
        "*",
        "",
        "é\u{202e}x",
        "| tee /tmp/x",
        "&& id",
        "> /tmp/x",
    ] {
        let got = setup.data("x", json!({"q": value})).await;
        assert_eq!(got, json!([value, format!("q={value}")]), "{value:?}");
    }
}

#[tokio::test]
async fn flags_and_files_are_refused() {
    let setup = setup("'{{input.q}}'", "").await;
    for value in ["-o/etc/x", "--output=/etc/x", "-", "@/etc/passwd", "@-"] {
        let failure = setup.failure("x", json!({"q": value})).await;
        assert_code(&failure, Code::InvalidInput, "must not begin");
    }
    let failure = setup.failure("x", json!({"q": "a\0b"})).await;
    assert_code(&failure, Code::InvalidInput, "NUL");
}

#[tokio::test]
async fn leading_dashes_that_the_author_wrote_or_allowed_pass() {
    let setup = setup("'-n', '--q={{input.q}}', '@{{input.q}}'", "").await;
    assert_eq!(setup.data("x", json!({"q": "-x"})).await, json!(["-n", "--q=-x", "@-x"]));
    let setup = self::setup("'{{input.q}}'", ", allowLeadingDash: true").await;
    assert_eq!(setup.data("x", json!({"q": "-x"})).await, json!(["-x"]));
}

#[tokio::test]
async fn templates_in_the_input_are_text() {
    let setup = setup("'v={{input.q}}'", "").await;
    for payload in [
        "{{env.TOKEN}}",
        "{{ self }}{{ config }}",
        "{{ ''.__class__ }}",
        "{% include '/etc/passwd' %}",
        "{{ 'x' * 100000000 }}",
        "${jndi:ldap://x}",
        "#{7*7}",
    ] {
        assert_eq!(setup.data("x", json!({"q": payload})).await, json!([format!("v={payload}")]));
    }
}

#[tokio::test]
async fn a_template_that_grows_is_stopped() {
    let setup = setup("'{{ input.q * input.n }}'", "").await;
    for n in [100_000_000_u64, 10_000_000_000] {
        let failure = setup.failure("x", json!({"q": "x", "n": n})).await;
        assert_eq!(failure.code, Code::InvalidInput, "{failure}");
    }
    assert_eq!(setup.data("x", json!({"q": "x", "n": 3})).await, json!(["xxx"]));
}

#[tokio::test]
async fn a_secret_does_not_come_back_in_an_error() {
    let setup = setup("'v'", "").await;
    setup.write("tools/leak.py", "import os, sys\nsys.exit('bad token ' + os.environ['TOKEN'])\n");
    for mode in ["", ", workers: 1"] {
        setup.pack(
            "leak",
            &format!(
                "execution: {{kind: python, script: leak.py{mode}}}\nenv: {{passthrough: [TOKEN]}}"
            ),
        );
        let failure = setup.failure("leak", json!({})).await;
        assert_code(&failure, Code::Internal, "bad token ****");
    }
}

#[tokio::test]
async fn a_variable_that_is_not_set_is_unsupported() {
    let setup = Setup::new().await;
    setup.pack(
        "x",
        "execution: {kind: cli, cmd: [echo, '{{env.TOKEN}}']}\nenv: {passthrough: [TOKEN]}",
    );
    assert_code(&setup.failure("x", json!({})).await, Code::Unsupported, "`TOKEN`");
}
