use serde_json::{Value, json};
use testkit::{Gateway, McpServer, eventually, mcp_tools, send};

use crate::research::support::Web;

async fn names(gateway: &Gateway) -> Vec<String> {
    let tools = mcp_tools(&gateway.url("/mcp")).await;
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn the_tools_can_be_switched_off_and_on_while_the_gateway_runs() {
    let web = Web::start().await;
    let gateway = Gateway::with().config(&web.config("  tools: off\n")).start().await;
    assert!(!names(&gateway).await.iter().any(|name| name == "web_search"));
    let answer = gateway.call("web-research:web_search", &json!({"query": "tides"})).await.body;
    assert_eq!(answer["errors"][0]["code"], "NOT_FOUND", "{answer}");
    gateway.write("powerstrip.yaml", &web.config("  tools: on\n"));
    eventually("the tools are listed", || async {
        names(&gateway).await.iter().any(|name| name == "web_search").then_some(())
    })
    .await;
    let answer = gateway.call("web_search", &json!({"query": "tides"})).await.body;
    assert_eq!(answer["data"]["resultCount"], 3, "{answer}");
}

#[tokio::test]
async fn a_server_of_that_name_in_the_config_replaces_the_tools() {
    let web = Web::start().await;
    let tool = json!({"name": "web_search", "inputSchema": {"type": "object"}});
    let server = McpServer::start(vec![tool]).await;
    let servers = format!("servers:\n  web-research: {{url: {}}}\n", server.url());
    let gateway = Gateway::with().config(&(web.config("") + &servers)).start().await;
    eventually("the server's tools are listed", || async {
        let names = names(&gateway).await;
        names.iter().any(|name| name.starts_with("web-research__")).then_some(())
    })
    .await;
    assert!(!names(&gateway).await.iter().any(|name| name == "web_search"));
}

#[tokio::test]
async fn no_server_can_register_under_the_name_of_the_tools() {
    let web = Web::start().await;
    let gateway = web.gateway().start().await;
    let announced =
        json!({"name": "web-research", "version": "1.0.0", "url": "http://127.0.0.1:9/mcp"});
    let request = reqwest::Client::new()
        .post(gateway.url("/v1/servers"))
        .bearer_auth(gateway.registration_token())
        .json(&announced);
    let answer = send(request).await;
    assert!((400..500).contains(&answer.status), "{}", answer.body);
    assert!(answer.body.to_string().contains("web-research"), "{}", answer.body);
}

#[tokio::test]
async fn a_missing_key_is_answered_with_what_to_do() {
    let web = Web::start().await;
    let config = format!("{}    routing: [brave]\n", web.config(""));
    let gateway = Gateway::with().config(&config).start().await;
    let answer = gateway.call("web_search", &json!({"query": "tides"})).await.body;
    let error = &answer["errors"][0];
    assert_eq!(error["code"], "UNSUPPORTED", "{answer}");
    assert!(error["message"].as_str().unwrap().contains("BRAVE_API_KEY"), "{answer}");
}

/// The key comes from a file, and only the provider receives it.
#[tokio::test]
async fn keys_stay_out_of_answers_and_logs() {
    let web = Web::start().await;
    let config = format!(
        "egress: {{allow: [127.0.0.1]}}\nresearch:\n  browser: off\n  search:\n    routing: [brave]\n    providers:\n      \
         brave: {{key: {{file: brave.key}}, url: {}}}\n",
        web.providers.url("brave")
    );
    let gateway =
        Gateway::with().config(&config).file("brave.key", "canary-key-4711\n").start().await;
    let answer = gateway.call("web_search", &json!({"query": "tides"})).await.body;
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(web.providers.last("brave").header("x-subscription-token"), Some("canary-key-4711"));
    let input = json!({"query": "canary-key-4711"});
    let echoed = gateway.call("web_search", &input).await.body;
    let shown: Value = json!([answer, gateway.get("/health").await.body]);
    assert!(!shown.to_string().contains("canary-key-4711"));
    assert!(!gateway.log().contains("canary-key-4711"), "{echoed}");
}

#[tokio::test]
async fn a_new_lens_is_used_by_the_next_search_that_names_it() {
    let web = Web::start().await;
    let gateway = web.gateway().start().await;
    let search = json!({"query": "tides", "lens": "sea"});
    let answer = gateway.call("web_search", &search).await.body;
    assert_eq!(answer["errors"][0]["code"], "INVALID_INPUT", "{answer}");
    gateway.write("lenses/sea.yaml", "name: sea\ndomain: [tides.example]\n");
    for _ in 0..2 {
        let answer = gateway.call("web_search", &search).await.body;
        let message = answer["errors"][0]["message"].as_str().unwrap();
        assert!(message.contains("there is no lens `sea`; sea.yaml: not a lens: "), "{answer}");
    }
    let logged = || gateway.log().matches("lenses/sea.yaml: not a lens").count();
    eventually("the fault is logged", || async { (logged() > 0).then_some(()) }).await;
    assert_eq!(logged(), 1);
    gateway.write("lenses/sea.yaml", "name: sea\ndomains: [tides.example, sea.example]\n");
    let answer = gateway.call("web_search", &search).await.body;
    assert_eq!(answer["ok"], true, "{answer}");
    let asked = web.providers.last("searxng").parameter("q").unwrap();
    assert!(asked.contains("site:tides.example") && asked.contains("site:sea.example"), "{asked}");
}

/// A tool that answers with one variable of the gateway.
const REGION: &str = "id: t.region\nversion: 1.0.0\ndescription: Names its region.\ndeterministic: false\n\
    env: { passthrough: [REGION_OF_TEST] }\ninputSchema: { type: object }\noutputSchema: { type: object }\n\
    execution: { kind: cli, cmd: [python3, -c, \"import json, os; print(json.dumps({'region': os.environ.get('REGION_OF_TEST')}))\"] }\n";

#[tokio::test]
async fn variables_of_a_changed_dotenv_file_are_used_without_a_restart() {
    let web = Web::start().await;
    let config =
        "egress: {allow: [127.0.0.1]}\nresearch: {browser: off, search: {routing: [searxng]}}\n";
    let gateway =
        Gateway::with().config(config).file("tools/region.tool.yaml", REGION).start().await;
    let search = json!({"query": "tides"});
    let answer = gateway.call("web_search", &search).await.body;
    assert_eq!(answer["errors"][0]["code"], "UNSUPPORTED", "{answer}");
    for region in ["north", "south"] {
        let url = web.providers.url("searxng");
        gateway.write(".env", &format!("SEARXNG_URL={url}\nREGION_OF_TEST={region}\n"));
        eventually("the tool has the variable", || async {
            let answer = gateway.call("t.region", &json!({})).await.body;
            (answer["data"]["region"] == region).then_some(())
        })
        .await;
        let answer = gateway.call("web_search", &search).await.body;
        assert_eq!(answer["data"]["resultCount"], 3, "{answer}");
    }
    gateway.write(".env", "");
    eventually("the provider is not set up any more", || async {
        let answer = gateway.call("web_search", &json!({"query": "other tides"})).await.body;
        (answer["errors"][0]["code"] == "UNSUPPORTED").then_some(())
    })
    .await;
}
