use std::time::Duration;

use proto::Code;
use serde_json::json;
use strip::Output;
use tokio_util::sync::CancellationToken;

use crate::support::{ask, code, echo, rate, settings, setup, setup_with, tool};

#[tokio::test]
async fn input_over_the_limit_is_refused_with_its_size() {
    let setup = setup(vec![echo("t.echo").with(|d| d.limits.max_input_bytes = Some(100))]).await;
    let fits = setup.call("t.echo", json!({"x": "a".repeat(92)})).await;
    assert_eq!(code(&fits), None, "exactly 100 bytes pass");
    let failure = setup.call("t.echo", json!({"x": "a".repeat(93)})).await.result.unwrap_err();
    assert_eq!(failure.code, Code::InvalidInput);
    assert_eq!(failure.details, Some(json!({"size": 101, "limit": 100})));
}

#[tokio::test]
async fn a_tool_cannot_raise_its_limits_above_the_operators() {
    let mut settings = settings();
    settings.limits.max.max_input_bytes = 50;
    let greedy = echo("t.echo").with(|d| d.limits.max_input_bytes = Some(1 << 30));
    let setup = setup_with(settings, vec![greedy]).await;
    let answer = setup.call("t.echo", json!({"x": "a".repeat(60)})).await;
    assert_eq!(code(&answer), Some(Code::InvalidInput));
}

#[tokio::test]
async fn all_schema_errors_are_reported_at_once() {
    let strict = echo("t.echo").with(|d| {
        d.input_schema = json!({"type": "object", "required": ["q"], "additionalProperties": false,
            "properties": {"q": {"type": "string"}, "n": {"type": "integer", "minimum": 1}}});
    });
    let setup = setup(vec![strict]).await;
    let answer = setup.call("t.echo", json!({"n": 0, "extra": true})).await;
    let failure = answer.result.unwrap_err();
    assert_eq!(failure.code, Code::InvalidInput);
    let violations = failure.details.unwrap()["violations"].as_array().unwrap().clone();
    assert_eq!(violations.len(), 3, "{violations:?}");
    assert!(violations.iter().any(|v| v["path"] == "/n"), "{violations:?}");
}

#[tokio::test]
async fn a_tool_that_hangs_is_stopped_at_its_deadline() {
    let hanging = tool("t.hang", |_| Box::pin(std::future::pending()))
        .with(|d| d.limits.timeout = Some(Duration::from_millis(60)));
    let setup = setup(vec![hanging]).await;
    let failure = setup.call("t.hang", json!({})).await.result.unwrap_err();
    assert_eq!(failure.code, Code::Timeout);
    assert!(failure.retryable);
    assert_eq!(failure.details, Some(json!({"timeoutMs": 60})));
}

#[tokio::test]
async fn a_callers_timeout_may_be_shorter_than_the_tools() {
    let setup = setup(vec![tool("t.hang", |_| Box::pin(std::future::pending()))]).await;
    let mut call = ask("t.hang", json!({}));
    call.timeout = Some(Duration::from_millis(50));
    assert_eq!(code(&setup.strip.call(call).await), Some(Code::Timeout));
}

#[tokio::test]
async fn a_cancelled_call_ends() {
    let setup = setup(vec![tool("t.hang", |_| Box::pin(std::future::pending()))]).await;
    let mut call = ask("t.hang", json!({}));
    call.cancel = CancellationToken::new();
    call.cancel.cancel();
    assert_eq!(code(&setup.strip.call(call).await), Some(Code::Unavailable));
}

#[tokio::test]
async fn a_panicking_tool_ends_its_own_call_only() {
    let setup = setup(vec![tool("t.panic", |_| panic!("boom")), echo("t.echo")]).await;
    let failure = setup.call("t.panic", json!({})).await.result.unwrap_err();
    assert_eq!(failure.code, Code::Internal);
    assert!(!failure.message.contains("boom"), "inner details stay in the log");
    assert_eq!(code(&setup.call("t.echo", json!({})).await), None);
}

#[tokio::test]
async fn output_over_the_limit_is_an_internal_fault() {
    let loud =
        tool("t.loud", |_| Box::pin(async { Ok(Output::new(json!({"x": "a".repeat(200)}))) }))
            .with(|d| d.limits.max_output_bytes = Some(100));
    let setup = setup(vec![loud]).await;
    let failure = setup.call("t.loud", json!({})).await.result.unwrap_err();
    assert_eq!(failure.code, Code::Internal);
    assert_eq!(failure.details, Some(json!({"size": 208, "limit": 100})));
}

/// Text that is twice as long as JSON: only the answer as it is sent counts.
#[tokio::test]
async fn the_longest_texts_of_an_answer_over_the_limit_are_stored() {
    let answer = || {
        let pages = [2_500, 6_000, 4_000].map(|lines| json!({"content": "\n".repeat(lines)}));
        json!({"query": "cables", "sources": pages})
    };
    let work = move |_| -> futures_util::future::BoxFuture<'static, _> {
        Box::pin(async move { Ok(Output::new(answer())) })
    };
    let mut large =
        tool("web-research:read", work).with(|d| d.limits.max_output_bytes = Some(12_000));
    large.stores_excess = true;
    let setup = setup(vec![large]).await;
    let data = setup.call("web-research:read", json!({})).await.result.unwrap();
    let whole = answer();
    assert_eq!(data["sources"][0], whole["sources"][0], "short enough once the others are stored");
    assert_eq!(data["query"], whole["query"]);
    for (place, size) in [(1, 6_000), (2, 4_000)] {
        let reference = &data["sources"][place]["content"];
        assert_eq!(reference["size"], size, "{reference}");
        assert_eq!(reference["name"], "content");
    }
}

#[tokio::test]
async fn output_that_breaks_its_schema_is_an_internal_fault() {
    let liar = tool("t.liar", |_| Box::pin(async { Ok(Output::new(json!({"n": "seven"}))) }))
        .with(|d| d.output_schema = Some(json!({"properties": {"n": {"type": "integer"}}})));
    let setup = setup(vec![liar]).await;
    let failure = setup.call("t.liar", json!({})).await.result.unwrap_err();
    assert_eq!(failure.code, Code::Internal);
    assert_eq!(failure.details.unwrap()["violations"][0]["path"], "/n");
}

#[tokio::test]
async fn rates_hold_per_principal_and_per_tool() {
    let mut settings = settings();
    settings.rate.tools.insert("t.rare".to_owned(), rate(2, 3600).unwrap());
    settings.rate.principal = rate(4, 3600);
    let setup = setup_with(settings, vec![echo("t.rare"), echo("t.echo")]).await;
    assert_eq!(code(&setup.call("t.rare", json!({"n": 1})).await), None);
    assert_eq!(code(&setup.call("t.rare", json!({"n": 2})).await), None);
    let failure = setup.call("t.rare", json!({"n": 3})).await.result.unwrap_err();
    assert_eq!(failure.code, Code::RateLimit);
    assert!(failure.retry_after.unwrap() > Duration::from_secs(60));
    // The fourth and last of this principal; the fifth is refused whatever it asks for.
    assert_eq!(code(&setup.call("t.echo", json!({})).await), None);
    assert_eq!(code(&setup.call("t.unknown", json!({})).await), Some(Code::RateLimit));
    let mut other = ask("t.echo", json!({}));
    other.principal = crate::support::principal("acme", "bob");
    assert_eq!(code(&setup.strip.call(other).await), None, "another principal is not affected");
}

#[tokio::test]
async fn refused_calls_count_against_the_rate() {
    let mut settings = settings();
    settings.rate.principal = rate(2, 3600);
    let setup = setup_with(settings, vec![echo("t.echo")]).await;
    for _ in 0..2 {
        assert_eq!(code(&setup.call("t.echo", json!("no object")).await), Some(Code::InvalidInput));
    }
    assert_eq!(code(&setup.call("t.echo", json!({})).await), Some(Code::RateLimit));
}

#[tokio::test]
async fn new_settings_hold_at_once() {
    let setup = setup(vec![echo("t.echo")]).await;
    assert_eq!(code(&setup.call("t.echo", json!({"x": "a".repeat(90)})).await), None);
    let mut tighter = settings();
    tighter.limits.default.max_input_bytes = 50;
    setup.strip.reconfigure(tighter);
    let answer = setup.call("t.echo", json!({"x": "a".repeat(90)})).await;
    assert_eq!(code(&answer), Some(Code::InvalidInput));
}

#[tokio::test]
async fn an_empty_text_reaches_the_tools_of_others_as_it_was_sent() {
    let schema = json!({"type": "object", "properties": {"note": {"type": "string"}}});
    let tool = echo("t.echo").with(|descriptor| descriptor.input_schema = schema);
    let answer = setup(vec![tool]).await.call("t.echo", json!({"note": ""})).await;
    assert_eq!(answer.result.unwrap()["echo"], json!({"note": ""}));
}
