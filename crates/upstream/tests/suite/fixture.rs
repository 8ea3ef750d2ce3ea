//! The server of the official suite, over stdio and HTTP.

use egress::process::Spec;
use egress::sandbox::{Mode, Policy};
use serde_json::json;
use server_entry::ServerConfig;
use tokio::io::{AsyncBufReadExt, BufReader};
use upstream::Era;

use crate::support::{Setup, at, eventually, fixture, runner};

#[tokio::test]
async fn the_fixture_server_works_over_stdio() {
    let program = fixture();
    let config = ServerConfig {
        command: Some(program.to_string_lossy().into_owned()),
        ..ServerConfig::default()
    };
    let setup = Setup::with(vec![("fixture", config)]).await;
    setup.wait_for_tool("fixture:greet").await;
    assert_eq!(setup.text("fixture:greet", json!({"name": "Ada"})).await, "Hello, Ada!");
    assert_eq!(setup.status("fixture").era, Some(Era::Modern));

    let image = setup.call("fixture:test_image_content", json!({})).await.unwrap();
    assert_eq!(image.native.unwrap()["content"][0]["type"], "image");
    let failure = setup.call("fixture:test_error_handling", json!({})).await.unwrap_err();
    assert_eq!(failure.native.unwrap()["isError"], true);
    let asks = setup.call("fixture:test_input_required_result_elicitation", json!({})).await;
    assert_eq!(asks.unwrap_err().code, proto::Code::Unsupported);

    let request = async |method: &str, params: serde_json::Value| {
        setup.request("fixture", method, params).await
    };
    let listing = setup.servers.listing();
    assert!(listing.prompt("fixture__test_simple_prompt").is_some());
    let prompt = request("prompts/get", json!({"name": "test_simple_prompt"})).await.unwrap();
    assert!(prompt["messages"][0].is_object(), "{prompt}");
    let read = request("resources/read", json!({"uri": "test://static-text"})).await.unwrap();
    assert!(read["contents"][0]["text"].is_string(), "{read}");
    let missing = request("resources/read", json!({"uri": "test://no-such"})).await.unwrap_err();
    assert!(missing.message.contains("`fixture`"), "{}", missing.message);
    let unknown = request("no/such", json!({})).await.unwrap_err();
    assert_eq!(unknown.code, proto::Code::Unsupported);
    assert!(setup.status("fixture").capabilities.unwrap()["prompts"].is_object());

    assert!(setup.catalog.snapshot().resolve("fixture:test_passing_tool").is_err());
    setup.call("fixture:test_trigger_tool_change", json!({})).await.unwrap();
    setup.wait_for_tool("fixture:test_passing_tool").await;
    setup.upstreams.stop().await;
    eventually("it is stopped", || setup.status("fixture").sessions == 0).await;
}

#[tokio::test]
async fn the_fixture_server_works_over_http() {
    let program = fixture();
    let spec =
        Spec::new(program).args(["--listen", "127.0.0.1:0"]).policy(Policy::new().mode(Mode::Off));
    let mut running = runner().await.spawn_piped(spec).await.unwrap();
    let mut url = String::new();
    BufReader::new(&mut running.stdout).read_line(&mut url).await.unwrap();

    let setup = Setup::with(vec![("fixture", at(url.trim()))]).await;
    setup.wait_for_tool("fixture:greet").await;
    assert_eq!(setup.text("fixture:greet", json!({"name": "Ada"})).await, "Hello, Ada!");
    assert_eq!(setup.status("fixture").era, Some(Era::Modern));
    let region = setup.call("fixture:test_header_parameter", json!({"region": "eu"})).await;
    assert!(region.is_ok(), "{region:?}");
    let asks = setup.call("fixture:test_missing_capability", json!({})).await;
    assert_eq!(asks.unwrap_err().code, proto::Code::Unsupported);
    let wrong = setup.call("fixture:greet", json!({"name": 5})).await;
    assert!(wrong.is_err());

    let params = json!({"uri": "test://static-text"});
    let read = setup.request("fixture", "resources/read", params).await.unwrap();
    assert!(read["contents"][0]["text"].is_string(), "{read}");

    let listens = || setup.status("fixture").replicas[0].admitted;
    eventually("it is admitted", listens).await;
    setup.call("fixture:test_trigger_tool_change", json!({})).await.unwrap();
    setup.wait_for_tool("fixture:test_passing_tool").await;
    running.process.kill().await;
}
