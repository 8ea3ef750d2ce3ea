use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use egress::http::{AddressPolicy, OwnListeners, Rule};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::{Client, Duration, Model, ModelError, ModelOptions, TRIES, json};

/// A model at an endpoint that reads requests and then answers with this text; nothing if it is empty. It counts connections.
async fn endpoint(answer: &'static str) -> (Model, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let mut request = [0; 4_096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(answer.as_bytes()).await;
            if answer.is_empty() {
                open.push(stream);
            }
        }
    });
    let policy =
        AddressPolicy::new(vec!["127.0.0.1".parse::<Rule>().unwrap()], OwnListeners::default());
    let options = ModelOptions { url, name: "test".to_owned(), key: None, embeddings: None };
    (Model::new(Client::new(policy).unwrap(), options), connections)
}

#[tokio::test]
async fn an_endpoint_that_hangs_is_given_up_once_its_time_is_over() {
    let (model, connections) = endpoint("").await;
    let time = Duration::from_millis(300);
    let refused = model.send_within(time, "x", &json!({}), 1_000).await.unwrap_err();
    assert!(refused.to_string().contains("timed out"), "{refused}");
    assert_eq!(connections.load(Ordering::SeqCst), 1, "no time was left for another try");
}

#[tokio::test]
async fn an_endpoint_that_is_overloaded_is_tried_again() {
    let overloaded = "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let (model, connections) = endpoint(overloaded).await;
    let refused = model.send("x", &json!({}), 1_000).await.unwrap_err();
    assert!(matches!(refused, ModelError::Status(503)), "{refused}");
    assert_eq!(connections.load(Ordering::SeqCst), TRIES as usize);
}
