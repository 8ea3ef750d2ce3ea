//! Handshakes with processes that start slowly or refuse one caller.

use std::sync::Arc;

use operations::servers::ServerState;
use proto::Code;
use serde_json::json;
use strip::AskMode;
use upstream::Era;

use crate::bridging::{Caller, by};
use crate::python::server;
use crate::support::{Setup, text};

fn asked_directly() -> Arc<Caller> {
    Arc::new(Caller::new(AskMode::Direct, json!({"elicitation": {}})))
}

/// Each process takes twice as long to start as the gateway waits before it tries the other era.
#[tokio::test]
async fn a_process_that_starts_slowly_is_waited_for_in_either_era() {
    let config = server(&["era=both", "delay=1", "tools=era"]);
    let setup = Setup::with(vec![("slow", config)]).await;
    setup.wait_for_tool("slow:era").await;
    assert_eq!(setup.status("slow").era, Some(Era::Modern));
    for _ in 0..2 {
        let direct = setup.run(by("ann", "slow:era", &asked_directly())).await.unwrap();
        assert_eq!(text(&direct), "legacy", "it can be asked");
    }
    let rounds = Arc::new(Caller::new(AskMode::Rounds, json!({"elicitation": {}})));
    let modern = setup.run(by("bob", "slow:era", &rounds)).await.unwrap();
    assert_eq!(text(&modern), "modern");
    let status = setup.status("slow");
    assert_eq!((status.state, status.restarts, status.last_error), (ServerState::Ready, 0, None));
}

#[tokio::test]
async fn a_refused_handshake_of_one_caller_concerns_no_other() {
    let setup = Setup::with(vec![("moody", server(&["era=moody", "tools=era"]))]).await;
    setup.wait_for_tool("moody:era").await;
    let refused = setup.run(by("ann", "moody:era", &asked_directly())).await.unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    let why = &refused.message;
    assert!(why.contains("shares no protocol version") && why.contains("`initialize`"), "{why}");
    assert!(!why.contains("than before"), "it is the first contact: {why}");

    let rounds = Arc::new(Caller::new(AskMode::Rounds, json!({"elicitation": {}})));
    assert_eq!(text(&setup.run(by("bob", "moody:era", &rounds)).await.unwrap()), "modern");
    assert_eq!(setup.text("moody:era", json!({})).await, "modern");
    let (status, log) =
        (setup.status("moody"), setup.upstreams.get("moody").unwrap().log_lines(None, 99));
    assert_eq!((status.state, status.era), (ServerState::Ready, Some(Era::Modern)));
    assert!(log.lines.iter().all(|line| !line.line.starts_with("down:")), "{log:?}");
    assert!(log.lines.iter().any(|line| line.line.contains("for one caller")), "{log:?}");
}
