//! Servers that speak both eras: the era is chosen for each caller.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::response::Response;
use operations::servers::ServerState;
use proto::Code;
use serde_json::{Value, json};
use server_entry::{EraChoice, ServerConfig};
use strip::AskMode;
use upstream::Era;

use crate::bridging::{Caller, by};
use crate::fake::{Fake, ReceivedRequest, error, plain, result, text_result, tool};
use crate::support::{Setup, at, eventually, text};

/// A server of both eras whose tool says in which one it was called, with the capabilities it knows of.
#[derive(Clone, Default)]
struct DualServer {
    /// Whether it refuses `initialize`, as a server of the modern era only does.
    is_modern_only: Arc<AtomicBool>,
}

impl DualServer {
    async fn answer(self, received: ReceivedRequest) -> Response {
        let modern = received.header("mcp-protocol-version") == Some("2026-07-28");
        match received.method_name() {
            "server/discover" if modern => result(
                &received,
                json!({"resultType": "complete", "capabilities": {"tools": {}},
                    "supportedVersions": ["2026-07-28"]}),
            ),
            "initialize" if !self.is_modern_only.load(Ordering::SeqCst) => {
                let mut response = result(
                    &received,
                    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}),
                );
                let declared = received.body["params"]["capabilities"].to_string();
                response.headers_mut().insert("mcp-session-id", declared.parse().unwrap());
                response
            }
            "tools/list" => result(&received, json!({"tools": [tool("era"), tool("new")]})),
            "tools/call" if modern => result(&received, text_result("modern")),
            "tools/call" if received.body["params"]["name"] == "new" => {
                error(200, &received, -32600, "the result requires version 2026-07-28")
            }
            "tools/call" => {
                let session = received.header("mcp-session-id").unwrap_or_default();
                result(&received, text_result(&format!("legacy {session}")))
            }
            _ if received.id().is_null() => plain(202, ""),
            other => error(400, &received, -32601, other),
        }
    }
}

async fn setup(
    server: &DualServer,
    config: impl Fn(ServerConfig) -> ServerConfig,
) -> (Fake, Setup) {
    let server = server.clone();
    let fake = Fake::new(move |received| server.clone().answer(received));
    let setup = Setup::with(vec![("both", config(at(&fake.url())))]).await;
    setup.wait_for_tool("both:era").await;
    (fake, setup)
}

async fn era_of(setup: &Setup, mode: AskMode, capabilities: Value) -> String {
    let caller = Arc::new(Caller::new(mode, capabilities));
    text(&setup.run(by("ann", "both:era", &caller)).await.unwrap())
}

#[tokio::test]
async fn a_caller_that_is_asked_directly_gets_a_legacy_session() {
    let (fake, setup) = setup(&DualServer::default(), |config| config).await;
    assert_eq!(setup.status("both").era, Some(Era::Modern));
    let asked = json!({"sampling": {}});
    for _ in 0..2 {
        let era = era_of(&setup, AskMode::Direct, asked.clone()).await;
        assert_eq!(era, r#"legacy {"sampling":{}}"#);
        assert_eq!(era_of(&setup, AskMode::Rounds, asked.clone()).await, "modern");
        assert_eq!(era_of(&setup, AskMode::Direct, json!({})).await, "modern");
        assert_eq!(setup.text("both:era", json!({})).await, "modern");
    }
    let caller = Arc::new(Caller::new(AskMode::Direct, asked));
    let new = setup.run(by("ann", "both:new", &caller)).await.unwrap();
    assert_eq!(text(&new), "modern", "a tool of the modern era only");
    assert_eq!(fake.requests_of("initialize").len(), 1, "one session for one caller");
    assert_eq!(fake.requests_of("server/discover").len(), 1);
}

#[tokio::test]
async fn the_config_may_name_the_era() {
    let asked = json!({"sampling": {}});
    let modern = |config| ServerConfig { era: EraChoice::Modern, ..config };
    let (fake, setup_modern) = setup(&DualServer::default(), modern).await;
    assert_eq!(era_of(&setup_modern, AskMode::Direct, asked.clone()).await, "modern");
    assert!(fake.requests_of("initialize").is_empty());

    let legacy = |config| ServerConfig { era: EraChoice::Legacy, ..config };
    let (fake, setup_legacy) = setup(&DualServer::default(), legacy).await;
    assert!(setup_legacy.text("both:era", json!({})).await.starts_with("legacy"));
    assert_eq!(era_of(&setup_legacy, AskMode::Rounds, asked).await, r#"legacy {"sampling":{}}"#);
    assert!(fake.requests_of("server/discover").is_empty(), "it is not probed");
}

#[tokio::test]
async fn a_modern_server_is_asked_to_initialize_once() {
    let server = DualServer::default();
    server.is_modern_only.store(true, Ordering::SeqCst);
    let (fake, setup) = setup(&server, |config| config).await;
    for _ in 0..2 {
        assert_eq!(era_of(&setup, AskMode::Direct, json!({"roots": {}})).await, "modern");
    }
    assert_eq!(fake.requests_of("initialize").len(), 1, "it is not tried again");
}

#[tokio::test]
async fn an_era_that_the_server_does_not_speak_is_named() {
    let fake = Fake::new(|received: ReceivedRequest| async move {
        match received.method_name() {
            "initialize" => result(
                &received,
                json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}),
            ),
            other => error(400, &received, -32601, other),
        }
    });
    let config = ServerConfig { era: EraChoice::Modern, ..at(&fake.url()) };
    let setup = Setup::with(vec![("old", config)]).await;
    let shown = || setup.status("old").last_error.unwrap_or_default();
    eventually("the reason is shown", || shown().contains("the config has `era: modern`")).await;
    assert_ne!(setup.status("old").state, ServerState::Ready);
    assert!(fake.requests_of("initialize").is_empty());
}

/// The fixture speaks both eras over its pipes.
#[tokio::test]
async fn a_program_of_both_eras_gets_a_legacy_process_for_a_caller_that_is_asked_directly() {
    let program = crate::support::fixture();
    let config = |era| ServerConfig {
        command: Some(program.to_str().unwrap().to_owned()),
        era,
        ..ServerConfig::default()
    };
    let servers = vec![
        ("auto", config(EraChoice::Auto)),
        ("modern", config(EraChoice::Modern)),
        ("legacy", config(EraChoice::Legacy)),
    ];
    let setup = Setup::with(servers).await;
    for name in ["auto", "modern", "legacy"] {
        setup.wait_for_tool(&format!("{name}:test_elicitation")).await;
    }
    assert_eq!(setup.status("auto").era, Some(Era::Modern));
    assert_eq!(setup.status("legacy").era, Some(Era::Legacy));
    let caller = Arc::new(Caller::new(AskMode::Direct, json!({"elicitation": {}})));
    for name in ["auto", "modern", "legacy"] {
        let mut call = by("ann", &format!("{name}:test_elicitation"), &caller);
        call.input = Arc::new(json!({"message": "Who?"}));
        let answer = text(&setup.run(call).await.unwrap());
        assert!(answer.contains("action=accept") && answer.contains("Ada"), "{name}: {answer}");
    }
    // A tool that asks in the modern way only.
    let call = by("ann", "auto:test_input_required_result_elicitation", &caller);
    assert_eq!(text(&setup.run(call).await.unwrap()), "Hello, Ada!");
    // A caller that cannot be asked is served by a modern process, which says what is missing.
    let mute = setup.call("auto:test_elicitation", json!({"message": "Who?"})).await.unwrap_err();
    assert_eq!(mute.code, Code::Unsupported, "{mute:?}");
    // The modern process that the tools are listed from, one for `local` or none, and the legacy one.
    eventually("the legacy process is counted", || setup.status("auto").sessions >= 2).await;
}
