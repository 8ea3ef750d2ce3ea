//! Templates that ask for too much: of callers in workflows, and of operators in prompts.

use serde_json::{Value, json};
use testkit::{eventually, mcp};

use crate::workflows::support::{call, ready, start, with_ledger};

/// Overflows the stack when its value is dropped, if values have no depth.
const DEEP: &str = "{% set ns = namespace(x=1) %}{% for i in range(9000) %}{% set ns.x = [[[[[[[[[[[[[[[[ns.x]]]]]]]]]]]]]]]] %}{% endfor %}";

/// Takes gigabytes, if values have no size.
const DOUBLING: &str = "{% set ns = namespace(x='xxxxxxxx') %}{% for i in range(31) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x | length }}";

fn task(text: &str) -> Value {
    json!({"id": "a", "tool": "t:work", "arguments": {"task": "a", "value": text}})
}

/// The most memory that a process has used, in MiB.
fn peak_mib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().split(' ').next().unwrap().parse::<u64>().unwrap() / 1024
}

#[tokio::test]
async fn statements_of_callers_are_faults_of_the_dag() {
    let gateway = start("").await;
    let pid = gateway.pid();
    let nested = format!("{{{{ {}1 }}}}", "not ".repeat(16_000));
    for text in [DEEP, DOUBLING, "{% raw %}x{% endraw %}", nested.as_str()] {
        let mut condition = task("x");
        condition["when"] = json!(text);
        let mut list = task("x");
        list["for_each"] = json!([text]);
        let mut undo = task("x");
        undo["compensate"] = json!({"tool": "t:work", "arguments": {"task": text}});
        let sub = json!({"id": "s", "workflow": {"tasks": [task(text)]}});
        for (path, one) in [
            ("/tasks/0/arguments/value", task(text)),
            ("/tasks/0/when", condition),
            ("/tasks/0/for_each/0", list),
            ("/tasks/0/compensate/arguments/task", undo),
            ("/tasks/0/workflow/tasks/0/arguments/value", sub),
        ] {
            let answer = call(&gateway, "execute_dag", json!({"workflow": {"tasks": [one]}})).await;
            assert_eq!(answer["error"]["code"], -32602, "{answer:#}");
            let fault = &answer["error"]["data"]["faults"][0];
            assert_eq!(fault["code"], "bad_expression", "{answer:#}");
            assert_eq!(fault["path"], path, "{answer:#}");
        }
    }
    assert_eq!(gateway.get("/healthz").await.status, 200);
    assert_eq!(gateway.pid(), pid);
}

#[tokio::test]
async fn expressions_without_bounds_fail_their_task_while_others_work() {
    let gateway = start("").await;
    let upper = "{{ ('x' * 60000) ".to_owned() + &"| upper | lower ".repeat(45) + "| length }}";
    let texts = [
        "{{ 'x' * 99999999 }}",
        "{{ ('x' * 3000000) ~ ('x' * 3000000) }}",
        "{{ [[1] * 100000] * 100000 }}",
        "{{ range(99999) | list | map('string') | join('x' * 10000) }}",
        "{{ ('ab' * 90000) | replace('', 'ab' * 90000) }}",
        "{{ (('a ' * 100000) | split) * 10 }}",
        "{{ ('x' * 90000) | list | tojson(8) | indent(9999) }}",
        &upper,
    ];
    let tasks: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| {
            json!({"id": format!("a{at}"), "tool": "t:work", "on_error": "continue", "arguments": {"task": "a", "value": text}})
        })
        .collect();
    let attack = call(&gateway, "execute_dag", json!({"workflow": {"tasks": tasks}}));
    let others = async {
        for _ in 0..10 {
            assert_eq!(gateway.get("/healthz").await.status, 200);
            let echo = gateway.call("demo.echo", &json!({"message": "still here"})).await;
            assert_eq!(echo.status, 200, "{}", echo.body);
        }
    };
    let (answer, ()) = tokio::join!(attack, others);
    for result in answer["results"].as_array().unwrap() {
        assert_eq!(result["status"], "failed", "{result:#}");
        assert_eq!(result["error"]["code"], "INVALID_INPUT", "{result:#}");
        let message = result["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("/arguments/value: "), "{message}");
    }
    let peak = peak_mib(gateway.pid());
    assert!(peak < 600, "{peak} MiB");
}

#[tokio::test]
async fn prompts_of_operators_fail_when_their_values_grow_too_large() {
    let spec = "description: Grows.\ninputSchema: { type: object, properties: { rounds: { type: integer, default: 1 } } }\n";
    let with_rounds = |body: &str| {
        body.replace("range(9000)", "range(rounds)").replace("range(31)", "range(rounds)")
    };
    let gateway = with_ledger("")
        .file("prompts/packs/grow/deep.v1.md", &with_rounds(DEEP))
        .file("prompts/packs/grow/deep.spec.yaml", spec)
        .file("prompts/packs/grow/double.v1.md", &with_rounds(DOUBLING))
        .file("prompts/packs/grow/double.spec.yaml", spec)
        .start()
        .await;
    ready(&gateway).await;
    let get = async |name: &str, rounds: u32| {
        let params = json!({"name": name, "arguments": {"rounds": rounds.to_string()}});
        mcp(&gateway.url("/mcp"), "prompts/get", params).await
    };
    let small = eventually("the prompts are served", || async {
        let answer = get("grow/double", 2).await;
        answer["result"]["messages"][0]["content"]["text"].as_str().map(str::to_owned)
    })
    .await;
    assert_eq!(small, "32");
    for (name, rounds, reason) in [("grow/double", 31, "4 MiB"), ("grow/deep", 9_000, "64 levels")]
    {
        let answer = get(name, rounds).await;
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(reason), "{answer:#}");
    }
    assert_eq!(gateway.get("/healthz").await.status, 200);
    let peak = peak_mib(gateway.pid());
    assert!(peak < 600, "{peak} MiB");
}
