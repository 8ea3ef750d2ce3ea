//! Approvals of one tenant, seen from another.

use reqwest::Method;
use serde_json::json;
use testkit::send;

use super::Callers;
use crate::access::support::{Caller, Setup};

const DECIDES: &str = "approvals:read approvals:decide";

/// Waits until the caller sees a pending approval; returns its id.
async fn pending_approval(reviewer: &Caller<'_>) -> String {
    testkit::eventually("a call waits", || async {
        let listed = reviewer.get("/v1/approvals").await.body;
        listed["approvals"][0]["id"].as_str().map(str::to_owned)
    })
    .await
}

/// An approval is visible to reviewers of its tenant, not to those of another tenant and never to agents.
pub(super) async fn decisions(setup: &Setup, callers: &Callers<'_>) {
    let amy = setup.caller(json!({"org": "acme", "sub": "amy", "scope": DECIDES}));
    let outsider = setup.caller(json!({"org": "globex", "sub": "ann", "scope": DECIDES}));
    let agent =
        setup.caller(json!({"org": "acme", "sub": "amy", "agent": "bot", "scope": DECIDES}));
    let yes = json!({"decision": "approve"});
    let nothing = json!({});
    let call = callers.ann.call("dice.gated", &nothing);
    let (answer, ()) = tokio::join!(call, async {
        let id = pending_approval(&amy).await;
        let path = format!("/v1/approvals/{id}");
        assert_eq!(outsider.get("/v1/approvals?state=all").await.body["approvals"], json!([]));
        assert_eq!(outsider.get(&path).await.status, 404);
        let decide =
            async |caller: &Caller<'_>| send(caller.request(Method::POST, &path).json(&yes)).await;
        assert_eq!(decide(&outsider).await.status, 404, "approvals of another tenant do not exist");
        assert_eq!(decide(&agent).await.status, 403, "agents cannot decide");
        assert_eq!(agent.get(&path).await.status, 403);
        let looks = setup.caller(json!({"org": "acme", "scope": "approvals:read"}));
        assert_eq!(looks.get(&path).await.status, 200);
        assert_eq!(decide(&looks).await.status, 403, "reading approvals does not allow deciding");
        assert_eq!(amy.get(&path).await.body["state"], "pending", "it is still pending");
        assert_eq!(decide(&amy).await.status, 200);
    });
    assert_eq!(answer.status, 200, "{answer:?}");

    // The admin token sees and decides approvals of every tenant.
    let admin = Caller::new(&setup.gateway, Some(setup.gateway.admin_token()));
    let nothing = json!({});
    let call = callers.ann.call("dice.gated", &nothing);
    let (answer, ()) = tokio::join!(call, async {
        let path = format!("/v1/approvals/{}", pending_approval(&admin).await);
        assert_eq!(send(admin.request(Method::POST, &path).json(&yes)).await.status, 200);
    });
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(
        admin.call("demo.echo", &json!({"message": "x"})).await.status,
        401,
        "the admin token cannot call tools"
    );

    // Reviewers cannot decide about their own calls, and with `auth` no client is asked.
    let mighty = setup.caller(
        json!({"org": "acme", "sub": "eve", "scope": format!("tools:read tools:call {DECIDES}")}),
    );
    let call = mighty.call_with_elicitation("dice_gated");
    let (answer, ()) = tokio::join!(call, async {
        let path = format!("/v1/approvals/{}", pending_approval(&mighty).await);
        let own = send(mighty.request(Method::POST, &path).json(&yes)).await;
        assert_eq!(own.status, 403, "{own:?}");
        let no = json!({"decision": "reject", "reason": "four eyes"});
        assert_eq!(send(amy.request(Method::POST, &path).json(&no)).await.status, 200);
    });
    assert_eq!(answer.body["result"]["isError"], json!(true), "{answer:?}");
}

/// A standing rule is visible to its tenant, which can remove it.
pub(super) async fn standing_rules(setup: &Setup, callers: &Callers<'_>) {
    let amy = setup.caller(json!({"org": "acme", "sub": "amy", "scope": DECIDES}));
    let outsider = setup.caller(json!({"org": "globex", "sub": "amy", "scope": DECIDES}));
    let always = json!({"decision": "approve", "standing": {"seconds": 60}});
    let nothing = json!({});
    let call = callers.ann.call("dice.gated", &nothing);
    let (answer, ()) = tokio::join!(call, async {
        let path = format!("/v1/approvals/{}", pending_approval(&amy).await);
        assert_eq!(send(amy.request(Method::POST, &path).json(&always)).await.status, 200);
    });
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(outsider.get("/v1/approvals/rules").await.body["rules"], json!([]));
    let rules = amy.get("/v1/approvals/rules").await.body;
    let path = format!("/v1/approvals/rules/{}", rules["rules"][0]["id"].as_str().unwrap());
    let remove =
        async |caller: &Caller<'_>| send(caller.request(Method::DELETE, &path)).await.status;
    assert_eq!(remove(&outsider).await, 404);
    assert_eq!(remove(&callers.ann).await, 403);
    assert_eq!(
        callers.ann.call("dice.gated", &json!({})).await.status,
        200,
        "the rule still exists"
    );
    assert_eq!(remove(&amy).await, 200);
    assert_eq!(remove(&amy).await, 404);
}
