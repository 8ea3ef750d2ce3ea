use proto::{Clock, Principal, TenantId, Via, digest};
use store::{ApprovalRow, CommitQueue, Database};

use super::*;

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
        request_reason: None,
        arguments_bytes: 2,
        arguments_digest: digest(b"{}"),
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

fn principal() -> Arc<Principal> {
    let tenant = TenantId::new("acme");
    Arc::new(Principal {
        tenant,
        subject: "amy".to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    })
}

#[tokio::test]
async fn the_first_characters_of_an_id_name_one_approval_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    for id in ["3f2a91c0-1111", "3f2a91c0-2222", "77777777-3333"] {
        assert!(database.add_approval(&row(id), 100).await.unwrap());
    }
    let audit = CommitQueue::start(database.clone());
    let approvals = Approvals::open(database, Clock::manual(1_500), audit).await.unwrap();
    let operator = Caller::operator(principal());
    let resolve = async |id: &str| resolve(&approvals, &operator, id.to_owned()).await;
    let several = resolve("3f2a91c0").await.unwrap_err();
    assert!(several.message.contains("several"), "{several}");
    assert_eq!(resolve("3f2a91c0-1111").await.unwrap(), "3f2a91c0-1111");
    let reject = Decision::once(Verdict::Reject, None);
    approvals.decide("3f2a91c0-1111", &Decider::Operator, reject).await.unwrap();
    let several = resolve("3f2a91c0").await.unwrap_err();
    assert!(several.message.contains("several"), "the decided one may be the right one: {several}");
    for few in ["", "7", "7777", "7777777"] {
        let refused = resolve(few).await.unwrap_err();
        assert!(refused.message.contains("at least 8"), "{refused}");
    }
    assert_eq!(resolve("77777777").await.unwrap(), "77777777-3333");
    assert!(resolve("88888888").await.is_err());
}

#[tokio::test]
async fn only_the_operator_may_abbreviate_an_id() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    assert!(database.add_approval(&row("77777777-3333"), 100).await.unwrap());
    let audit = CommitQueue::start(database.clone());
    let approvals = Approvals::open(database, Clock::manual(1_500), audit).await.unwrap();
    let person = Caller::remote(principal(), proto::TraceId::random());
    assert_eq!(resolve(&approvals, &person, "77777777".to_owned()).await.unwrap(), "77777777");
}

#[tokio::test]
async fn a_call_whose_arguments_are_damaged_is_shown_so_and_can_only_be_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    let ids = ["11111111-none", "22222222-text", "33333333-else"];
    for (id, stored) in ids.into_iter().zip(["", "{\"n\": ", "{\"n\":2}"]) {
        let damaged = ApprovalRow { arguments: Some(stored.to_owned()), ..row(id) };
        assert!(database.add_approval(&damaged, 100).await.unwrap());
    }
    let audit = CommitQueue::start(database.clone());
    let approvals = Approvals::open(database, Clock::manual(1_500), audit).await.unwrap();
    for (id, reason) in ids.into_iter().zip(["not stored", "not JSON", "not those that would run"])
    {
        let stored = approvals.get(None, id).await.unwrap().unwrap();
        let form = crate::question::form(&stored)["message"].to_string();
        assert!(form.contains(reason), "{form}");
        let view = ApprovalView::from(stored);
        assert_eq!(view.shown, None, "{id}");
        assert!(view.arguments_error.is_some_and(|error| error.contains(reason)), "{id}");
        let decide = async |verdict| {
            approvals.decide(id, &Decider::Operator, Decision::once(verdict, None)).await
        };
        let refused = decide(Verdict::Approve).await.unwrap_err();
        assert!(refused.to_string().contains(reason), "{refused}");
        assert_eq!(decide(Verdict::Reject).await.unwrap().state, ApprovalState::Rejected);
    }
}

#[test]
fn arguments_that_a_list_leaves_out_are_not_damaged() {
    let view = ApprovalView::from(ApprovalRow { arguments: None, ..row("77777777-3333") });
    assert_eq!((view.shown, view.arguments_error), (None, None));
}

/// Programs read either name until the next release, also where a command prints what it has read.
#[test]
fn the_digest_of_the_arguments_has_its_name_and_the_deprecated_one() {
    let row = row("77777777-3333");
    let digest = json!(row.arguments_digest);
    let view: ApprovalView =
        serde_json::from_value(json!(ApprovalView::from(row))).expect("a view that was written");
    let view = json!(view);
    assert_eq!((&view["argumentsDigest"], &view["argumentsSum"]), (&digest, &digest));
    let schema = ::operations::output_schema::<ApprovalView>();
    assert_eq!(schema["properties"]["argumentsSum"]["deprecated"], true);
    assert_eq!(schema["properties"]["argumentsDigest"]["deprecated"], Value::Null);
}

#[tokio::test]
async fn a_call_whose_files_cannot_be_read_is_shown_so_and_can_only_be_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    let id = "77777777-3333";
    let damaged = ApprovalRow { files: "[{".to_owned(), ..row(id) };
    assert!(database.add_approval(&damaged, 100).await.unwrap());
    let audit = CommitQueue::start(database.clone());
    let approvals = Approvals::open(database, Clock::manual(1_500), audit).await.unwrap();
    let stored = approvals.get(None, id).await.unwrap().unwrap();
    let form = crate::question::form(&stored)["message"].to_string();
    assert!(form.contains("list of this call's files cannot be read"), "{form}");
    let view = ApprovalView::from(stored);
    assert!(view.files_error.is_some_and(|why| why.contains("cannot be read")), "{:?}", view.files);
    let decide = async |verdict| {
        approvals.decide(id, &Decider::Operator, Decision::once(verdict, None)).await
    };
    let refused = decide(Verdict::Approve).await.unwrap_err();
    assert!(refused.to_string().contains("reject it"), "{refused}");
    assert_eq!(decide(Verdict::Reject).await.unwrap().state, ApprovalState::Rejected);
}
