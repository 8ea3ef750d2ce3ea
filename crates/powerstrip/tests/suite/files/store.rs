//! Checks for every storage: run on the data folder here, and on a bucket in `bucket.rs`.

use serde_json::{Value, json};
use testkit::{Gateway, ReservedPort, multipart, noise, send};

use crate::files::support::{content, id, listed, objects, post_form, put, request};

pub(crate) async fn round_trip(gateway: &Gateway) {
    let text = put(gateway, "?name=notes.txt", "hello world").await;
    assert_eq!(text["name"], "notes.txt");
    assert_eq!(text["size"], 11);
    assert_eq!(text["kind"], "file");
    assert_eq!(
        text["sha256"], "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
        "{text}"
    );
    assert!(text["media_type"].as_str().unwrap().starts_with("text/plain"), "{text}");
    assert_eq!(content(gateway, id(&text)).await, (200, b"hello world".to_vec()));
    let described = gateway.get(&format!("/v1/files/{}", id(&text))).await;
    assert_eq!(described.body["data"], text);

    let empty = put(gateway, "?name=empty", "").await;
    assert_eq!(
        (&empty["size"], content(gateway, id(&empty)).await),
        (&json!(0), (200, Vec::new()))
    );

    let large = noise(20 << 20);
    let kept = put(gateway, "?name=large.bin", large.clone()).await;
    assert_eq!(kept["size"], large.len());
    assert!(content(gateway, id(&kept)).await.1 == large, "what came back is not what was sent");

    let names: Vec<_> = listed(gateway).await.iter().map(|file| file["name"].clone()).collect();
    assert_eq!(names, ["large.bin", "empty", "notes.txt"], "newest first");
    for file in [&text, &empty, &kept] {
        let path = format!("/v1/files/{}", id(file));
        assert_eq!(send(request(gateway, "DELETE", &path)).await.status, 200);
        assert_eq!(send(request(gateway, "DELETE", &path)).await.status, 404);
        assert_eq!(gateway.get(&path).await.status, 404);
        assert_eq!(content(gateway, id(file)).await.0, 404);
    }
    assert!(listed(gateway).await.is_empty());
}

pub(crate) async fn ranges(gateway: &Gateway) {
    let bytes = noise(100_000);
    let kept = put(gateway, "?name=a.bin", bytes.clone()).await;
    let path = format!("/v1/files/{}/content", id(&kept));
    for (range, part) in [
        ("bytes=0-0", 0..1),
        ("bytes=10-19", 10..20),
        ("bytes=99990-", 99_990..100_000),
        ("bytes=-10", 99_990..100_000),
        ("bytes=50000-999999999", 50_000..100_000),
    ] {
        let answer = request(gateway, "GET", &path).header("range", range).send().await.unwrap();
        assert_eq!(answer.status(), 206, "{range}");
        let shown = format!("bytes {}-{}/100000", part.start, part.end - 1);
        assert_eq!(answer.headers()["content-range"], shown.as_str());
        assert_eq!(answer.bytes().await.unwrap(), bytes[part], "{range}");
    }
    let beyond = send(request(gateway, "GET", &path).header("range", "bytes=100000-")).await;
    assert_eq!(beyond.status, 416, "{beyond:?}");
    assert_eq!(beyond.headers["content-range"], "bytes */100000");
    let whole =
        request(gateway, "GET", &path).header("range", "bytes=0-1,5-6").send().await.unwrap();
    assert_eq!((whole.status().as_u16(), whole.content_length()), (200, Some(100_000)));
    let tag = whole.headers()["etag"].to_str().unwrap().to_owned();
    let known = request(gateway, "GET", &path).header("if-none-match", &tag).send().await.unwrap();
    assert_eq!(known.status(), 304);
    let other =
        request(gateway, "GET", &path).header("range", "bytes=0-1").header("if-range", "\"x\"");
    assert_eq!(other.send().await.unwrap().status(), 200, "another version: all of it");
    let head = request(gateway, "HEAD", &path).send().await.unwrap();
    assert_eq!(
        (head.status().as_u16(), head.headers()["content-length"].to_str().unwrap()),
        (200, "100000")
    );
}

/// Text is extracted and cached, even if the storage has no local file for the reader.
pub(crate) async fn texts(gateway: &Gateway) {
    let kept = put(gateway, "?name=a.txt", "caf\u{e9} au lait").await;
    for _ in 0..2 {
        let text = gateway.get(&format!("/v1/files/{}/text", id(&kept))).await;
        assert_eq!((text.status, &text.body), (200, &Value::from("caf\u{e9} au lait")));
        assert_eq!(text.headers["x-content-type-options"], "nosniff");
        assert_eq!(text.headers["content-type"], "text/plain; charset=utf-8");
    }
}

pub(crate) async fn broken_uploads(gateway: &Gateway) {
    use tokio::io::AsyncWriteExt as _;
    let before = listed(gateway).await.len();
    for announced in [40 << 20, 1000] {
        let mut stream = tokio::net::TcpStream::connect(gateway.address()).await.unwrap();
        let head = format!(
            "POST /v1/files?name=x HTTP/1.1\r\nhost: {}\r\ncontent-length: {announced}\r\n\r\n",
            gateway.address()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // Fewer bytes than announced, then the client disconnects.
        stream.write_all(&noise(announced / 2)).await.unwrap();
        drop(stream);
    }
    let (kind, mut body) = multipart(&[("file", Some("a"), &noise(1 << 20))]);
    body.truncate(900_000);
    let cut = request(gateway, "POST", "/v1/files").header("content-type", kind).body(body);
    let cut = send(cut).await;
    assert_eq!((cut.status, &cut.body["errors"][0]["code"]), (400, &json!("INVALID_INPUT")));
    assert_eq!(listed(gateway).await.len(), before);
}

#[tokio::test]
async fn files_are_stored_in_the_data_folder() {
    let gateway = Gateway::start().await;
    round_trip(&gateway).await;
    assert_eq!(objects(&gateway), 0, "what is deleted is gone");
    ranges(&gateway).await;
    texts(&gateway).await;
    let before = objects(&gateway);
    broken_uploads(&gateway).await;
    testkit::eventually("broken uploads leave nothing", || async {
        (objects(&gateway) == before).then_some(())
    })
    .await;
    assert_eq!(gateway.stop().await, Some(0));
}

#[tokio::test]
async fn forms_are_read_part_by_part() {
    let gateway = Gateway::start().await;
    let kept =
        post_form(&gateway, &[("note", None, b"x"), ("file", Some("a b.txt"), b"hello")]).await;
    assert_eq!(kept.status, 201, "{kept:?}");
    assert_eq!(kept.body["data"]["name"], "a b.txt");
    let place = kept.headers["location"].to_str().unwrap();
    assert_eq!(gateway.get(place).await.body["data"], kept.body["data"]);
    let named =
        post_form(&gateway, &[("name", None, b"other.txt"), ("file", Some("a"), b"x")]).await;
    assert_eq!(named.body["data"]["name"], "other.txt");
    let before = objects(&gateway);
    let long = noise(5000);
    for (why, parts) in [
        ("two files", &[("file", Some("a"), &b"x"[..]), ("file", Some("b"), b"y")][..]),
        ("no file", &[("note", None, b"x")]),
        ("nothing", &[]),
        ("a long field", &[("note", None, &long), ("file", Some("a"), b"x")]),
    ] {
        let refused = post_form(&gateway, parts).await;
        assert_eq!(refused.status, 400, "{why}: {refused:?}");
        assert_eq!(objects(&gateway), before, "{why}");
    }
    let unread =
        request(&gateway, "POST", "/v1/files").header("content-type", "multipart/form-data");
    assert_eq!(send(unread.body("x")).await.status, 400);
}

#[tokio::test]
async fn files_and_links_survive_a_restart() {
    let place = ReservedPort::reserve();
    let gateway = Gateway::with().at(&place).start().await;
    let kept = put(&gateway, "?name=a.txt", "hello").await;
    let link = gateway.get(&format!("/v1/files/{}/link", id(&kept))).await;
    let link = link.body["data"]["url"].as_str().unwrap().to_owned();
    let gateway = gateway.restart().await;
    assert_eq!(listed(&gateway).await, std::slice::from_ref(&kept));
    assert_eq!(content(&gateway, id(&kept)).await, (200, b"hello".to_vec()));
    let followed = reqwest::get(&link).await.unwrap();
    assert_eq!(
        (followed.status().as_u16(), followed.text().await.unwrap()),
        (200, "hello".to_owned())
    );
}
