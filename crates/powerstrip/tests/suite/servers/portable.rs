//! What model APIs receive of the tool list: schemas that they accept, in few tokens.

use schema::portable::{Api, estimated_tokens};
use serde_json::{Value, json};
use testkit::{Gateway, McpServer, mcp, mcp_call};

use crate::servers::support::wait_until_listed;

/// What all built-in tools, and the list of an agent that searches, may cost a model.
const ALL_TOKENS: usize = 3_000;
const FLOW_TOKENS: usize = 3_600;
const SEARCH_TOKENS: usize = 600;

const ODD: &str = "id: odd.shapes
version: 1.0.0
description: Has an input schema that several model APIs refuse.
inputSchema:
  $schema: https://json-schema.org/draft/2020-12/schema
  type: object
  properties:
    size: { type: [integer, 'null'], exclusiveMinimum: 0 }
    tags: { type: array }
    mode: { enum: [fast, slow] }
    link: { type: string, format: uri }
    tree: { $ref: '#/$defs/node' }
  additionalProperties: false
  $defs: { node: { type: object, properties: { below: { $ref: '#/$defs/node' } } } }
outputSchema: { type: object }
execution: { kind: cli, cmd: [echo, '{}'] }
";

async fn list(door: &str) -> Vec<Value> {
    let listed = mcp(door, "tools/list", json!({})).await;
    listed["result"]["tools"].as_array().expect("tools").clone()
}

fn text<'a>(tool: &'a Value, field: &str) -> &'a str {
    tool[field].as_str().expect("a text")
}

fn tokens(tools: &[Value]) -> usize {
    let cost = |tool: &Value| {
        estimated_tokens(text(tool, "name"), text(tool, "description"), &tool["inputSchema"])
    };
    tools.iter().map(cost).sum()
}

/// Whether a tool is a step of the research flow.
fn is_of_research_flow(tool: &Value) -> bool {
    let name = text(tool, "name");
    let steps = [
        "citations_",
        "docs_load_",
        "exports_",
        "hitl_",
        "planner_",
        "rerank_",
        "research_",
        "vector_",
    ];
    name == "web_search_query" || steps.iter().any(|step| name.starts_with(step))
}

fn assert_accepted(tool: &Value) {
    for api in Api::ALL {
        let breaches = api.breaches(&tool["inputSchema"]);
        assert!(breaches.is_empty(), "{} of {}: {breaches:?}", text(tool, "name"), api.name());
    }
}

#[tokio::test]
async fn every_model_api_accepts_the_built_in_tools_in_few_tokens() {
    let agents = "skills: { all: { tools: ['demo.*', 'powerstrip:*'] } }\n\
                  agents: { finder: { skills: [all], discovery: search } }\n";
    let gateway = Gateway::with().config(agents).start().await;
    let tools = list(&gateway.url("/mcp")).await;
    let has = |name: &str| tools.iter().any(|tool| text(tool, "name") == name);
    for name in ["powerstrip__execute_dag", "powerstrip__search_tools", "web_search", "time_now"] {
        assert!(has(name), "{name} is not listed");
    }
    tools.iter().for_each(assert_accepted);
    let (flow, others): (Vec<_>, Vec<_>) = tools.iter().cloned().partition(is_of_research_flow);
    let (cost, flow_cost) = (tokens(&others), tokens(&flow));
    assert!(cost <= ALL_TOKENS, "the list costs {cost} tokens without the research flow");
    assert_eq!(flow.len(), 16);
    assert!(flow_cost <= FLOW_TOKENS, "the research flow costs {flow_cost} tokens");
    let workflows = tools.iter().find(|tool| text(tool, "name") == "powerstrip__execute_dag");
    assert_eq!(workflows.expect("execute_dag")["outputSchema"], Value::Null);

    let door = gateway.url("/agents/finder/mcp");
    let found = list(&door).await;
    found.iter().for_each(assert_accepted);
    let cost = tokens(&found);
    assert!(cost <= SEARCH_TOKENS, "the list of an agent that searches costs {cost} tokens");

    // Workflow tools are not in that list, but a search names the first one.
    assert!(found.iter().all(|tool| text(tool, "name") != "powerstrip__execute_dag"));
    let search = json!({"query": "echo a message"});
    let result = mcp_call(&door, "powerstrip__search_tools", search.clone()).await;
    let note = result["structuredContent"]["note"].as_str().unwrap_or_default();
    assert!(note.contains("powerstrip:execute_dag"), "{result}");
    let plain = mcp_call(&gateway.url("/mcp"), "powerstrip__search_tools", search).await;
    assert_eq!(plain["structuredContent"]["note"], Value::Null, "{plain}");
    let id = json!({"id": "powerstrip:execute_dag"});
    let about = mcp_call(&door, "powerstrip__describe_tool", id).await;
    assert!(about["structuredContent"]["outputSchema"]["oneOf"].is_array(), "{about}");
}

#[tokio::test]
async fn portable_schemas_are_listed_and_the_original_is_checked() {
    let agents = "skills: { odd: { tools: ['odd.*'] } }\n\
                  agents:\n  plain: { skills: [odd] }\n  portable: { skills: [odd], schemas: portable }\n";
    let gateway = Gateway::with().config(agents).file("tools/odd.tool.yaml", ODD).start().await;
    wait_until_listed(&gateway, "odd_shapes").await;
    let odd = |tools: Vec<Value>| {
        let mut tools = tools.into_iter();
        tools.find(|tool| text(tool, "name") == "odd_shapes").expect("odd_shapes")
    };
    let plain = odd(list(&gateway.url("/agents/plain/mcp")).await);
    assert_eq!(plain["inputSchema"]["properties"]["size"]["type"], json!(["integer", "null"]));
    let door = gateway.url("/agents/portable/mcp");
    let portable = odd(list(&door).await);
    assert_accepted(&portable);
    let properties = &portable["inputSchema"]["properties"];
    assert_eq!(properties["size"], json!({"type": "integer", "description": "greater than 0"}));
    assert_eq!(properties["mode"], json!({"type": "string", "enum": ["fast", "slow"]}));

    let fits = mcp_call(&door, "odd_shapes", json!({"size": null, "tags": [1, "a"]})).await;
    assert_ne!(fits["isError"], json!(true), "{fits}");
    for wrong in [json!({"size": 0}), json!({"link": "not a link"}), json!({"more": 1})] {
        let result = mcp_call(&door, "odd_shapes", wrong.clone()).await;
        let code = &result["_meta"]["powerstrip/error"]["code"];
        assert_eq!(code, &json!("INVALID_INPUT"), "{wrong}: {result}");
    }
}

#[tokio::test]
async fn check_warns_about_each_server_whose_schemas_an_api_refuses() {
    let schema = |kind: Value| json!({"type": "object", "properties": {"size": {"type": kind}}});
    let odd = json!({"name": "resize", "inputSchema": schema(json!(["integer", "null"]))});
    let fine = json!({"name": "shrink", "inputSchema": schema(json!("integer"))});
    let (odd, fine) = (McpServer::start(vec![odd]).await, McpServer::start(vec![fine]).await);
    let (url, fine) = (odd.url(), fine.url());
    let config = format!("servers:\n  odd: {{ url: '{url}' }}\n  fine: {{ url: '{fine}' }}\n");
    let gateway = Gateway::with().config(&config).start().await;
    wait_until_listed(&gateway, "odd__resize").await;
    wait_until_listed(&gateway, "fine__shrink").await;
    let checked = gateway.run(&["check"]).await;
    let warnings: Vec<_> =
        checked.stdout.lines().filter(|line| line.contains("model API refuses")).collect();
    assert_eq!(warnings.len(), 1, "{checked:?}");
    for said in ["servers.odd: ", "1 tool has an input schema", "`odd:resize`", "schemas: portable"]
    {
        assert!(warnings[0].contains(said), "{said}: {checked:?}");
    }
}
