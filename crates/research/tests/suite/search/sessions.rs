//! `sequential_search`.

use std::time::Duration;

use proto::{Code, Failure};
use research::tools::{SequentialSearch, SequentialSearchOutput, SourceInput};

use crate::search::support::Lab;

async fn step(lab: &Lab, input: SequentialSearch) -> Result<SequentialSearchOutput, Failure> {
    lab.research.sequential_search(input, &lab.any()).await
}

fn code(outcome: Result<SequentialSearchOutput, Failure>) -> Code {
    outcome.unwrap_err().code
}

#[tokio::test]
async fn steps_sources_and_gaps_are_kept() {
    let lab = Lab::start("duckduckgo").await;
    let first = step(&lab, SequentialSearch::new(1, "Why is the sky blue?", true)).await.unwrap();
    assert_eq!(first.question, "Why is the sky blue?");
    assert_eq!((first.current_step, first.total_steps_estimate, first.is_complete), (1, 1, false));
    assert_eq!(first.started_at, "2024-11-14T10:00:00.000Z");
    assert_eq!(uuid_version(&first.session_id), Some('4'));
    lab.advance(60);
    let second = SequentialSearch {
        total_steps_estimate: Some(5),
        knowledge_gap: Some("Rayleigh".to_owned()),
        source: Some(SourceInput { url: "https://x.org/".to_owned(), title: Some("X".to_owned()) }),
        ..SequentialSearch::new(2, "Look for scattering", true)
    };
    let second = step(&lab, second).await.unwrap();
    assert_eq!(second.session_id, first.session_id, "the latest open session");
    assert_eq!((second.steps.len(), second.total_steps_estimate), (2, 5));
    assert_eq!(second.steps[1].timestamp, "2024-11-14T10:01:00.000Z");
    assert_eq!((second.sources[0].found_in_step, second.gaps[0].found_in_step), (2, 2));
    let last = SequentialSearch {
        session_id: Some(first.session_id.clone()),
        ..SequentialSearch::new(3, "Conclude", false)
    };
    let last = step(&lab, last).await.unwrap();
    assert_eq!((last.is_complete, last.total_steps_estimate), (true, 5));
    assert_eq!(last.completed_at.as_deref(), Some("2024-11-14T10:01:00.000Z"));
    assert_eq!(
        code(step(&lab, SequentialSearch::new(4, "More", true)).await),
        Code::NotFound,
        "none is open"
    );
}

fn uuid_version(id: &str) -> Option<char> {
    (id.len() == 36).then(|| id.chars().nth(14)).flatten()
}

#[tokio::test]
async fn revisions_and_branches_follow_the_rules() {
    let lab = Lab::start("duckduckgo").await;
    step(&lab, SequentialSearch::new(1, "Question", true)).await.unwrap();
    step(&lab, SequentialSearch::new(2, "Two", true)).await.unwrap();
    assert_eq!(
        code(step(&lab, SequentialSearch::new(2, "Two again", true)).await),
        Code::InvalidInput
    );
    let revision =
        SequentialSearch { is_revision: true, ..SequentialSearch::new(2, "Two, better", true) };
    let revised = step(&lab, revision).await.unwrap();
    assert_eq!(
        (revised.steps[2].is_revision, revised.steps[2].revises_step),
        (Some(true), Some(2))
    );
    let of_one = SequentialSearch {
        is_revision: true,
        revises_step: Some(1),
        ..SequentialSearch::new(3, "One", true)
    };
    assert_eq!(step(&lab, of_one).await.unwrap().steps[3].revises_step, Some(1));
    let of_none = SequentialSearch {
        is_revision: true,
        revises_step: Some(9),
        ..SequentialSearch::new(4, "x", true)
    };
    assert_eq!(code(step(&lab, of_none).await), Code::InvalidInput);
    let branch = |from| SequentialSearch {
        branch_id: Some("b".to_owned()),
        branch_from_step: from,
        ..SequentialSearch::new(2, "Other way", true)
    };
    assert_eq!(code(step(&lab, branch(None)).await), Code::InvalidInput);
    assert_eq!(code(step(&lab, branch(Some(7))).await), Code::InvalidInput);
    let branched = step(&lab, branch(Some(1))).await.unwrap();
    assert_eq!(branched.steps[4].branch_id.as_deref(), Some("b"), "numbers are counted per branch");
    let of_first = SequentialSearch {
        is_revision: true,
        ..SequentialSearch::new(1, "Question, better", true)
    };
    let of_first = step(&lab, of_first).await.unwrap();
    assert_eq!((of_first.question.as_str(), of_first.steps.len()), ("Question", 6));
}

#[tokio::test]
async fn sessions_of_others_are_not_found() {
    let lab = Lab::start("duckduckgo").await;
    let id = step(&lab, SequentialSearch::new(1, "Mine", true)).await.unwrap().session_id;
    let second = |id: Option<String>| SequentialSearch {
        session_id: id,
        ..SequentialSearch::new(2, "x", true)
    };
    for call in [lab.call("acme", "bob"), lab.call("globex", "ann")] {
        for session in [Some(id.clone()), None] {
            let failure = lab.research.sequential_search(second(session), &call).await.unwrap_err();
            assert_eq!(failure.code, Code::NotFound);
            assert!(!failure.message.contains("Mine"));
        }
    }
    assert_eq!(code(step(&lab, second(Some("unknown".to_owned()))).await), Code::NotFound);
    assert_eq!(step(&lab, second(Some(id))).await.unwrap().steps.len(), 2);
}

#[tokio::test]
async fn sessions_end_after_thirty_minutes_without_a_step() {
    let lab = Lab::start("duckduckgo").await;
    step(&lab, SequentialSearch::new(1, "Question", true)).await.unwrap();
    lab.advance(29 * 60);
    step(&lab, SequentialSearch::new(2, "In time", true)).await.unwrap();
    lab.advance(30 * 60);
    assert_eq!(code(step(&lab, SequentialSearch::new(3, "Too late", true)).await), Code::NotFound);
}

#[tokio::test]
async fn the_message_names_the_lifetime_that_is_set() {
    let lab = Lab::with_sessions("duckduckgo", Duration::from_secs(90), |_| {}).await;
    let input = SequentialSearch {
        session_id: Some("unknown".to_owned()),
        ..SequentialSearch::new(2, "x", true)
    };
    let failure = step(&lab, input).await.unwrap_err();
    assert!(failure.message.contains("after 90 seconds"), "{}", failure.message);
}

#[tokio::test]
async fn the_fifty_first_session_is_refused() {
    let lab = Lab::start("duckduckgo").await;
    for _ in 0..50 {
        step(&lab, SequentialSearch::new(1, "Question", true)).await.unwrap();
    }
    let failure = step(&lab, SequentialSearch::new(1, "One more", true)).await.unwrap_err();
    assert_eq!(failure.code, Code::RateLimit);
    assert_eq!(failure.details.unwrap()["retryAfterMs"], 30 * 60 * 1_000);
    step(&lab, SequentialSearch::new(2, "Done", false)).await.unwrap();
    step(&lab, SequentialSearch::new(1, "One more", true)).await.unwrap();
}

#[tokio::test]
async fn steps_at_once_are_all_kept() {
    let lab = Lab::start("duckduckgo").await;
    step(&lab, SequentialSearch::new(1, "Question", true)).await.unwrap();
    let steps = (2..6).map(|number| step(&lab, SequentialSearch::new(number, "At once", true)));
    let outcomes = futures_util::future::join_all(steps).await;
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!(step(&lab, SequentialSearch::new(6, "Last", false)).await.unwrap().steps.len(), 6);
}

#[tokio::test]
async fn bad_steps_are_refused() {
    let lab = Lab::start("duckduckgo").await;
    let base = || SequentialSearch::new(1, "Question", true);
    let source = SourceInput { url: "ftp://x.org".to_owned(), title: None };
    for input in [
        SequentialSearch::new(0, "x", true),
        SequentialSearch::new(1, " ", true),
        SequentialSearch { total_steps_estimate: Some(0), ..base() },
        SequentialSearch { revises_step: Some(1), ..base() },
        SequentialSearch { source: Some(source), ..base() },
    ] {
        assert_eq!(code(step(&lab, input).await), Code::InvalidInput);
    }
    assert_eq!(code(step(&lab, SequentialSearch::new(2, "x", true)).await), Code::NotFound);
}
