use proto::{TenantId, Via};

use super::*;

const LIMITS: SessionLimits = SessionLimits {
    max: 10,
    per_caller: 10,
    idle: Duration::from_secs(60),
    park: Duration::from_secs(60),
};

fn sessions(limits: SessionLimits) -> Arc<Sessions> {
    Arc::new(Sessions::new(limits, ListVersions::default))
}

fn principal(tenant: &str, subject: &str) -> Arc<Principal> {
    Arc::new(Principal {
        tenant: TenantId::new(tenant),
        subject: subject.to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    })
}

async fn open(sessions: &Sessions, owner: &Arc<Principal>) -> Result<SessionId, SessionFault> {
    let opened = CALLER.scope(Arc::clone(owner), sessions.create_session()).await;
    opened.map(|(id, _transport)| id)
}

/// Makes a session one whose plain calls bypass the library.
fn agree(sessions: &Sessions, id: &SessionId) {
    let start = InitializeRequestParams::default();
    let mut table = sessions.table();
    let session = table.get_mut(id).unwrap();
    session.begin(start, "2025-11-25".to_owned());
    (session.plain, session.ready) = (true, true);
}

#[tokio::test]
async fn only_plain_calls_bypass_the_library() {
    let sessions = sessions(LIMITS);
    let pass = |id: &str, call| {
        sessions.begin_direct(id, "2025-11-25", "tool", call, CancellationToken::new)
    };
    assert!(pass("s", "1").is_none(), "no such session");
    let id = open(&sessions, &principal("acme", "ann")).await.unwrap();
    assert!(pass(&id, "1").is_none(), "nothing was negotiated");
    agree(&sessions, &id);
    let change = |change: fn(&mut Session)| change(sessions.table().get_mut(&id).unwrap());
    for (unfit, fit) in [
        ((|s| s.plain = false) as fn(&mut Session), (|s| s.plain = true) as fn(&mut Session)),
        (|s| s.ready = false, |s| s.ready = true),
        (|s| s.version = "2025-06-18".to_owned(), |s| s.version = "2025-11-25".to_owned()),
    ] {
        change(unfit);
        assert!(pass(&id, "1").is_none());
        change(fit);
    }
    let first = pass(&id, "1").expect("a plain call");
    assert!(pass(&id, "1").is_none(), "its id is in use");
    assert!(sessions.cancel(&id, "1") && first.cancel.is_cancelled());
    assert!(!sessions.cancel(&id, "2"));
    drop(first);
    let again = pass(&id, "1").expect("the id is free again");
    sessions.note_slow("tool");
    assert!(pass(&id, "2").is_none(), "its streams must be resumable");
    sessions.end(&id).await;
    assert!(again.cancel.is_cancelled(), "its session ended");
}

#[tokio::test]
async fn only_its_owner_can_use_a_session() {
    let sessions = sessions(LIMITS);
    let ann = principal("acme", "ann");
    let id = open(&sessions, &ann).await.unwrap();
    assert!(sessions.owned_by(&id, &ann));
    assert!(!sessions.owned_by(&id, &principal("acme", "bob")));
    assert!(!sessions.owned_by(&id, &principal("other", "ann")));
    let agent = Principal { agent: Some("bot".to_owned()), ..(*ann).clone() };
    assert!(!sessions.owned_by(&id, &agent), "an agent of the same subject is another caller");
    let renewed = Principal { scopes: vec!["tools:read".to_owned()], ..(*ann).clone() };
    assert!(sessions.owned_by(&id, &renewed), "another token of the same caller");
    sessions.close_session(&id).await.unwrap();
    assert!(!sessions.owned_by(&id, &ann));
    assert!(sessions.create_session().await.is_err(), "the request has no principal");
}

#[tokio::test]
async fn the_caller_with_the_most_sessions_loses_one() {
    let sessions = sessions(LIMITS);
    let (ann, bob) = (principal("acme", "ann"), principal("other", "bob"));
    let mut anns = Vec::new();
    for _ in 0..10 {
        anns.push(open(&sessions, &ann).await.unwrap());
        agree(&sessions, anns.last().unwrap());
    }
    assert_eq!(sessions.exhausted(), Some(10));
    // Her first session is in use, so the second one ends.
    let _call = sessions.begin_direct(&anns[0], "2025-11-25", "tool", "1", CancellationToken::new);
    let bobs = open(&sessions, &bob).await.expect("a new tenant is served");
    assert!(sessions.owned_by(&bobs, &bob) && sessions.owned_by(&anns[0], &ann));
    assert!(!sessions.owned_by(&anns[1], &ann), "her least recently used one ended");
    anns.push(open(&sessions, &ann).await.expect("one of her own ends"));
    assert!(sessions.owned_by(&bobs, &bob), "not his");
    assert!(!sessions.owned_by(&anns[2], &ann));
    let uses: Vec<_> = anns.iter().filter_map(|id| sessions.begin_use(id)).collect();
    let refused = open(&sessions, &ann).await.expect_err("all of hers are in use");
    assert!(matches!(refused, SessionFault::CallerFull(9)), "{refused}");
    open(&sessions, &bob).await.expect("a caller with few sessions is still served");
    drop(uses);
}

#[tokio::test]
async fn one_caller_cannot_have_all_sessions() {
    let sessions = sessions(SessionLimits { per_caller: 2, ..LIMITS });
    let ann = principal("acme", "ann");
    let first = open(&sessions, &ann).await.unwrap();
    let second = open(&sessions, &ann).await.unwrap();
    let third = open(&sessions, &ann).await.expect("the least recently used one ends");
    assert!(!sessions.owned_by(&first, &ann) && sessions.owned_by(&second, &ann));
    let _used = (sessions.begin_use(&second), sessions.begin_use(&third));
    let refused = open(&sessions, &ann).await.expect_err("both are in use");
    assert!(matches!(refused, SessionFault::CallerFull(2)), "{refused}");
    assert_eq!(sessions.exhausted(), None);
    open(&sessions, &principal("acme", "bob")).await.expect("others are served");
}
