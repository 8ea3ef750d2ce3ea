use serde_json::{Value, json};
use testkit::{Gateway, noise};

use crate::files::support::{id, put};

async fn mcp(gateway: &Gateway, method: &str, params: Value) -> Value {
    testkit::mcp(&gateway.url("/mcp"), method, params).await
}

#[tokio::test]
async fn files_are_resources() {
    let gateway = Gateway::start().await;
    let text = put(&gateway, "?name=a.txt", "hello").await;
    let binary = put(&gateway, "?name=b.bin", vec![0xff, 0xfe, 0, 1]).await;
    let listed = mcp(&gateway, "resources/list", json!({})).await;
    let resources = listed["result"]["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 2, "{listed}");
    assert_eq!(resources[0]["uri"], format!("powerstrip://files/{}", id(&binary)));
    assert_eq!((&resources[1]["name"], &resources[1]["size"]), (&json!("a.txt"), &json!(5)));
    let templates = mcp(&gateway, "resources/templates/list", json!({})).await;
    assert_eq!(
        templates["result"]["resourceTemplates"][0]["uriTemplate"],
        "powerstrip://files/{id}"
    );

    let read = mcp(&gateway, "resources/read", json!({"uri": text["uri"]})).await;
    assert_eq!(read["result"]["contents"][0]["text"], "hello", "{read}");
    let read = mcp(&gateway, "resources/read", json!({"uri": binary["uri"]})).await;
    assert_eq!(read["result"]["contents"][0]["blob"], "//4AAQ==", "{read}");
    for uri in [
        "powerstrip://files/",
        "powerstrip://files/x",
        "powerstrip://files/file_00000000000000000000000000000000",
    ] {
        let refused = mcp(&gateway, "resources/read", json!({"uri": uri})).await;
        assert!(refused["error"]["code"].is_number(), "{uri}: {refused}");
    }
    let large = put(&gateway, "?name=c.bin", noise(5 << 20)).await;
    let refused = mcp(&gateway, "resources/read", json!({"uri": large["uri"]})).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("bytes"), "{refused}");
}

#[tokio::test]
async fn many_files_are_listed_page_by_page() {
    let gateway = Gateway::start().await;
    for number in 0..105 {
        put(&gateway, &format!("?name={number}"), "x").await;
    }
    let first = mcp(&gateway, "resources/list", json!({})).await;
    assert_eq!(first["result"]["resources"].as_array().unwrap().len(), 100);
    let cursor = &first["result"]["nextCursor"];
    let second = mcp(&gateway, "resources/list", json!({"cursor": cursor})).await;
    assert_eq!(second["result"]["resources"].as_array().unwrap().len(), 5, "{second}");
    assert!(second["result"].get("nextCursor").is_none());
    let refused = mcp(&gateway, "resources/list", json!({"cursor": "x"})).await;
    assert!(refused["error"]["code"].is_number(), "{refused}");
}
