use serde_json::{Value, json};
use testkit::{Gateway, Response, noise, send};

use crate::files::support::{content, id, objects, request};

async fn begin(gateway: &Gateway, body: &Value) -> Response {
    send(request(gateway, "POST", "/v1/files/uploads").json(body)).await
}

async fn add(gateway: &Gateway, place: &str, offset: usize, bytes: &[u8]) -> Response {
    let part = request(gateway, "PATCH", place).header("upload-offset", offset);
    send(part.body(bytes.to_vec())).await
}

#[tokio::test]
async fn an_upload_in_parts_survives_a_restart() {
    let gateway = Gateway::start().await;
    let bytes = noise(3_000_000);
    let begun = begin(&gateway, &json!({"name": "big.bin", "size": bytes.len()})).await;
    assert_eq!(begun.status, 201, "{begun:?}");
    assert_eq!(begun.headers["upload-offset"], "0");
    let place = begun.headers["location"].to_str().unwrap().to_owned();

    let first = add(&gateway, &place, 0, &bytes[..1_000_000]).await;
    assert_eq!((first.status, &first.body["data"]["offset"]), (200, &json!(1_000_000)));
    let gateway = gateway.restart().await;
    let head = request(&gateway, "HEAD", &place).send().await.unwrap();
    assert_eq!(
        (head.status().as_u16(), head.headers()["upload-offset"].to_str().unwrap()),
        (200, "1000000")
    );
    assert_eq!(head.headers()["upload-length"], "3000000");

    let wrong = add(&gateway, &place, 5, &bytes[5..10]).await;
    assert_eq!((wrong.status, &wrong.headers["upload-offset"]), (409, &"1000000".parse().unwrap()));
    let missing = send(request(&gateway, "PATCH", &place).body("x")).await;
    assert_eq!(missing.status, 400, "{missing:?}");
    let much = add(&gateway, &place, 1_000_000, &noise(2_000_001)).await;
    assert_eq!(much.status, 400, "{much:?}");
    let now = request(&gateway, "HEAD", &place).send().await.unwrap();
    let offset: usize = now.headers()["upload-offset"].to_str().unwrap().parse().unwrap();
    assert!((1_000_000..=3_000_000).contains(&offset), "what fitted may have been kept");
    // No byte of the wrong part may be in the file, so the upload is restarted.
    assert_eq!(send(request(&gateway, "DELETE", &place)).await.status, 200);
    assert_eq!(objects(&gateway), 0);

    let begun = begin(&gateway, &json!({"name": "../big.bin", "size": bytes.len()})).await;
    let place = begun.headers["location"].to_str().unwrap().to_owned();
    for (number, part) in bytes.chunks(1_500_000).enumerate() {
        let added = add(&gateway, &place, number * 1_500_000, part).await;
        assert!(added.status < 300, "{added:?}");
        if number == 1 {
            assert_eq!(added.status, 201);
            let file = &added.body["data"];
            assert_eq!((&file["name"], &file["size"]), (&json!("big.bin"), &json!(3_000_000)));
            assert!(content(&gateway, id(file)).await.1 == bytes);
            let head = request(&gateway, "HEAD", &place).send().await.unwrap();
            assert_eq!(
                head.status(),
                200,
                "a client that lost the last answer learns that all arrived"
            );
            let headers = [&head.headers()["upload-offset"], &head.headers()["upload-length"]];
            assert_eq!(headers, ["3000000", "3000000"]);
            assert_eq!(gateway.get(&place).await.body["data"]["file_id"], id(file));
            let late = add(&gateway, &place, 3_000_000, b"x").await;
            assert_eq!(late.status, 404, "what is finished takes no more: {late:?}");
            assert_eq!(
                send(request(&gateway, "DELETE", &format!("/v1/files/{}", id(file)))).await.status,
                200
            );
        }
    }
    assert_eq!(
        gateway.get(&place).await.status,
        404,
        "a finished upload is known as long as its file"
    );
    assert_eq!(objects(&gateway), 0);
}

#[tokio::test]
async fn invalid_upload_requests_are_refused() {
    let gateway = Gateway::with().config("files: { max_bytes: 1MB }").start().await;
    for body in [
        json!({}),
        json!({"size": -1}),
        json!({"size": 1, "x": 2}),
        json!([]),
        json!({"size": 2_000_000}),
    ] {
        assert_eq!(begin(&gateway, &body).await.status, 400, "{body}");
    }
    for place in
        ["/v1/files/uploads/x", "/v1/files/uploads/upload_00000000000000000000000000000000"]
    {
        assert_eq!(gateway.get(place).await.status, 404);
        assert_eq!(add(&gateway, place, 0, b"x").await.status, 404);
    }
    // An empty upload.
    let begun = begin(&gateway, &json!({"size": 0})).await;
    let place = begun.headers["location"].to_str().unwrap();
    let done = add(&gateway, place, 0, b"").await;
    assert_eq!((done.status, &done.body["data"]["size"]), (201, &json!(0)), "{done:?}");
}
