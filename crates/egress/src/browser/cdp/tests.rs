use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::{CdpError, Connection};

/// A connection, and the other ends of its pipes.
fn connection() -> (std::sync::Arc<Connection>, DuplexStream, DuplexStream) {
    let (input, written) = duplex(1 << 16);
    let (answers, output) = duplex(64);
    (Connection::open(input, output), written, answers)
}

async fn next_message(pipe: &mut DuplexStream) -> Value {
    let mut bytes = Vec::new();
    loop {
        match pipe.read_u8().await.unwrap() {
            0 => return serde_json::from_slice(&bytes).unwrap(),
            byte => bytes.push(byte),
        }
    }
}

#[tokio::test]
async fn answers_find_their_commands_in_any_order_and_any_pieces() {
    let (connection, mut written, mut answers) = connection();
    let one = connection.call::<Value>("", "A.one", json!({}));
    let two = connection.call::<Value>("S", "A.two", json!({ "x": 1 }));
    let chromium = async {
        let (first, second) = (next_message(&mut written).await, next_message(&mut written).await);
        assert_eq!((&first["method"], first.get("sessionId")), (&json!("A.one"), None));
        assert_eq!((&second["sessionId"], &second["params"]["x"]), (&json!("S"), &json!(1)));
        let long = "y".repeat(100_000);
        let text = format!(
            "{{\"id\":{},\"sessionId\":\"S\",\"result\":{{\"v\":\"{long}\"}}}}\0\
             not json\0{{\"method\":\"Odd\",\"params\":{{\"v\":\"\\ud800\"}}}}\0\
             {{\"id\":{},\"error\":{{\"code\":-32000,\"message\":\"no\"}}}}\0",
            second["id"], first["id"]
        );
        answers.write_all(text.as_bytes()).await.unwrap();
    };
    let (one, two, ()) = tokio::join!(one, two, chromium);
    assert!(matches!(one, Err(CdpError::Refused(why)) if why == "no"));
    assert_eq!(two.unwrap()["v"].as_str().unwrap().len(), 100_000);
}

#[tokio::test]
async fn events_reach_their_session_only() {
    let (connection, _written, mut answers) = connection();
    let (mut ours, mut browser) = (connection.listen("S"), connection.listen(""));
    let text = "{\"method\":\"B\",\"params\":{\"n\":1}}\0{\"method\":\"S\",\"sessionId\":\"S\"}\0\
                {\"method\":\"T\",\"sessionId\":\"T\"}\0";
    answers.write_all(text.as_bytes()).await.unwrap();
    assert_eq!(ours.recv().await.unwrap().method, "S");
    let event = browser.recv().await.unwrap();
    assert_eq!(
        (event.method.as_str(), event.params::<Value>().unwrap()["n"].as_u64()),
        ("B", Some(1))
    );
    connection.forget("S");
    assert!(ours.recv().await.is_none());
}

#[tokio::test]
async fn the_end_of_chromium_ends_all_commands() {
    let (connection, _written, answers) = connection();
    let call = connection.call::<Value>("", "A.one", json!({}));
    drop(answers);
    let outcome = tokio::time::timeout(Duration::from_secs(10), call).await.unwrap();
    assert!(matches!(outcome, Err(CdpError::Closed)));
    assert!(connection.is_closed());
    assert!(connection.call::<Value>("", "A.two", json!({})).await.is_err());
}

#[tokio::test]
async fn a_command_that_is_given_up_leaves_nothing() {
    let (connection, _written, _answers) = connection();
    let call = connection.call::<Value>("", "A.one", json!({}));
    assert!(tokio::time::timeout(Duration::from_millis(10), call).await.is_err());
    assert!(connection.waiting().answers.is_empty());
}
