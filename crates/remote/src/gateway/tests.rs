use http::StatusCode;

use super::*;

fn response(kind: &'static str, body: &'static str) -> Response {
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))]);
    let final_url = Url::parse("http://127.0.0.1:7777/mcp").expect("a URL");
    Response {
        status: StatusCode::OK,
        headers,
        body: Bytes::from_static(body.as_bytes()),
        final_url,
        redirected: false,
    }
}

#[test]
fn an_answer_is_found_in_json_and_behind_other_events() {
    let expected = json!({"jsonrpc": "2.0", "id": 1, "result": {"text": "a"}});
    let plain = response("application/json", r#"{"jsonrpc":"2.0","id":1,"result":{"text":"a"}}"#);
    assert_eq!(read_answer(&plain).expect("an answer"), expected);
    let events = ": alive\n\nid: 0\ndata:\n\n\
                  data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n\
                  data: {\"jsonrpc\":\"2.0\",\"id\":1,\r\ndata: \"result\":{\"text\":\"a\"}}\n\n";
    assert_eq!(read_answer(&response("text/event-stream", events)).expect("an answer"), expected);
}

#[test]
fn a_stream_without_an_answer_is_an_error() {
    let events = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n";
    let error = read_answer(&response("text/event-stream", events)).expect_err("no answer");
    assert!(error.to_string().contains("without an answer"), "{error}");
}
