//! Runs over REST, both eras of MCP and commands, and across a restart.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Gateway, Response, eventually};

use crate::servers::peer::{LegacyPeer, Peer};

const ASK: &str = "powerstrip:request_user_input";
const END: &str = "powerstrip:complete_workflow";
const WIRE_ASK: &str = "powerstrip__request_user_input";

fn question(slot: &str) -> Value {
    json!({"slot_type": "choice", "slot_id": slot, "prompt_key": "Which tone?", "options": ["plain", "warm"]})
}

async fn request(
    gateway: &Gateway,
    method: Method,
    path: &str,
    body: &Value,
    token: Option<&str>,
) -> Response {
    let mut request = reqwest::Client::new().request(method, gateway.url(path));
    if !body.is_null() {
        request = request.json(body);
    }
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    testkit::send(request).await
}

/// Calls a tool over REST in a run.
async fn call_in_run(gateway: &Gateway, run: &str, tool: &str, input: Value) -> Response {
    gateway.call_with(tool, &input, &[("powerstrip-run", run)]).await
}

/// Asks over REST in a run with a short timeout: the answer is `waiting` after nine tenths of it, which leaves a busy
/// machine the rest.
async fn ask_with_short_timeout(gateway: &Gateway, run: &str, question: Value) -> Response {
    let headers = [("powerstrip-run", run), ("powerstrip-timeout-ms", "3000")];
    gateway.call_with(ASK, &question, &headers).await
}

async fn call_two_tools(gateway: &Gateway, run: &str) {
    for message in ["a", "b"] {
        let answer = call_in_run(gateway, run, "demo.echo", json!({"message": message})).await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }
}

/// Runs a command with the gateway's config; returns its exit code and output, or its standard error if it failed.
async fn command(gateway: &Gateway, arguments: &[&str]) -> (Option<i32>, String) {
    let output = gateway.run(arguments).await;
    let text = if output.code == Some(0) { output.stdout } else { output.stderr };
    (output.code, text)
}

/// The run that waits for an answer.
async fn waiting(gateway: &Gateway) -> Value {
    eventually("a run waits", || async {
        let listed = gateway.get("/v1/runs?state=waiting").await;
        listed.body["runs"].as_array().and_then(|runs| runs.first()).cloned()
    })
    .await
}

#[tokio::test]
async fn a_rest_run_asks_the_operator_and_continues_after_a_restart() {
    let gateway = Gateway::start().await;
    let early = call_in_run(&gateway, "report", ASK, question("tone")).await;
    assert_eq!((early.status, &early.body["errors"][0]["code"]), (403, &json!("DENIED")));
    assert!(early.body["errors"][0]["message"].as_str().unwrap().contains("2 data tools"));
    call_two_tools(&gateway, "report").await;
    let asked = ask_with_short_timeout(&gateway, "report", question("tone")).await;
    assert_eq!(asked.body["data"]["status"], json!("waiting"), "{asked:?}");
    assert_eq!(asked.body["data"]["run_id"], json!("report"));

    let gateway = gateway.restart().await;
    let run = waiting(&gateway).await;
    assert_eq!((&run["name"], &run["data_tools"]), (&json!("report"), &json!(2)));
    let path = format!("/v1/runs/{}", run["id"].as_str().unwrap());
    let shown = gateway.get(&path).await.body;
    assert_eq!(shown["questions"][0]["prompt"], json!("Which tone?"), "{shown}");
    assert_eq!(shown["calls"].as_array().unwrap().len(), 4, "{shown}");
    // The tool returned the run's name, which is as good as the id.
    assert_eq!(gateway.get("/v1/runs/report").await.body["id"], run["id"]);
    assert_eq!(gateway.get("/v1/runs/no-such-run").await.status, 404);

    let answers = format!("{path}/answers");
    let good = json!({"slot_id": "tone", "value": "warm"});
    let token = gateway.admin_token();
    // A local agent acts as the local user, so the local user cannot answer.
    assert_eq!(request(&gateway, Method::POST, &answers, &good, None).await.status, 403);
    for (bad, status) in [
        (json!({"slot_id": "tone", "value": "loud"}), 400),
        (json!({"slot_id": "tone"}), 400),
        (json!({"slot_id": "else", "value": "warm"}), 404),
        (json!([]), 400),
    ] {
        let refused = request(&gateway, Method::POST, &answers, &bad, Some(&token)).await;
        assert_eq!(refused.status, status, "{bad}: {refused:?}");
    }
    let elsewhere = "/v1/runs/run_00000000000000000000000000000000/answers";
    assert_eq!(request(&gateway, Method::POST, elsewhere, &good, Some(&token)).await.status, 404);
    let answered = request(&gateway, Method::POST, &answers, &good, Some(&token)).await;
    assert_eq!((answered.status, &answered.body["state"]), (200, &json!("answered")));
    let again = request(&gateway, Method::POST, &answers, &good, Some(&token)).await;
    assert_eq!(again.status, 400, "the first answer counts: {again:?}");

    let output = call_in_run(&gateway, "report", ASK, question("tone")).await;
    assert_eq!(output.body["data"]["value"], json!("warm"), "{output:?}");
    let ended = call_in_run(&gateway, "report", END, json!({"summary": "done"})).await;
    assert_eq!(ended.body["data"]["status"], json!("completed"), "{ended:?}");
    let gateway = gateway.restart().await;
    let late = call_in_run(&gateway, "report", "demo.echo", json!({"message": "x"})).await;
    assert_eq!(late.status, 403);
    let message = late.body["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("`report`") && message.contains("Powerstrip-Run"), "{message}");
    assert_eq!(
        gateway.get("/v1/runs?state=completed").await.body["runs"][0]["summary"],
        json!("done")
    );
    for bad in ["/v1/runs?state=odd", "/v1/runs?limit=x", "/v1/runs?else=1"] {
        assert_eq!(gateway.get(bad).await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn an_answer_by_command_resumes_the_waiting_call() {
    let gateway = Gateway::start().await;
    call_two_tools(&gateway, "r").await;
    let mut asking = tokio::spawn({
        let url = gateway.url(&format!("/mcp/tool/{ASK}"));
        let request = reqwest::Client::new().post(url).header("powerstrip-run", "r");
        let request = request.json(&question("tone"));
        async move {
            // Repeats the call while the answer is `waiting`.
            loop {
                let asked = request.try_clone().unwrap().send().await.unwrap();
                let answer = asked.json::<Value>().await.unwrap();
                if answer["data"]["status"] != "waiting" {
                    return answer;
                }
            }
        }
    });
    let run = tokio::select! {
        run = waiting(&gateway) => run,
        early = &mut asking => panic!("the call did not wait: {early:?}"),
    };
    let id = run["id"].as_str().unwrap();
    let (code, output) = command(&gateway, &["runs"]).await;
    assert!(code == Some(0) && output.contains(id) && output.contains("waiting"), "{output}");
    let (_, output) = command(&gateway, &["runs", "show", &id[..12]]).await;
    assert!(output.contains("Which tone?"), "{output}");
    let (code, output) = command(&gateway, &["runs", "answer", id, "--text", "loud"]).await;
    assert!(code == Some(1) && output.contains("`plain`, `warm`"), "{output}");
    let (code, output) = command(&gateway, &["runs", "answer", id, "--value", "warm"]).await;
    assert!(code == Some(2) && output.contains("--text"), "{output}");
    let (code, output) = command(&gateway, &["runs", "answer", id, "--value", "\"warm\""]).await;
    assert_eq!(code, Some(0), "{output}");
    assert_eq!(asking.await.unwrap()["data"]["value"], json!("warm"));

    let arguments = ["call", "demo.echo", "--run", "r", "--input", "{\"message\":\"c\"}"];
    assert_eq!(command(&gateway, &arguments).await.0, Some(0));
    let shown = gateway.get(&format!("/v1/runs/{id}")).await.body;
    assert_eq!(shown["data_tools"], json!(3), "{shown}");
}

#[tokio::test]
async fn a_legacy_session_is_a_run_and_its_user_is_asked() {
    let gateway = Gateway::start().await;
    let peer = LegacyPeer::open(&gateway, json!({"elicitation": {}})).await;
    let never = |message: &Value| -> Value { panic!("asked too early: {message}") };
    let (_, early) = peer.call(WIRE_ASK, question("tone"), never).await;
    assert_eq!(early["result"]["isError"], json!(true), "{early}");
    for message in ["a", "b"] {
        let (_, answer) = peer.call("demo.echo", json!({"message": message}), never).await;
        assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
    }
    // Another session of the same caller has done nothing yet.
    let other = LegacyPeer::open(&gateway, json!({})).await;
    let (_, early) = other.call(WIRE_ASK, question("tone"), never).await;
    assert_eq!(early["result"]["isError"], json!(true), "{early}");

    let accepts = |message: &Value| {
        assert_eq!(message["params"]["message"], json!("Which tone?"), "{message}");
        json!({"action": "accept", "content": {"value": "plain"}})
    };
    let (asked, answer) = peer.call(WIRE_ASK, question("tone"), accepts).await;
    assert_eq!(asked, 1);
    assert_eq!(answer["result"]["structuredContent"]["value"], json!("plain"), "{answer}");
    let (_, ended) =
        peer.call("powerstrip__complete_workflow", json!({"summary": "x"}), never).await;
    assert_eq!(ended["result"]["isError"], json!(false), "{ended}");
    let (_, late) = peer.call("demo.echo", json!({"message": "x"}), never).await;
    let text = late["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("new session"), "{text}");
    let (_, fine) = other.call("demo.echo", json!({"message": "x"}), never).await;
    assert_eq!(fine["result"]["isError"], json!(false), "{fine}");
}

#[tokio::test]
async fn a_modern_client_uses_a_named_or_implicit_run_and_answers_in_rounds() {
    let gateway = Gateway::start().await;
    let mut peer = Peer::modern(&gateway);
    let status = |answer: &Value| answer["result"]["structuredContent"]["status"].clone();
    // Calls without a name share one run; a name, by either key, makes another.
    for message in ["a", "b"] {
        peer.call("demo.echo", json!({"message": message}), json!({})).await;
        let meta = json!({"run_id": "named-run"});
        peer.call("demo.echo", json!({"message": message}), meta).await;
    }
    let short_timeout = |meta: Value| {
        let mut meta = meta;
        meta["powerstrip/timeout-ms"] = json!(3_000);
        meta
    };
    let named = short_timeout(json!({"powerstrip/run-id": "named-run"}));
    let asked = peer.call(WIRE_ASK, question("tone"), named).await.answer;
    assert_eq!(status(&asked), json!("waiting"), "{asked}");
    assert_eq!(asked["result"]["structuredContent"]["run_id"], json!("named-run"));
    let fresh = peer
        .call(WIRE_ASK, question("tone"), short_timeout(json!({"run_id": "fresh"})))
        .await
        .answer;
    assert_eq!(fresh["result"]["isError"], json!(true), "{fresh}");
    for bad in [json!(""), json!(7), json!("a\nb"), json!("x".repeat(201))] {
        let refused = peer.call("demo.echo", json!({"message": "x"}), json!({"run_id": bad})).await;
        assert_eq!(refused.answer["error"]["code"], json!(-32602), "{refused:?}");
    }

    peer.capabilities = json!({"elicitation": {}});
    let asked = peer.call(WIRE_ASK, question("tone"), json!({})).await.answer;
    assert_eq!(asked["result"]["resultType"], json!("input_required"), "{asked}");
    let answer = json!({"action": "accept", "content": {"value": "warm"}});
    let params = json!({"name": WIRE_ASK, "arguments": question("tone"), "inputResponses": {"answer": answer}});
    let done = peer.ask("tools/call", params).await.answer;
    assert_eq!(done["result"]["structuredContent"]["value"], json!("warm"), "{done}");

    // A caller with a progress token receives progress.
    let meta = short_timeout(json!({"run_id": "named-run", "progressToken": "p"}));
    peer.capabilities = json!({});
    let output = peer.call(WIRE_ASK, question("tone"), meta).await;
    assert!(output.notices("notifications/progress").count() > 0, "{output:?}");
    assert_eq!(status(&output.answer), json!("waiting"));
}

#[tokio::test]
async fn a_rest_batch_is_validated_first_and_runs_its_end_last() {
    let gateway = Gateway::start().await;
    let batch = async |body: Value| request(&gateway, Method::POST, "/v1/calls", &body, None).await;
    let done = batch(json!({"run_id": "turn", "calls": [
        {"id": "end", "tool": END, "arguments": {"summary": "done"}},
        {"id": "a", "tool": "demo.echo", "arguments": {"message": "a"}},
        {"id": "b", "tool": "demo.echo", "arguments": {"message": "b"}, "depends_on": ["a"]},
        {"id": "c", "tool": "demo.echo", "arguments": {"message": 7}},
        {"id": "d", "tool": "demo.echo", "arguments": {"message": "d"}, "depends_on": ["c"]},
    ]}))
    .await;
    assert_eq!((done.status, &done.body["run_id"]), (200, &json!("turn")), "{done:?}");
    let answers = done.body["answers"].as_array().unwrap();
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["end", "a", "b", "c", "d"]);
    let ok: Vec<_> = answers.iter().map(|answer| answer["ok"].as_bool().unwrap()).collect();
    assert_eq!(ok, [true, true, true, false, false], "{done:?}");
    assert_eq!(answers[0]["data"]["data_tools"], json!(2));
    assert_eq!(answers[3]["errors"][0]["code"], json!("INVALID_INPUT"));
    assert_eq!(answers[4]["errors"][0]["details"]["because"], json!("c"));
    let late = batch(
        json!({"run_id": "turn", "calls": [{"tool": "demo.echo", "arguments": {"message": "a"}}]}),
    )
    .await;
    assert_eq!(late.body["answers"][0]["errors"][0]["code"], json!("DENIED"), "{late:?}");

    for bad in [
        json!({"calls": []}),
        json!({"calls": [{"tool": "demo.echo", "odd": 1}]}),
        json!({"run_id": "", "calls": [{"tool": "demo.echo"}]}),
        json!({"calls": [{"id": "x", "tool": "demo.echo", "depends_on": ["y"]}]}),
        json!("calls"),
    ] {
        let refused = batch(bad.clone()).await;
        assert_eq!(
            (refused.status, &refused.body["errors"][0]["code"]),
            (400, &json!("INVALID_INPUT")),
            "{bad}"
        );
    }
    // A batch without a name is a new run, whose id is in the answer.
    let own = batch(json!({"calls": [{"tool": "demo.echo", "arguments": {"message": "a"}}]})).await;
    let run = own.body["run_id"].as_str().unwrap();
    assert_eq!(
        gateway.get(&format!("/v1/runs/{run}")).await.body["kind"],
        json!("batch"),
        "{own:?}"
    );
}

#[tokio::test]
async fn run_text_cannot_control_the_terminal() {
    let gateway = Gateway::start().await;
    let hostile = "\u{1b}[2J\u{1b}]0;gone\u{7}\u{202e}x\u{9b}31m";
    call_two_tools(&gateway, "r").await;
    let ask = json!({"slot_type": "choice", "slot_id": format!("s{hostile}"), "prompt_key": format!("p{hostile}"),
        "options": [format!("o{hostile}"), "b"]});
    let asked = ask_with_short_timeout(&gateway, "r", ask).await;
    call_two_tools(&gateway, "e").await;
    let ended =
        call_in_run(&gateway, "e", END, json!({"summary": format!("done {hostile}")})).await;
    assert_eq!(ended.status, 200, "{ended:?}");
    let (_, runs) = command(&gateway, &["runs", "ls", "--json"]).await;
    let runs: Value = serde_json::from_str(&runs).unwrap();
    let mut said = command(&gateway, &["runs", "ls"]).await.1;
    for run in runs.as_array().unwrap() {
        let id = run["id"].as_str().unwrap();
        said += &command(&gateway, &["runs", "show", id]).await.1;
        if run["state"] == "waiting" {
            let answer = serde_json::to_string(&format!("o{hostile}")).unwrap();
            said += &command(&gateway, &["runs", "answer", id, "--value", &answer]).await.1;
        }
    }
    assert!(said.contains("\\u{1b}[2J"), "{said:?}");
    assert!(said.contains("done "), "{said:?}");
    let acts = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!said.contains(acts), "{asked:?}: {said:?}");
}
