#![allow(clippy::unwrap_used, reason = "tests")]

use proto::{Clock, digest};
use store::{ApprovalRow, ApprovalState, AuditTrail, Database};
use strip::approval::{Approvals, Decision, Verdict};

use super::{ApprovalErrands, DecideParams, One};

fn row(id: &str) -> ApprovalRow {
    ApprovalRow {
        id: id.to_owned(),
        tenant: "acme".to_owned(),
        owner: "ann".to_owned(),
        agent: None,
        decider: false,
        tool: "crm.write".to_owned(),
        version: "1.0.0".to_owned(),
        definition: digest(b"definition"),
        code: None,
        idempotency_key: None,
        arguments_bytes: 2,
        arguments_sum: digest(b"{}"),
        fingerprint: digest(id.as_bytes()),
        arguments: Some("{}".to_owned()),
        files: "[]".to_owned(),
        trace: "trace".to_owned(),
        run: None,
        door: "http".to_owned(),
        created_unix_ms: 1_000,
        deadline_unix_ms: 2_000_000,
        state: ApprovalState::Pending,
        decided_by: None,
        decided_via: None,
        reason: None,
        decided_unix_ms: None,
        good_until_unix_ms: None,
    }
}

#[tokio::test]
async fn letters_of_an_id_name_one_confirmation_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    for id in ["3f2a91c0-1111", "3f2a91c0-2222", "77777777-3333"] {
        assert!(database.add_approval(&row(id), 100).await.unwrap());
    }
    let trail = AuditTrail::start(database.clone());
    let approvals = Approvals::open(database, Clock::manual(1_500), trail).await.unwrap();
    let errands = ApprovalErrands(approvals);
    let decide = |id: &str| {
        let (id, decision) = (id.to_owned(), Decision::once(Verdict::Reject, None));
        errands.decide(DecideParams { id, decision })
    };
    let several = decide("3f2a91c0").await.unwrap_err();
    assert!(several.contains("several"), "{several}");
    assert_eq!(decide("3f2a91c0-1111").await.unwrap()["state"], "rejected");
    let several = decide("3f2a91c0").await.unwrap_err();
    assert!(several.contains("several"), "the one that was decided may be meant: {several}");
    for few in ["", "7", "7777", "7777777"] {
        let refused = decide(few).await.unwrap_err();
        assert!(refused.contains("at least 8"), "{refused}");
    }
    assert!(errands.show(One { id: "77777777".to_owned() }).await.is_ok());
    assert_eq!(decide("77777777").await.unwrap()["id"], "77777777-3333");
}
