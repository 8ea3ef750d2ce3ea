use proptest::prelude::{any, proptest};
use serde_json::json;

use super::parse;

#[test]
fn a_configuration_of_codex_is_read() {
    let text = r#"
# model
model = "gpt-5" # comment
approval_policy = 'never'
notify = [
  "a", # first
  'b',
]
since = 2025-01-01T00:00:00Z

[mcp_servers.docs]
command = "npx"
args = ["-y", "say \"hi\" \u00e9"]
env = { "API_KEY" = "x", MODE = "a" }
startup_timeout_sec = 20.5
enabled = true

[mcp_servers."my server".env]
PATH = '''
/usr/bin'''
a.b = -1_000
"#;
    assert_eq!(
        parse(text).unwrap(),
        json!({
            "model": "gpt-5", "approval_policy": "never", "notify": ["a", "b"], "since": "2025-01-01T00:00:00Z",
            "mcp_servers": {
                "docs": {
                    "command": "npx", "args": ["-y", "say \"hi\" é"], "env": {"API_KEY": "x", "MODE": "a"},
                    "startup_timeout_sec": 20.5, "enabled": true,
                },
                "my server": {"env": {"PATH": "/usr/bin", "a": {"b": -1000}}},
            },
        })
    );
    let faulty =
        ["a", "a = ", "a = 1 2", "a = \"x", "a = [1 2]", "[a", "a = 1\na = 2", "a = 1\n[a]"];
    for text in faulty {
        assert!(parse(text).is_err(), "{text}");
    }
    let fault = parse("a = 1\nb = \"s3cret").unwrap_err().to_string();
    assert!(fault.starts_with("line 2: ") && !fault.contains("s3cret"), "{fault}");
    assert_eq!(parse("a = nan\n[[b]]\nc = 0x10").unwrap(), json!({"a": "NaN", "b": [{"c": 16}]}));
}

#[test]
fn deep_values_and_keys_are_refused() {
    let deep = 100_000;
    let keys = "a.".repeat(70);
    for text in [
        format!("a = {}", "[".repeat(deep)),
        format!("a = {}1{}", "[".repeat(deep), "]".repeat(deep)),
        format!("a = {}", "{a=".repeat(deep)),
        format!("{}a = 1", "a.".repeat(deep)),
        format!("[{}a]", "a.".repeat(deep)),
        format!("[[{}a]]", "a.".repeat(deep)),
        format!("a = {}1{}", format!("{{ {keys}a = ").repeat(70), "}".repeat(70)),
    ] {
        assert!(parse(&text).is_err(), "{}", &text[..20]);
    }
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in any::<String>()) {
        let _ = parse(&text);
    }
}
