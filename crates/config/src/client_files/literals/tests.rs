use serde_json::json;

use super::{
    contains_secret, is_secret, is_secret_before_variable, looks_secret, secret_in_argument,
};

#[test]
fn secrets_are_distinguished_from_settings() {
    for (name, value) in [
        ("GITHUB_PERSONAL_ACCESS_TOKEN", "ghp_abcdefghijklmnop"),
        ("Authorization", "Bearer abc-123456"),
        ("X-Api-Key", "hunter22"),
        ("DATABASE", "postgres://ada:pw@db/x"),
        ("ANYTHING", "f3a9c2E81b7d4c5e9a0b"),
        ("ENDPOINT", "https://x.example/s/Zm9vYmFyMTIzNDU2Nzg5MA/mcp"),
        ("ENDPOINT", "https://x.example/mcp?api_key=abc12345"),
    ] {
        assert!(is_secret(name, value), "{name}: {value}");
    }
    for (name, value) in [
        ("MODE", "production"),
        ("TOKEN_LIMIT", "4096"),
        ("KEY_FILE", "/etc/keys/a.pem"),
        ("AUTH_URL", "https://login.example.com/oauth"),
        ("ENDPOINT", "https://mcp.example.com/v1/mcp"),
        ("Accept", "application/json, text/event-stream"),
        ("LOG_LEVEL", "debug"),
        ("MODEL", "claude-sonnet-4-20250514"),
        ("PATH", "/usr/local/bin:/usr/bin"),
        ("DEBUG_KEYS", "true"),
    ] {
        assert!(!is_secret(name, value), "{name}: {value}");
    }
}

#[test]
fn secrets_in_arguments_are_found_with_the_text_before_them() {
    let found = |before: Option<&str>, argument: &str| secret_in_argument(before, argument);
    assert_eq!(found(None, "--api-key=sk-12345678"), Some(10));
    assert_eq!(found(Some("--header"), "Authorization: Bearer abc12345"), Some(15));
    assert_eq!(found(Some("--token"), "abcdef123"), Some(0));
    assert_eq!(found(None, "postgresql://ada:secret@localhost/db"), Some(0));
    assert_eq!(found(None, "--db=postgresql://ada:secret@localhost/db"), Some(5));
    assert_eq!(found(None, "DB_URL=postgresql://ada:secret@localhost/db"), Some(7));
    assert_eq!(found(None, "https://x.example/?api_key=abc12345"), Some(27));
    assert_eq!(found(None, "https://ada:secret@x.example/?api_key=abc12345"), Some(0));
    for harmless in [
        "-y",
        "@scope/server-key-value@1.2.3",
        "/srv/docs",
        "https://mcp.example.com/mcp",
        "--url=https://mcp.example.com/mcp",
        "--token",
    ] {
        assert_eq!(found(Some("-y"), harmless), None, "{harmless}");
    }
    assert!(!looks_secret("mcp-server-20250514"));
}

#[test]
fn a_password_before_a_variable_is_a_secret() {
    for text in [
        "postgres://ada:secret@",
        "--db=postgres://ada:secret@db.",
        "https://ada:secret@x.example/mcp?team=",
        "https://x.example/mcp?token=far-key-123456&team=",
    ] {
        assert!(is_secret_before_variable(text), "{text}");
    }
    for text in
        ["", "Bearer ", "--token=", "https://", "postgres://ada:", "https://x.example/mcp?token="]
    {
        assert!(!is_secret_before_variable(text), "{text}");
    }
}

#[test]
fn references_to_secrets_are_no_secrets() {
    let token = "ghp_0123456789abcdefghij";
    for document in [
        json!({"mcpServers": {"a": {"env": {"A_TOKEN": token}}}}),
        json!({"servers": {"a": {"args": ["--api-key", "far-key-123456"]}}}),
        json!({"servers": {"a": {"url": "https://x.example/?token=far-key-123456"}}}),
        json!({"oauth": [{"refreshToken": "far-key-123456"}]}),
    ] {
        assert!(contains_secret(&document), "{document}");
    }
    for document in [
        json!({"servers": {"a": {"env": {"A_TOKEN": {"secret": "A_TOKEN"}}}}}),
        json!({"servers": {"a": {"headers": {"Authorization": {"prefix": "Bearer ", "env": "A_TOKEN"}}}}}),
        json!({"mcpServers": {"a": {"env": {"A_TOKEN": "${A_TOKEN}"}, "args": ["--token=${A_TOKEN}"]}}}),
        json!({"auth": {"token_endpoint": "https://x.example/token"}, "listen": "127.0.0.1:0"}),
    ] {
        assert!(!contains_secret(&document), "{document}");
    }
}
