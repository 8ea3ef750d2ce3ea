//! What `research.execute` answers: links to its artifacts, the state of its workflow, and as a task of another workflow.

use serde_json::{Value, json};
use testkit::mcp;

use crate::research::joining::{input, with_documents};

#[tokio::test]
async fn an_mcp_answer_links_to_the_artifacts_and_a_status_is_short() {
    let gateway = with_documents().await;
    let call = json!({"name": "research_execute", "arguments": input(false)});
    let answer = mcp(&gateway.url("/mcp"), "tools/call", call).await;
    let result = &answer["result"];
    let data = &result["structuredContent"];
    assert_eq!(data["status"], "complete", "{answer:#}");
    let links: Vec<&Value> = result["content"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|block| block["type"] == "resource_link")
        .collect();
    let artifacts = data["artifacts"].as_array().unwrap();
    assert_eq!(links.len(), artifacts.len(), "{result:#}");
    assert!(links.iter().any(|link| link["name"] == "report.md"), "{links:#?}");
    let uri = links[0]["uri"].as_str().unwrap();
    let read = mcp(&gateway.url("/mcp"), "resources/read", json!({"uri": uri})).await;
    assert!(read["result"]["contents"][0]["text"].is_string(), "{read:#}");
}

#[tokio::test]
async fn research_as_a_task_of_another_workflow_waits_for_its_report() {
    let gateway = with_documents().await;
    let mut arguments = input(false);
    arguments["wait_ms"] = 0.into();
    let tasks = json!([{"id": "look", "tool": "research.execute", "arguments": arguments}]);
    let dag = json!({"workflow": {"tasks": tasks}, "config": {"wait_ms": 60_000}});
    let done = gateway.call("powerstrip:execute_dag", &dag).await;
    let data = &done.body["data"];
    assert_eq!(data["status"], "complete", "{:#}", done.body);
    assert_eq!(data["results"][0]["output"]["status"], "complete", "{data:#}");
}

#[tokio::test]
async fn topics_need_words_and_reports_a_bounded_outline() {
    let gateway = with_documents().await;
    let mut asked = input(false);
    asked["topic"] = "\u{200b}\u{2060} ".into();
    let refused = gateway.call("research.execute", &asked).await;
    assert_eq!(refused.body["errors"][0]["code"], "INVALID_INPUT", "{:#}", refused.body);
    let planned = json!({"topic": "\u{200b}"});
    let refused = gateway.call("planner.multi_perspective", &planned).await;
    assert_eq!(refused.body["errors"][0]["code"], "INVALID_INPUT", "{:#}", refused.body);
    let questions: Vec<Value> =
        (0..501).map(|at| json!({"id": format!("q{at}"), "text": "Why?"})).collect();
    let outline =
        json!({"title": "t", "sections": [{"id": "s", "heading": "h", "questions": questions}]});
    let compose = json!({"outline": outline, "notes": [], "sources": []});
    let refused = gateway.call("research.compose", &compose).await;
    assert_eq!(refused.body["errors"][0]["code"], "INVALID_INPUT", "{:#}", refused.body);
}

#[tokio::test]
async fn questions_that_were_added_are_merged_without_asking() {
    let gateway = with_documents().await;
    let merge = json!({
        "questions": [{"id": "q1", "text": "What cools cities?", "perspective": "p-methods"}],
        "added": [{"text": "Who pays for street trees?", "perspective": "Money"}],
        "outline": {"title": "Cooling", "sections": [
            {"id": "p-methods", "heading": "Methods", "questions": [{"id": "q1", "text": "What cools cities?"}]},
        ]},
    });
    let merged = gateway.call("hitl.questions_merge", &merge).await;
    assert_eq!(merged.body["data"]["status"], "merged", "{:#}", merged.body);
    let sections = &merged.body["data"]["outline"]["sections"];
    assert_eq!(sections[1]["heading"], "Money", "{sections:#}");
}

#[tokio::test]
async fn tools_that_read_the_web_say_so() {
    let gateway = with_documents().await;
    let listed = mcp(&gateway.url("/mcp"), "tools/list", json!({})).await;
    let listed = listed["result"]["tools"].as_array().unwrap();
    let open_world = |name: &str| {
        let tool = listed.iter().find(|tool| tool["name"] == name).unwrap();
        tool["annotations"]["openWorldHint"].clone()
    };
    for name in ["web_search_query", "docs_load_fetch", "vector_index_add", "research_execute"] {
        assert_eq!(open_world(name), true, "{name}");
    }
    assert_eq!(open_world("research_compose"), false);
}
