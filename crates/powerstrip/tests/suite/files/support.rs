use reqwest::{Body, Method, RequestBuilder};
use serde_json::Value;
use testkit::{Gateway, Response, multipart, send};

pub(crate) fn request(gateway: &Gateway, method: &str, path: &str) -> RequestBuilder {
    let method: Method = method.parse().unwrap();
    // No pool: the gateway closes connections whose request was refused before it was read.
    let client = reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap();
    client.request(method, gateway.url(path))
}

/// Stores a body; returns the description of the file.
pub(crate) async fn put(gateway: &Gateway, query: &str, body: impl Into<Body>) -> Value {
    let answer = send(request(gateway, "POST", &format!("/v1/files{query}")).body(body)).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    assert_eq!(answer.body["ok"], true, "{answer:?}");
    answer.body["data"].clone()
}

pub(crate) fn id(file: &Value) -> &str {
    file["file_id"].as_str().unwrap()
}

pub(crate) async fn content(gateway: &Gateway, id: &str) -> (u16, Vec<u8>) {
    let answer = request(gateway, "GET", &format!("/v1/files/{id}/content")).send().await.unwrap();
    (answer.status().as_u16(), answer.bytes().await.unwrap().to_vec())
}

pub(crate) async fn listed(gateway: &Gateway) -> Vec<Value> {
    let answer = gateway.get("/v1/files").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["data"]["files"].as_array().unwrap().clone()
}

/// The number of objects in the gateway's folder, including drafts and uploads.
pub(crate) fn objects(gateway: &Gateway) -> usize {
    let data = gateway.folder().join(".powerstrip");
    count(&data.join("objects")) + count(&data.join("uploads"))
}

fn count(folder: &std::path::Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let entries = entries.map(|entry| entry.unwrap().path());
    entries
        .map(|path| if path.is_dir() { count(&path) } else { usize::from(!is_mark(&path)) })
        .sum()
}

/// Whether an object only marks which gateway uses the storage.
pub(crate) fn is_mark(object: &std::path::Path) -> bool {
    object.file_name().is_some_and(|name| name.to_string_lossy().contains("ffffffffffffff"))
}

pub(crate) async fn post_form(
    gateway: &Gateway,
    parts: &[(&str, Option<&str>, &[u8])],
) -> Response {
    let (kind, body) = multipart(parts);
    send(request(gateway, "POST", "/v1/files").header("content-type", kind).body(body)).await
}
