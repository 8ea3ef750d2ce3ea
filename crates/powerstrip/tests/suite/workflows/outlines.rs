//! People review outlines and complete questions: over REST, by command, by elicitation, and inside a workflow.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Gateway, eventually};

use crate::servers::peer::{LegacyPeer, Peer};
use crate::workflows::support::{as_admin, call, run_path};

const REVIEW: &str = "hitl.outline_review";
const MERGE: &str = "hitl.questions_merge";

/// The outline as a person is shown it.
const MARKDOWN: &str = "# Urban heat\n\n## History\n\n- Who first measured urban heat?\n- How did maps of heat change?\n";

/// An outline with a section that has no question.
const BROKEN: &str = "# Urban heat\n\n## History\nsome text\n";

fn outline() -> Value {
    json!({"title": "Urban heat", "sections": [{"id": "s1", "heading": "History", "questions": [
        {"id": "q1", "text": "Who first measured urban heat?"},
        {"id": "q2", "text": "How did maps of heat change?"},
    ]}]})
}

/// Asks for a review with a short timeout, in the caller's current run.
async fn review(gateway: &Gateway, input: &Value) -> Value {
    let answer = gateway.call_with(REVIEW, input, &[("powerstrip-timeout-ms", "2000")]).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["data"].clone()
}

/// The run that waits for an answer, and the slot.
async fn waiting(gateway: &Gateway) -> (String, String) {
    let run = eventually("a run waits", || async {
        let listed = gateway.get("/v1/runs?state=waiting").await;
        listed.body["runs"][0]["id"].as_str().map(str::to_owned)
    })
    .await;
    let shown = gateway.get(&format!("/v1/runs/{run}")).await.body;
    let questions = shown["questions"].as_array().unwrap();
    let open = questions.iter().find(|question| question["state"] == "open").unwrap();
    (run, open["slot_id"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn an_outline_is_edited_over_rest_and_a_broken_edit_keeps_the_question_open() {
    let gateway = Gateway::start().await;
    let input = json!({"outline": outline(), "instructions": "Is anything missing?"});
    let asked = review(&gateway, &input).await;
    assert_eq!((&asked["status"], &asked["outline"]), (&json!("waiting"), &outline()), "{asked}");
    let (run, slot) = waiting(&gateway).await;
    assert_eq!(asked["slot_id"], json!(slot));
    let path = format!("/v1/runs/{run}");
    let question = gateway.get(&path).await.body["questions"][0].clone();
    assert_eq!(
        (&question["slot_type"], &question["options"]),
        (&json!("document"), &json!([MARKDOWN]))
    );
    assert!(question["prompt"].as_str().unwrap().ends_with("Is anything missing?"), "{question}");

    let gateway = gateway.restart().await;
    let answers = format!("{path}/answers");
    let answer = async |text: &str| {
        let body = json!({"slot_id": slot, "value": text});
        as_admin(&gateway, Method::POST, &answers, &body).await
    };
    let long = format!("{MARKDOWN}{}", "- x\n".repeat(20_000));
    for (broken, why) in [(BROKEN, "line 4: "), ("", "says something"), (&*long, "65536")] {
        let refused = answer(broken).await;
        assert_eq!(refused.status, 400, "{refused:?}");
        let message = refused.body["errors"][0]["message"].as_str().unwrap();
        assert!(message.contains(why), "{message}");
        assert_eq!(gateway.get(&path).await.body["questions"][0]["state"], json!("open"));
    }
    let edited = MARKDOWN.replace("maps of heat", "maps of city heat") + "- What do trees cost?\n";
    assert_eq!(answer(&edited).await.status, 200);
    let done = review(&gateway, &input).await;
    assert_eq!(done["status"], json!("edited"), "{done}");
    let questions = &done["outline"]["sections"][0]["questions"];
    assert_eq!(questions[1], json!({"id": "q2", "text": "How did maps of city heat change?"}));
    let changes = json!([{"op": "renamed", "id": "q2"}, {"op": "added", "id": questions[2]["id"]}]);
    assert_eq!(done["changes"], changes, "{done}");
}

#[tokio::test]
async fn an_outline_is_answered_from_a_file() {
    let gateway = Gateway::start().await;
    review(&gateway, &json!({"outline": outline()})).await;
    let (run, _) = waiting(&gateway).await;
    let shown = gateway.run(&["runs", "show", &run, "--document"]).await;
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), MARKDOWN));
    gateway.write("edited.md", BROKEN);
    let file = gateway.folder().join("edited.md");
    let file = file.to_str().unwrap();
    let refused = gateway.run(&["runs", "answer", &run, "--file", file]).await;
    assert!(refused.code == Some(1) && refused.stderr.contains("line 4: "), "{refused:?}");
    let missing = gateway.run(&["runs", "answer", &run, "--file", "/no/such/file"]).await;
    assert!(missing.code == Some(1) && missing.stderr.contains("/no/such/file"), "{missing:?}");
    // What a person saves on Windows is the same outline.
    gateway.write("edited.md", &format!("\u{feff}{}", MARKDOWN.replace('\n', "\r\n")));
    let answered = gateway.run(&["runs", "answer", &run, "--file", file]).await;
    assert_eq!(answered.code, Some(0), "{answered:?}");
    let done = review(&gateway, &json!({"outline": outline()})).await;
    assert_eq!((&done["status"], &done["outline"]), (&json!("approved"), &outline()), "{done}");
    assert_eq!(done["changes"], json!([]));
}

#[tokio::test]
async fn the_users_of_both_eras_edit_the_outline_in_a_form() {
    let gateway = Gateway::start().await;
    let edited = MARKDOWN.replace("# Urban heat", "# City heat");
    let value = |text: &str| json!({"action": "accept", "content": {"value": text}});
    let check = |params: &Value, fault: &str| {
        let field = &params["requestedSchema"]["properties"]["value"];
        assert_eq!(
            (&field["type"], &field["default"]),
            (&json!("string"), &json!(MARKDOWN)),
            "{params}"
        );
        assert!(params["message"].as_str().unwrap().contains(fault), "{params}");
    };

    let legacy = LegacyPeer::open(&gateway, json!({"elicitation": {}})).await;
    let times = std::cell::Cell::new(0);
    let reply = |message: &Value| {
        times.set(times.get() + 1);
        let first = times.get() == 1;
        check(&message["params"], if first { "Review the outline" } else { "line 4: " });
        value(if first { BROKEN } else { &edited })
    };
    let (asked, answer) = legacy.call(REVIEW, json!({"outline": outline()}), reply).await;
    let done = &answer["result"]["structuredContent"];
    assert_eq!((asked, &done["status"]), (2, &json!("edited")), "{answer}");
    assert_eq!(done["changes"], json!([{"op": "renamed", "id": "title"}]));

    let mut modern = Peer::modern(&gateway);
    modern.capabilities = json!({"elicitation": {}});
    let mut params = json!({"name": REVIEW, "arguments": {"outline": outline()}});
    let asked = modern.ask("tools/call", params.clone()).await.answer;
    check(&asked["result"]["inputRequests"]["answer"]["params"], "Review the outline");
    params["inputResponses"] = json!({"answer": value(BROKEN)});
    let asked = modern.ask("tools/call", params.clone()).await.answer;
    assert_eq!(asked["result"]["resultType"], json!("input_required"), "{asked}");
    check(&asked["result"]["inputRequests"]["answer"]["params"], "line 4: ");
    params["inputResponses"] = json!({"answer": value(&edited)});
    let done = modern.ask("tools/call", params).await.answer;
    assert_eq!(done["result"]["structuredContent"]["status"], json!("edited"), "{done}");

    // To decline is to reject.
    let input = json!({"outline": outline(), "instructions": "once more"});
    let (_, answer) = legacy.call(REVIEW, input, |_| json!({"action": "decline"})).await;
    assert_eq!(answer["result"]["structuredContent"]["status"], json!("rejected"), "{answer}");
}

#[tokio::test]
async fn tasks_of_a_workflow_wait_for_the_outline_and_the_questions() {
    let gateway = Gateway::start().await;
    let questions = json!([
        {"id": "q1", "text": "Who first measured urban heat?", "perspective": "history", "priority": 1},
        {"id": "q2", "text": "Who first measured urban heat?", "perspective": "evidence", "priority": 2},
    ]);
    let tasks = json!([
        {"id": "merge", "tool": MERGE, "arguments": {"questions": questions}},
        {"id": "review", "tool": REVIEW, "depends_on": ["merge"], "arguments": {"outline": outline()}},
    ]);
    let paused = call(&gateway, "execute_dag", json!({"workflow": {"tasks": tasks}})).await;
    assert_eq!(paused["checkpoint_type"], json!("input_required"), "{paused:#}");
    let id = paused["workflow_id"].clone();
    let gateway = gateway.restart().await;
    let path = run_path(&id);
    let answer = async |text: &str| {
        let (_, slot) = waiting(&gateway).await;
        let body = json!({"slot_id": slot, "value": text});
        let answered = as_admin(&gateway, Method::POST, &format!("{path}/answers"), &body).await;
        assert_eq!(answered.status, 200, "{answered:?}");
    };
    answer(
        "# Questions\n## history\n- Who first measured urban heat?\n- Why do cities store heat?\n",
    )
    .await;
    eventually("the second question", || async {
        let run = gateway.get(&path).await.body;
        (run["questions"].as_array().unwrap().len() == 2).then_some(())
    })
    .await;
    answer("reject: too narrow\nand too short").await;
    let done = eventually("the workflow ends", || async {
        let answer = call(&gateway, "continue", json!({"workflow_id": id})).await;
        (answer["status"] == "complete").then_some(answer)
    })
    .await;
    let merged = &done["results"][0]["output"];
    assert_eq!(merged["status"], json!("merged"), "{done:#}");
    let first = json!({"id": "q1", "text": "Who first measured urban heat?", "perspective": "history",
        "origin": "planner", "merged_from": ["q2"]});
    assert_eq!(merged["questions"][0], first);
    assert_eq!(merged["questions"][1]["origin"], json!("person"));
    let rejected = &done["results"][1]["output"];
    assert_eq!(
        (&rejected["status"], &rejected["feedback"]),
        (&json!("rejected"), &json!("too narrow\nand too short"))
    );
    assert_eq!(rejected["outline"], outline());
}

#[tokio::test]
async fn questions_are_merged_without_a_person() {
    let gateway = Gateway::start().await;
    let input = json!({
        "questions": [{"id": "a", "text": "What do cool roofs cost?", "perspective": "costs", "priority": 1}],
        "added": [{"text": "What do cool roofs cost?"}, {"text": "How many trees does a street need?"}],
        "ask": false,
    });
    let merged = gateway.call(MERGE, &input).await.body["data"].clone();
    assert_eq!(merged["status"], json!("merged"), "{merged}");
    let ids: Vec<_> =
        merged["questions"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!((ids.len(), ids[0]), (2, &json!("a")), "{merged}");
    assert_eq!(gateway.call(MERGE, &input).await.body["data"], merged, "ids are stable");
    for (field, bad) in [("questions", json!([])), ("extra", json!(1)), ("ask", json!("yes"))] {
        let mut input = input.clone();
        input[field] = bad;
        assert_eq!(gateway.call(MERGE, &input).await.status, 400, "{field}");
    }
    let empty = json!({"outline": {"title": "T", "sections": []}});
    let refused = gateway.call(REVIEW, &empty).await;
    assert_eq!(refused.body["errors"][0]["code"], json!("INVALID_INPUT"), "{refused:?}");
}
