use serde_json::json;
use url::Url;

use super::GatewayAddresses;

fn addresses() -> GatewayAddresses {
    let urls = ["http://127.0.0.1:7777", "https://tools.example.com"];
    GatewayAddresses {
        urls: urls.map(|url| Url::parse(url).unwrap()).into(),
        config: "/srv-of-a/powerstrip.yaml".into(),
        data_dir: "/srv-of-a/data".into(),
    }
}

#[test]
fn only_urls_of_this_gateway_are_its_endpoints() {
    let addresses = addresses();
    for url in [
        "http://127.0.0.1:7777/mcp",
        "http://localhost:7777/mcp/",
        "http://[::1]:7777/agents/analyst/mcp",
        "https://tools.example.com/mcp",
        "https://tools.example.com:443/mcp",
    ] {
        assert!(addresses.is_endpoint(&json!({"type": "http", "url": url})), "{url}");
        assert!(addresses.is_endpoint(&json!({"serverUrl": url})), "{url}");
    }
    for url in [
        "https://mcp.example.com/mcp",
        "https://tools.example.com.evil.example/mcp",
        "https://tools.example.com/crm/mcp",
        "http://tools.example.com:7777/mcp",
        "http://127.0.0.1:7778/mcp",
        "http://localhost/mcp",
        "/mcp",
    ] {
        assert!(!addresses.is_endpoint(&json!({"url": url})), "{url}");
    }
    let values = json!({"command": "http://127.0.0.1:7777/mcp", "cwd": "/srv/mcp"});
    assert!(!addresses.is_endpoint(&values));
}

#[test]
fn only_the_stdio_command_is_a_bridge() {
    let is_bridge = |entry: serde_json::Value| addresses().is_bridge(&entry);
    for arguments in [json!(["stdio"]), json!(["--data-dir", "/srv-of-a/data", "stdio"])] {
        assert!(is_bridge(json!({"command": "/opt/powerstrip", "args": arguments})));
        assert!(!is_bridge(json!({"command": "/opt/other", "args": arguments})));
    }
    assert!(!is_bridge(json!({"command": "powerstrip", "args": ["serve"]})));
    assert!(!is_bridge(json!({"command": "powerstrip"})));
    assert!(!is_bridge(json!("powerstrip stdio")));
}

#[test]
fn a_bridge_with_arguments_of_another_gateway_is_not_this_one() {
    for (arguments, ours) in [
        (&["--config", "/srv-of-a/powerstrip.yaml"][..], true),
        (&["--config=/srv-of-a/powerstrip.yaml", "--agent", "analyst"][..], true),
        (&["--config", "powerstrip.yaml"][..], true),
        (&["--config", "/srv-of-b/powerstrip.yaml"][..], false),
        (&["--config=/srv-of-b/powerstrip.yaml"][..], false),
        (&["--config", "/srv-of-a/powerstrip.yaml", "--data-dir", "/srv-of-b/data"][..], false),
        (&["--data-dir", "/srv-of-b/data"][..], false),
        (&["--url", "http://localhost:7777"][..], true),
        (&["--url=https://tools.example.com/"][..], true),
        (&["--url", "https://tools.example.com/crm"][..], false),
        (&["--url", "http://127.0.0.1:7778"][..], false),
    ] {
        let arguments = [&["stdio"][..], arguments].concat();
        let entry = json!({"command": "powerstrip", "args": arguments, "cwd": "/srv-of-a"});
        assert_eq!(addresses().is_bridge(&entry), ours, "{entry}");
    }
}
