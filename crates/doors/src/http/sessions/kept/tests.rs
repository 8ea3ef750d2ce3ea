use proto::{TenantId, Via};
use serde_json::json;

use super::*;

fn principal(subject: &str) -> Arc<Principal> {
    Arc::new(Principal {
        tenant: TenantId::new("acme"),
        subject: subject.to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    })
}

fn answer(bytes: usize) -> ServerSseMessage {
    let error = json!({"code": -1, "message": "x".repeat(bytes)});
    let message = json!({"jsonrpc": "2.0", "id": 1, "error": error});
    ServerSseMessage::from_message(serde_json::from_value(message).unwrap())
}

fn stream(session: &str, number: u64) -> AnswerStream {
    AnswerStream { session: session.into(), life: 0, number }
}

#[test]
fn ids_of_events_are_read_as_they_are_written() {
    let place = EventPlace { index: 3, number: 7, life: 1 };
    assert_eq!(place.for_client().parse::<EventPlace>().ok(), Some(place));
    assert_eq!(EventPlace::of_library(&place.for_library(), 1), Some(place));
    for other in ["", "0", "0/1", "0/1/", "/1/2", "0/1/2/3", "-1/0/0", "a/b/c", "0/1/4294967296"] {
        assert!(other.parse::<EventPlace>().is_err(), "{other}");
    }
}

#[test]
fn an_answer_is_given_to_those_who_have_not_read_it_for_a_minute() {
    let kept = KeptAnswers::new();
    kept.keep(stream("s", 1), &principal("ann"), 4, answer(1));
    let rest = |session, number, index| {
        kept.rest(&stream(session, number), index).map(|events| events.len())
    };
    assert_eq!((rest("s", 1, 0), rest("s", 1, 3), rest("s", 1, 4)), (Some(1), Some(1), Some(0)));
    assert_eq!((rest("s", 2, 0), rest("t", 1, 0)), (None, None));
    kept.expire(Instant::now() + KEPT_FOR / 2);
    assert_eq!(rest("s", 1, 0), Some(1));
    kept.expire(Instant::now() + KEPT_FOR);
    assert_eq!(rest("s", 1, 0), None);
}

#[tokio::test]
async fn an_answer_that_arrives_is_waited_for() {
    let kept = KeptAnswers::new();
    let (ann, arrived) = (principal("ann"), stream("s", 1));
    let (found, ()) = tokio::join!(kept.arriving(&arrived, 0), async {
        tokio::task::yield_now().await;
        kept.keep(stream("s", 1), &ann, 4, answer(1));
    });
    assert_eq!(found.map(|events| events.len()), Some(1));
}

#[test]
fn a_caller_loses_the_oldest_answers_and_others_lose_none() {
    let kept = KeptAnswers::new();
    let has = |session, number| kept.rest(&stream(session, number), 0).is_some();
    kept.keep(stream("bobs", 0), &principal("bob"), 1, answer(1 << 20));
    let ann = principal("ann");
    for number in 0..10 {
        kept.keep(stream("anns", number), &ann, 1, answer(1 << 20));
    }
    assert!(has("bobs", 0));
    let left: Vec<_> = (0..10).filter(|number| has("anns", *number)).collect();
    assert_eq!(left, [3, 4, 5, 6, 7, 8, 9], "8 MiB, with what each takes in addition to its text");
    kept.keep(stream("anns", 10), &ann, 1, answer(MAX_BYTES_OF_CALLER));
    assert!(!has("anns", 10) && has("anns", 9), "an answer that never fits takes no room");
    for number in 0..10 {
        kept.keep(stream("others", number), &principal(&number.to_string()), 1, answer(7 << 20));
    }
    let left = (0..10).filter(|number| has("others", *number)).count();
    assert_eq!(left, 7, "the total is limited, too");
    kept.forget("others");
    kept.keep(stream("anns", 11), &ann, 1, answer(1));
    assert!(has("anns", 11) && has("bobs", 0));
}
