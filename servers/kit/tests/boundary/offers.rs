//! Prompts, resources, and what is said of those that are not there.

use kit::rmcp::model::{
    GetPromptResult, Prompt, PromptArgument, PromptMessage, Resource, ResourceContents,
    ResourceTemplate, Role,
};
use kit::{Blocks, Ctx, Fault, Locator, NoInput, PromptArguments, Server, ToolSpec};
use serde_json::{Value, json};

use crate::wire::start;

async fn hello(_: NoInput, _: Ctx) -> Result<Blocks, Fault> {
    Ok(Blocks::new().text("hello"))
}

async fn letter(arguments: PromptArguments, _: Ctx) -> Result<GetPromptResult, Fault> {
    let text = format!("Write to {} about {}.", arguments["to"], arguments["about"]);
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

async fn echo(at: Locator, _: Ctx) -> Result<ResourceContents, Fault> {
    Ok(ResourceContents::text(format!("{:?}", at.variables), at.uri))
}

async fn gone(_: Locator, _: Ctx) -> Result<ResourceContents, Fault> {
    Err(Fault::unavailable("the library is closed"))
}

fn full() -> Server {
    let required = |name: &str| PromptArgument::new(name).with_required(true);
    Server::new("offers-test", "0.0.0")
        .instructions("Ask for pages.")
        .tool(ToolSpec::new("hello", "Says hello."), hello)
        .prompt(
            Prompt::new("letter", Some("A letter."), Some(vec![required("to"), required("about")])),
            letter,
        )
        .resource(Resource::new("library://fixed", "fixed"), echo)
        .resource(Resource::new("library://gone", "gone"), gone)
        .resource_template(ResourceTemplate::new("library://{book}/{page}", "pages"), echo)
}

#[tokio::test]
async fn prompts_and_resources_are_declared_listed_and_served() {
    let running = start(full()).await;
    let discovered = running.ask("server/discover", json!({})).await["result"].clone();
    for capability in ["tools", "prompts", "resources"] {
        assert!(discovered["capabilities"][capability].is_object(), "{discovered}");
    }
    assert_eq!(discovered["instructions"], "Ask for pages.");
    assert_eq!(
        running.ask("prompts/list", json!({})).await["result"]["prompts"][0]["name"],
        "letter"
    );
    assert_eq!(
        running.ask("resources/list", json!({})).await["result"]["resources"][1]["uri"],
        "library://gone"
    );
    let templates = running.ask("resources/templates/list", json!({})).await;
    assert_eq!(
        templates["result"]["resourceTemplates"][0]["uriTemplate"],
        "library://{book}/{page}"
    );

    let arguments = json!({ "to": "Ada", "about": "engines" });
    let prompt =
        running.ask("prompts/get", json!({ "name": "letter", "arguments": arguments })).await;
    assert_eq!(prompt["result"]["messages"][0]["content"]["text"], "Write to Ada about engines.");
    let read = async |uri: &str| running.ask("resources/read", json!({ "uri": uri })).await;
    assert_eq!(read("library://fixed").await["result"]["contents"][0]["text"], "{}");
    let page = read("library://dune/7").await["result"]["contents"][0].clone();
    assert_eq!(
        page,
        json!({ "uri": "library://dune/7", "text": "{\"book\": \"dune\", \"page\": \"7\"}", "mimeType": page["mimeType"] })
    );
}

#[tokio::test]
async fn bad_requests_for_prompts_and_resources_say_what_is_wrong() {
    let running = start(full()).await;
    let error =
        async |method: &str, params: Value| running.ask(method, params).await["error"].clone();
    let missing =
        error("prompts/get", json!({ "name": "letter", "arguments": { "about": 7 } })).await;
    assert_eq!(missing["code"], -32602);
    let said = missing["message"].as_str().unwrap();
    assert!(
        said.contains("`to` is required") && said.contains("`about` is not a string"),
        "{said}"
    );
    assert_eq!(error("prompts/get", json!({ "name": "nosuch" })).await["code"], -32602);
    let unknown = error("resources/read", json!({ "uri": "library://a/b/c" })).await;
    assert_eq!(unknown["code"], -32602);
    assert_eq!(unknown["data"]["uri"], "library://a/b/c");
    let closed = error("resources/read", json!({ "uri": "library://gone" })).await;
    assert_eq!(closed["code"], -32603);
    assert!(closed["message"].as_str().unwrap().contains("closed"));
}

#[tokio::test]
async fn missing_features_are_neither_declared_nor_answered() {
    let running =
        start(Server::new("bare", "0.0.0").tool(ToolSpec::new("hello", "Says hello."), hello))
            .await;
    let discovered = running.ask("server/discover", json!({})).await["result"].clone();
    assert!(discovered["capabilities"].get("prompts").is_none(), "{discovered}");
    for (method, params) in [
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "letter" })),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "library://fixed" })),
    ] {
        assert_eq!(running.ask(method, params).await["error"]["code"], -32601, "{method}");
    }
}
