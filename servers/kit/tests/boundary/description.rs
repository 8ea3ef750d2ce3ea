//! Mistakes of a server's author are found before it serves.

use kit::rmcp::model::{GetPromptResult, JsonObject, Prompt, ResourceContents, ResourceTemplate};
use kit::{Blocks, BuildError, Ctx, Fault, Locator, NoInput, PromptArguments, Server, ToolSpec};

async fn hello(_: NoInput, _: Ctx) -> Result<Blocks, Fault> {
    Ok(Blocks::new())
}

async fn number(_: NoInput, _: Ctx) -> Result<u32, Fault> {
    Ok(7)
}

async fn text(_: PromptArguments, _: Ctx) -> Result<GetPromptResult, Fault> {
    Ok(GetPromptResult::new(vec![]))
}

fn refusal(server: Server) -> BuildError {
    match server.build() {
        Ok(_) => panic!("the description was accepted"),
        Err(error) => error,
    }
}

fn empty() -> Server {
    Server::new("description-test", "0.0.0")
}

#[test]
fn names_that_clients_refuse_are_refused() {
    for name in ["", "a.b", "a:b", "spaced out", "naïve", &"x".repeat(65)] {
        let server = empty().tool(ToolSpec::new(name.to_owned(), "Says hello."), hello);
        assert_eq!(refusal(server), BuildError::ToolName(name.to_owned()));
    }
    assert!(empty().tool(ToolSpec::new("x".repeat(64), "Says hello."), hello).build().is_ok());
}

#[test]
fn nothing_is_described_twice() {
    let tools =
        empty().tool(ToolSpec::new("a", "One."), hello).tool(ToolSpec::new("a", "Two."), hello);
    assert_eq!(refusal(tools), BuildError::Duplicate { kind: "tool", name: "a".into() });
    let prompt = || Prompt::new("p", None::<String>, None);
    let prompts = empty().prompt(prompt(), text).prompt(prompt(), text);
    assert_eq!(refusal(prompts), BuildError::Duplicate { kind: "prompt", name: "p".into() });
}

#[test]
fn schemas_that_cannot_be_served_are_refused() {
    let answer = empty().tool(ToolSpec::new("seven", "Answers seven."), number);
    assert!(matches!(refusal(answer), BuildError::Schema { tool, .. } if tool == "seven"));
    let mut schema = JsonObject::new();
    schema.insert("type".into(), "no such type".into());
    let arguments = empty().tool(ToolSpec::new("odd", "Odd.").input_schema(schema), hello);
    assert!(matches!(refusal(arguments), BuildError::Schema { tool, .. } if tool == "odd"));
    let template = empty()
        .resource_template(ResourceTemplate::new("a://{b", "b"), |at: Locator, _| async move {
            Ok(ResourceContents::text("", at.uri))
        });
    assert_eq!(refusal(template), BuildError::UriTemplate("a://{b".into()));
}
