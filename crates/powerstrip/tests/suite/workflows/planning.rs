//! Intents become workflows: nothing runs before it is sure, or before everything is given.

use serde_json::{Value, json};
use testkit::{Gateway, GuardedGateway, eventually, mcp_tools, sibling_program};

use crate::workflows::support::{
    as_admin, call, call_as, ledger, pair, ready_as, statuses, with_ledger,
};

/// A gateway with the servers that the guide's examples use, and a project in its folder.
async fn with_code(more: &str) -> Gateway {
    let program = sibling_program("powerstrip-ledger");
    let builder = Gateway::with();
    let server = format!(
        "{{ command: '{}', env: {{ LEDGER: '{}' }} }}",
        program.display(),
        builder.scratch().join("ledger").display()
    );
    let config =
        format!("servers:\n  grep: {server}\n  analyzer: {server}\n  xml: {server}\n{more}");
    for (name, text) in [
        ("app.ts", "var total = 1; // TODO\n"),
        ("data.xml", "<config><port number=\"80\"/></config>\n"),
        ("config.xml", "<config/>\n"),
    ] {
        std::fs::write(builder.scratch().join(name), text).unwrap();
    }
    let gateway = builder.config(&config).start().await;
    eventually("the tools are listed", || async {
        let tools = mcp_tools(&gateway.url("/mcp")).await;
        let has = |name: &str| tools.iter().any(|tool| tool["name"] == name);
        (has("grep__search") && has("analyzer__lint") && has("xml__parse")).then_some(())
    })
    .await;
    gateway
}

fn path(gateway: &Gateway, name: &str) -> String {
    gateway.scratch().join(name).display().to_string()
}

fn error(answer: &Value) -> &Value {
    assert!(answer["error"].is_object(), "{answer:#}");
    &answer["error"]
}

#[tokio::test]
async fn the_quick_start_runs_from_its_intent() {
    let gateway = with_code("").await;
    let intent = json!({"intent": "Analyze codebase for TypeScript errors with analyzer:lint",
        "config": {"per_layer_validation": true}});
    let planned = call(&gateway, "execute_dag", intent).await;
    assert_eq!(planned["status"], "planned", "{planned:#}");
    let id = planned["workflow_id"].clone();
    assert_eq!(planned["options"], json!(["continue", "replan", "abort"]));
    assert_eq!(planned["missing"][0]["task_id"], "task-analyzer-search", "{planned:#}");
    let refused = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(error(&refused)["code"], -32602, "{refused:#}");
    assert_eq!(error(&refused)["data"]["missing"], planned["missing"]);
    let arguments = json!({"pattern": "var", "path": path(&gateway, "."), "suffix": ".ts"});
    let given =
        json!({"workflow_id": id, "task_id": "task-analyzer-search", "arguments": arguments});
    let planned = call(&gateway, "modify_args", given).await;
    assert_eq!((&planned["status"], &planned["missing"]), (&json!("planned"), &json!([])));
    let done = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(done["status"], "layer_complete", "{done:#}");
    assert_eq!(statuses(&done["layer_results"]), [pair("task-analyzer-search", "success")]);

    let replan = json!({"workflow_id": id,
        "new_requirement": format!("Add XML parser - discovered {} file", path(&gateway, "data.xml")),
        "available_context": {"discovered_files": [path(&gateway, "data.xml")]}});
    let replanned = call(&gateway, "replan", replan).await;
    assert_eq!(replanned["status"], "replanned", "{replanned:#}");
    let added = &replanned["new_tasks"][0];
    assert_eq!((&added["id"], &added["tool"]), (&json!("task-xml-parse"), &json!("xml:parse@1")));
    assert_eq!(replanned["missing"], json!([]), "{replanned:#}");
    let done = call(&gateway, "continue", json!({"workflow_id": id})).await;
    let both = [pair("task-analyzer-lint", "success"), pair("task-xml-parse", "success")];
    assert_eq!(statuses(&done["layer_results"]), both, "{done:#}");
    let done = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(done["status"], "complete", "{done:#}");
}

#[tokio::test]
async fn found_xml_files_are_parsed_and_validated_one_by_one() {
    let gateway = with_code("").await;
    let list = json!({"workflow": {"tasks": [{"id": "list", "tool": "grep:search",
        "arguments": {"pattern": "config", "path": path(&gateway, "."), "suffix": ".xml"}}]},
        "config": {"per_layer_validation": true}});
    let first = call(&gateway, "execute_dag", list).await;
    let id = first["workflow_id"].clone();
    let files = json!([path(&gateway, "data.xml"), path(&gateway, "config.xml")]);
    let replan = json!({"workflow_id": id, "new_requirement": "Parse XML files for configuration data",
        "available_context": {"discovered_files": files}});
    let replanned = call(&gateway, "replan", replan).await;
    let added = &replanned["new_tasks"][0];
    assert_eq!(added["tool"], "xml:parse@1", "{replanned:#}");
    assert_eq!(added["for_each"], files, "{replanned:#}");
    let check = &replanned["new_tasks"][1];
    assert_eq!((&check["tool"], &check["for_each"]), (&json!("xml:validate@1"), &files));
    let done = call(&gateway, "continue", json!({"workflow_id": id})).await;
    let output = |task: &str| {
        let results = done["layer_results"].as_array().unwrap();
        let result = results.iter().find(|result| result["task_id"] == task);
        result.unwrap_or_else(|| panic!("{done:#}"))["output"].as_array().unwrap().clone()
    };
    let (parsed, validated) = (output("task-xml-parse"), output("task-xml-validate"));
    assert_eq!((parsed.len(), validated.len()), (2, 2), "{done:#}");
    assert!(parsed.iter().all(|file| file["root"] == "config"), "{done:#}");
    assert!(validated.iter().all(|file| file["valid"] == true), "{done:#}");
}

#[tokio::test]
async fn nothing_runs_before_a_missing_argument_is_given() {
    let gateway = with_code("").await;
    let planned = call(
        &gateway,
        "execute_dag",
        json!({"intent": "Do nothing for a while with grep:work",
            "config": {"accept_plan": true}}),
    )
    .await;
    assert_eq!(planned["status"], "planned", "{planned:#}");
    let (id, task) = (planned["workflow_id"].clone(), planned["tasks"][0]["id"].clone());
    assert_eq!(planned["missing"][0]["argument"], "task", "{planned:#}");
    assert_eq!(planned["missing"][0]["schema"]["type"], "string");
    call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(ledger(&gateway), [""; 0], "nothing ran");
    let given = json!({"workflow_id": id, "task_id": task, "arguments": {"task": "given"}});
    call(&gateway, "modify_args", given).await;
    assert_eq!(ledger(&gateway), [""; 0], "nothing ran");
    let done = call(&gateway, "continue", json!({"workflow_id": id})).await;
    assert_eq!(done["status"], "complete", "{done:#}");
    assert_eq!(ledger(&gateway), ["given"]);
}

#[tokio::test]
async fn intents_that_cannot_be_planned_are_refused() {
    let gateway = with_code("").await;
    let many_quotes = " 'a".repeat(33_000);
    for intent in ["x".repeat(2_001), many_quotes, String::new(), "  ".to_owned()] {
        let refused = call(&gateway, "execute_dag", json!({"intent": intent})).await;
        assert_eq!(error(&refused)["code"], -32602, "{refused:#}");
    }
    let refused =
        call(&gateway, "execute_dag", json!({"intent": "Water the tomatoes in my garden"})).await;
    assert_eq!(error(&refused)["code"], -32602, "{refused:#}");
    assert!(error(&refused)["data"]["nearest"].is_array(), "{refused:#}");
    let listed = gateway.run(&["workflows", "ls", "--json"]).await.json_of(0);
    assert_eq!(listed, json!([]), "nothing is stored");
}

#[tokio::test]
async fn a_plan_can_be_read_saved_and_run() {
    let gateway = with_code("").await;
    let file = path(&gateway, "data.xml");
    let intent = format!("Parse {file}");
    let body = json!({"intent": intent});
    let plan = as_admin(&gateway, reqwest::Method::POST, "/v1/workflows/plan", &body).await.body;
    assert_eq!(plan["tasks"][0]["tool"], "xml:parse", "{plan:#}");
    assert_eq!(plan["tasks"][0]["arguments"]["path"], json!(file));
    let printed = gateway.run(&["plan", &intent, "--save", "plan.yaml"]).await;
    let printed = printed.ok();
    for part in ["task-xml-parse", "xml:parse", "data.xml", "confidence"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    gateway.run(&["workflows", "run", "plan.yaml"]).await.ok();
    gateway.run(&["plan", &intent, "--run"]).await.ok();
    let listed = gateway.run(&["workflows", "ls", "--json"]).await.json_of(0);
    let outcomes: Vec<_> =
        listed.as_array().unwrap().iter().map(|workflow| &workflow["outcome"]).collect();
    assert_eq!(outcomes, ["complete", "complete"], "{listed:#}");
    let missing = gateway.run(&["plan", "Search files for a regular expression", "--run"]).await;
    assert_eq!(missing.code, Some(1), "{missing:?}");
    assert_eq!(gateway.run(&["plan", "Water the tomatoes"]).await.code, Some(1));
}

#[tokio::test]
async fn learned_edges_of_a_tenant_change_no_plan_of_another() {
    let guarded = GuardedGateway::start(with_ledger(""), "").await;
    let gateway = &guarded.gateway;
    let scope = "tools:read tools:call runs:read";
    let token = |org: &str| guarded.token(json!({"sub": "ann", "org": org, "scope": scope}));
    let (acme, globex) = (token("acme"), token("globex"));
    ready_as(gateway, &acme).await;
    let plan = async |token: &str| {
        let body = json!({"intent": "Run t:work with the task 'first'. Then undo the run."});
        let url = gateway.url("/v1/workflows/plan");
        let request = reqwest::Client::new().post(url).bearer_auth(token).json(&body);
        let plan = testkit::send(request).await.body;
        assert_eq!(plan["tasks"][1]["tool"], "t:undo", "{plan:#}");
        plan["tasks"][1]["arguments"]["task"].clone()
    };
    let before = plan(&acme).await;
    assert_eq!(plan(&globex).await, before);
    let tasks = json!([{"id": "a", "tool": "t:work", "arguments": {"task": "a"}},
        {"id": "b", "tool": "t:undo", "arguments": {"task": "{{ tasks.a.output.key }}"}}]);
    for _ in 0..3 {
        let done =
            call_as(gateway, &acme, "execute_dag", json!({"workflow": {"tasks": tasks}})).await;
        assert_eq!(done["data"]["status"], "complete", "{done:#}");
    }
    let learned = json!("{{ tasks.task-t-work.output.key }}");
    assert_ne!(before, learned);
    assert_eq!(plan(&acme).await, learned);
    assert_eq!(plan(&globex).await, before);
}
