use std::convert::Infallible;

use super::*;

async fn respond_to(parts: &[&str]) -> (String, String) {
    let parts: Vec<_> = parts.iter().map(|part| Bytes::from((*part).to_owned())).collect();
    let events = stream::iter(parts.into_iter().map(Ok::<_, Infallible>));
    let mut head = Response::new(()).into_parts().0;
    head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    let response = respond(head, events).await;
    let kind = response.headers()[CONTENT_TYPE].to_str().expect("text").to_owned();
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.expect("a body");
    (kind, String::from_utf8(body.to_vec()).expect("text"))
}

#[tokio::test]
async fn only_a_large_answer_without_anything_before_it_is_json() {
    let long = "x".repeat(LARGE);
    let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"t":"{long}"}}}}"#);
    let event = format!("event: message\nid: 1\ndata: {answer}\n\n");
    let primed = "id: 0\nretry: 3000\ndata:\n\n";
    let json = ("application/json".to_owned(), answer.clone());
    assert_eq!(respond_to(&[primed, ": alive\n\n", &event]).await, json);
    let (first, second) = answer.split_at(16);
    let lines = format!(": alive\r\n\r\ndata: {first}\r\ndata: {second}\r\n\r\n");
    let (kind, body) = respond_to(&[&lines]).await;
    assert_eq!((kind.as_str(), body), ("application/json", format!("{first}\n{second}")));
    let (start, end) = event.split_at(500_000);
    assert_eq!(respond_to(&[primed, start, end]).await, json);

    let notice = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n";
    let small = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n";
    let asks =
        format!("data: {{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"p\":\"{long}\"}}\n\n");
    for parts in [vec![primed, notice, &event], vec![primed, small], vec![&asks, &event], vec![]] {
        let (kind, body) = respond_to(&parts).await;
        assert_eq!((kind.as_str(), body), ("text/event-stream", parts.concat()));
    }
}

#[tokio::test]
async fn a_slow_answer_is_streamed() {
    let (answer, answered) = tokio::sync::oneshot::channel();
    let late = stream::once(async move { Ok::<_, Infallible>(answered.await.expect("an answer")) });
    let events = stream::iter([Ok(Bytes::from_static(b"data:\n\n"))]).chain(Box::pin(late));
    let head = Response::new(()).into_parts().0;
    let response = respond_within(Duration::from_millis(20), head, events).await;
    answer.send(Bytes::from_static(b"data: {}\n\n")).expect("it is waited for");
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.expect("a body");
    assert_eq!(body, "data:\n\ndata: {}\n\n");
}

#[test]
fn requests_with_large_answers_are_known_by_their_methods() {
    assert!(may_be_large(br#"{"id":1,"method":"resources/read","params":{}}"#));
    assert!(!may_be_large(br#"{"id":1,"method":"tools/call","params":{}}"#));
    assert!(!may_be_large(b"[]"));
}
