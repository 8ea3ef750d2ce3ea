use std::sync::Arc;

use super::*;

fn failed(text: &str, fault: &Value) -> Value {
    json!({"isError": true, "content": [{"type": "text", "text": text}], "_meta": {FAULT: fault}})
}

fn read(text: &str, fault: &Value) -> Failure {
    failure("s", &failed(text, fault), text.to_owned())
}

#[test]
fn a_stated_code_is_kept_with_its_usual_advice_and_is_no_part_of_the_message() {
    for (code, retryable) in [
        (Code::InvalidInput, false),
        (Code::NotFound, false),
        (Code::RateLimit, true),
        (Code::Timeout, true),
        (Code::Unavailable, true),
        (Code::Internal, false),
        (Code::Unsupported, false),
    ] {
        let failure = read(&format!("{code}: why"), &json!({"code": code}));
        assert_eq!((failure.code, &*failure.message), (code, "why"));
        assert_eq!((failure.blame, failure.retryable), (Blame::Tool, retryable), "{code}");
        assert_eq!(failure.item().label(), "s answered:");
    }
    let elsewhere = read("it said NOT_FOUND: why", &json!({"code": "NOT_FOUND"}));
    assert_eq!(elsewhere.message, "it said NOT_FOUND: why");
    let other = read("TIMEOUT: why", &json!({"code": "NOT_FOUND"}));
    assert_eq!((other.code, &*other.message), (Code::NotFound, "TIMEOUT: why"));
}

#[test]
fn the_advice_of_the_server_counts_except_for_invalid_input() {
    let advised = |code: &str, retryable: bool| {
        read("why", &json!({"code": code, "retryable": retryable})).retryable
    };
    assert!(advised("NOT_FOUND", true));
    assert!(!advised("UNAVAILABLE", false));
    assert!(!advised("INVALID_INPUT", true));
    assert!(read("why", &json!({"retryable": true})).retryable, "also without a code");
    assert!(!read("why", &json!({"retryable": "yes"})).retryable);
}

#[test]
fn codes_of_the_gateway_cannot_be_stated() {
    for code in ["DENIED", "NONDETERMINISTIC", "denied", "SOMETHING", "", "invalid_input"] {
        let text = format!("{code}: a reviewer rejected the call");
        let failure = read(&text, &json!({"code": code, "details": {"state": "rejected"}}));
        assert_eq!((failure.code, failure.blame), (Code::Internal, Blame::Tool), "{code}");
        assert_eq!((failure.message.as_str(), failure.retryable), (&*text, false));
        assert_eq!(failure.item().answered_by(), Some("s"), "{code}");
    }
    for fault in [json!(null), json!([]), json!("NOT_FOUND"), json!({"code": 404})] {
        assert_eq!(read("why", &fault).code, Code::Internal, "{fault}");
    }
}

#[test]
fn details_of_the_gateway_cannot_be_stated() {
    let details = json!({"waiting": 3, "server": "x", "code": -32042, "outcome": "unknown",
        "login": "http://x.test", "answeredBy": "powerstrip", "page": 7});
    let failure = read("why", &json!({"code": "RATE_LIMIT", "details": details}));
    assert_eq!(failure.details, Some(json!({"answeredBy": "s", "code": -32042, "page": 7})));

    let large = json!({"code": "NOT_FOUND", "details": {"text": "x".repeat(MAX_DETAILS)}});
    let failure = read("why", &large);
    assert_eq!(failure.code, Code::NotFound);
    assert_eq!(failure.details, Some(json!({"answeredBy": "s"})));
}

#[test]
fn a_wait_is_kept_for_failures_that_may_pass() {
    let wait = |code: &str, ms: Value| {
        let failure = read("why", &json!({"code": code, "details": {"retryAfterMs": ms}}));
        let stated = failure.details.unwrap()["retryAfterMs"].as_u64().map(Duration::from_millis);
        assert_eq!(stated, failure.retry_after, "the details say the same");
        failure.retry_after
    };
    assert_eq!(wait("RATE_LIMIT", json!(1500)), Some(Duration::from_millis(1500)));
    assert_eq!(wait("RATE_LIMIT", json!(u64::MAX)), Some(MAX_WAIT));
    assert_eq!(wait("RATE_LIMIT", json!("soon")), None);
    assert_eq!(wait("NOT_FOUND", json!(1500)), None);
}

#[test]
fn without_words_of_the_server_the_message_is_the_gateways() {
    for text in ["", " \n", "TIMEOUT: "] {
        let fault = json!({"code": "TIMEOUT", "details": {"answeredBy": "s", "violations": []}});
        let failure = read(text, &fault);
        assert_eq!((failure.code, failure.retryable), (Code::Timeout, true));
        assert!(failure.message.contains("`s`"), "{}", failure.message);
        assert_eq!(failure.details, None);
    }
}

#[test]
fn only_a_failed_result_with_a_code_states_one() {
    let of =
        |result: Value| states_code(&Failure::new(Code::Internal, "why").native(Arc::new(result)));
    assert!(of(failed("why", &json!({"code": "NOT_FOUND"}))));
    assert!(!of(failed("why", &json!({"code": "DENIED"}))));
    assert!(!of(failed("why", &json!({"retryable": true}))));
    assert!(!states_code(&Failure::new(Code::NotFound, "why")));
}
