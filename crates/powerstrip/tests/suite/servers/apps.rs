//! MCP Apps: links to apps lead to their servers, and apps call the tools of their own server.

use serde_json::{Value, json};
use testkit::{
    AppServer, Gateway, initialize_message, legacy_request, mcp, mcp_call, mcp_tools, send,
};

use crate::servers::peer::LEGACY;
use crate::servers::support::{over_http, wait_until_listed};

const APP: &str = "ui://time/app.html";
const APPS: &str = "io.modelcontextprotocol/ui";

const AGENTS: &str = "skills:
  whole: { servers: [two] }
  part: { tools: ['two:show-time', 'two:get-time'] }
agents:
  host: { skills: [whole] }
  partial: { skills: [part] }
";

/// Two servers, of either era, that have an app at the same URI.
struct Setup {
    gateway: Gateway,
    one: AppServer,
    two: AppServer,
}

impl Setup {
    async fn start() -> Self {
        let one = AppServer::start("one", APP).await;
        let two = AppServer::start_legacy("two", APP).await;
        let servers =
            format!("servers:\n{}{}", over_http("one", one.url()), over_http("two", two.url()));
        let gateway = Gateway::with().config(&servers).config(AGENTS).start().await;
        wait_until_listed(&gateway, "one__show-time").await;
        wait_until_listed(&gateway, "two__show-time").await;
        Self { gateway, one, two }
    }

    fn url(&self) -> String {
        self.gateway.url("/mcp")
    }
}

/// The `_meta` of a listed tool.
async fn meta_of(url: &str, tool: &str) -> Value {
    let tools = mcp_tools(url).await;
    let tool = tools.iter().find(|listed| listed["name"] == tool);
    tool.unwrap_or_else(|| panic!("{tools:?}"))["_meta"].clone()
}

async fn read(url: &str, uri: &str) -> Value {
    mcp(url, "resources/read", json!({"uri": uri})).await
}

/// The text of a call's first block, or the message of its error.
async fn said(url: &str, tool: &str) -> String {
    let answer = mcp(url, "tools/call", json!({"name": tool, "arguments": {}})).await;
    let text = [&answer["result"]["content"][0]["text"], &answer["error"]["message"]];
    text.iter().find_map(|text| text.as_str()).unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[tokio::test]
async fn links_lead_to_the_app_of_their_server() {
    let setup = Setup::start().await;
    let url = setup.url();
    for (server, app) in [("one", APP), ("two", "ui://two/time/app.html")] {
        let meta = meta_of(&url, &format!("{server}__show-time")).await;
        assert_eq!(meta["ui"]["resourceUri"], json!(app), "{meta}");
        assert_eq!((&meta["ui/resourceUri"], &meta["other"]), (&json!(app), &json!(1)), "{meta}");

        let content = &read(&url, app).await["result"]["contents"][0];
        assert_eq!(content["uri"], json!(app), "{content}");
        assert_eq!(content["text"], json!(format!("<!doctype html><p>{server}")));
        assert_eq!(content["_meta"]["ui"]["prefersBorder"], json!(true));

        let result = mcp_call(&url, &format!("{server}__show-time"), json!({})).await;
        let meta = &result["_meta"];
        let links = [
            &meta["ui"]["resourceUri"],
            &meta["ui/resourceUri"],
            &result["content"][1]["uri"],
            &result["content"][4]["resource"]["uri"],
        ];
        assert!(links.iter().all(|link| **link == json!(app)), "{result}");
        assert_eq!(result["content"][3]["uri"], json!("https://example.com/"), "{result}");
        // It is in no list, so that only the name of the server can say whose it is.
        let unlisted = result["content"][2]["uri"].as_str().expect("a link");
        assert_eq!(unlisted, format!("ui://{server}/made/up.html"));
        let content = &read(&url, unlisted).await["result"]["contents"][0];
        assert_eq!(
            (&content["uri"], &content["text"]),
            (&json!(unlisted), &json!(format!("<!doctype html><p>{server}")))
        );
    }
    assert!(setup.one.saw_host() && setup.two.saw_host(), "servers list apps only to hosts");
}

#[tokio::test]
async fn extensions_of_servers_are_advertised_in_both_eras() {
    let setup = Setup::start().await;
    let url = setup.url();
    let discovered = mcp(&url, "server/discover", json!({})).await;
    let hello = initialize_message(LEGACY, json!({}));
    let client = reqwest::Client::new();
    let agent = setup.gateway.url("/agents/partial/mcp");
    let initialized = send(legacy_request(client.post(&url), LEGACY, "", &hello)).await.body;
    for answer in [&discovered, &initialized] {
        let types = &answer["result"]["capabilities"]["extensions"][APPS]["mimeTypes"];
        assert_eq!(*types, json!(["text/html;profile=mcp-app"]), "{answer}");
    }
    let partial = mcp(&agent, "server/discover", json!({})).await;
    assert!(partial["result"]["capabilities"]["extensions"].get(APPS).is_none(), "{partial}");
}

#[tokio::test]
async fn an_app_calls_its_own_server_by_bare_names() {
    let setup = Setup::start().await;
    let url = setup.url();
    assert_eq!(said(&url, "only-at-two").await, "only-at-two of two", "only one tool has the name");
    let refused = said(&url, "get-time").await;
    assert!(refused.contains("`one__get-time`, `two__get-time`"), "no app is open: {refused}");

    said(&url, "two__show-time").await;
    assert_eq!(said(&url, "get-time").await, "get-time of two");
    assert_eq!(said(&url, "refresh").await, "refresh of two");
    let other = setup.gateway.url("/agents/host/mcp");
    said(&url, "one__show-time").await;
    let refused = said(&url, "get-time").await;
    assert!(refused.contains("`one__get-time`"), "apps of both are open: {refused}");
    assert_eq!(
        said(&other, "get-time").await,
        "get-time of two",
        "an agent that has only one of them"
    );
}

#[tokio::test]
async fn the_apps_of_one_session_do_not_count_in_another() {
    let setup = Setup::start().await;
    let url = setup.url();
    let client = reqwest::Client::new();
    let mut sessions = Vec::new();
    for server in ["one", "two"] {
        let hello = initialize_message(LEGACY, json!({"extensions": {APPS: {}}}));
        let opened = send(legacy_request(client.post(&url), LEGACY, "", &hello)).await;
        let id = opened.headers["mcp-session-id"].to_str().expect("an id").to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        send(legacy_request(client.post(&url), LEGACY, &id, &ready)).await;
        sessions.push((server, id));
    }
    let call = async |session: &str, tool: &str| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": {}}});
        let request = legacy_request(client.post(&url), LEGACY, session, &message);
        request.send().await.expect("an answer").text().await.expect("a text")
    };
    for (server, session) in &sessions {
        call(session, &format!("{server}__show-time")).await;
    }
    for (server, session) in &sessions {
        let answer = call(session, "get-time").await;
        assert!(answer.contains(&format!("get-time of {server}")), "{answer}");
    }
}

#[tokio::test]
async fn a_caller_who_may_not_read_an_app_gets_no_link_to_it() {
    let setup = Setup::start().await;
    let partial = setup.gateway.url("/agents/partial/mcp");
    let meta = meta_of(&partial, "two__show-time").await;
    assert!(meta.get("ui").is_none() && meta.get("ui/resourceUri").is_none(), "{meta}");
    assert_eq!(meta["other"], json!(1), "the rest stays");
    let result = mcp_call(&partial, "two__show-time", json!({})).await;
    assert!(result["_meta"].get("ui").is_none(), "{result}");
    assert!(result["_meta"].get("ui/resourceUri").is_none(), "{result}");
    for uri in ["ui://two/time/app.html", APP] {
        assert!(read(&partial, uri).await.get("error").is_some(), "{uri}");
    }
    let refused = said(&partial, "refresh").await;
    assert!(refused.contains("there is no tool `refresh`"), "{refused}");
    let host = setup.gateway.url("/agents/host/mcp");
    assert_eq!(
        meta_of(&host, "two__show-time").await["ui"]["resourceUri"],
        json!("ui://two/time/app.html")
    );
}

#[tokio::test]
async fn models_do_not_find_or_call_what_is_only_for_apps() {
    let setup = Setup::start().await;
    let gateway = &setup.gateway;
    let found = gateway
        .call("powerstrip:search_tools", &json!({"query": "says the time refresh", "limit": 20}))
        .await;
    let found = found.body["data"]["tools"].to_string();
    assert!(found.contains("one:get-time") && !found.contains("refresh"), "{found}");
    let call = json!({"id": "one:refresh", "arguments": {}});
    let refused = gateway.call("powerstrip:call_tool", &call).await;
    assert_eq!(refused.body["errors"][0]["code"], json!("DENIED"), "{refused:?}");
    assert_eq!(gateway.call("one:refresh", &json!({})).await.body["ok"], json!(true));
}
