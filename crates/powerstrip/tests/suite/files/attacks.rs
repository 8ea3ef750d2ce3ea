use serde_json::{Value, json};
use testkit::{Gateway, multipart, noise, send};
use url::Url;

use crate::files::support::{content, id, objects, post_form, put, request};

#[tokio::test]
async fn file_names_cannot_inject_paths_or_headers() {
    let gateway = Gateway::start().await;
    for (given, kept) in [
        ("../../etc/passwd", "passwd"),
        ("a%00b", "ab"),
        ("%E2%80%AEfdp.exe", "fdp.exe"),
        ("C%3A%5Cboot.ini", "boot.ini"),
        ("..", "file"),
        ("x%0D%0ASet-Cookie%3A%20a%3Db", "xSet-Cookie: a=b"),
        (&"n".repeat(4096), &"n".repeat(255)),
    ] {
        let file = put(&gateway, &format!("?name={given}"), "x").await;
        assert_eq!(file["name"], kept);
        let answer = request(&gateway, "GET", &format!("/v1/files/{}/content", id(&file)))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 200);
        assert!(answer.headers().get("set-cookie").is_none());
        let disposition = answer.headers()["content-disposition"].to_str().unwrap();
        assert!(disposition.starts_with("attachment; filename=\""), "{disposition}");
        assert!(!disposition.contains('/'), "{disposition}");
    }
    let form = post_form(&gateway, &[("file", Some("../../../x.sh"), b"x")]).await;
    assert_eq!(form.body["data"]["name"], "x.sh");
    assert!(!gateway.folder().join("x.sh").exists());
}

#[tokio::test]
async fn uploaded_pages_are_downloaded_and_never_rendered() {
    let gateway = Gateway::start().await;
    let page = put(&gateway, "?name=a.html", "<html><script>alert(1)</script></html>").await;
    let path = format!("/v1/files/{}/content", id(&page));
    let answer = request(&gateway, "GET", &path).send().await.unwrap();
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert!(header("content-disposition").starts_with("attachment"));
    assert!(header("content-security-policy").contains("sandbox"));
    assert!(header("cache-control").contains("private"));
}

#[tokio::test]
async fn oversized_files_are_refused_before_and_during_upload() {
    let gateway = Gateway::with().config("files: { max_bytes: 1MB, quota: 3MB }").start().await;
    let refused = gateway.post_without_body("/v1/files", 2 << 20).await;
    assert_eq!(refused["errors"][0]["code"], "INVALID_INPUT", "{refused}");
    assert_eq!(refused["errors"][0]["details"]["limit"], 1 << 20);
    // Without a `Content-Length`, the size is known only while reading.
    let (kind, body) = multipart(&[("file", Some("a"), &noise((1 << 20) + 1))]);
    let form = request(&gateway, "POST", "/v1/files").header("content-type", kind).body(body);
    if let Ok(answer) = form.send().await {
        assert_eq!(answer.status(), 400);
    }
    testkit::eventually("nothing is left", || async { (objects(&gateway) == 0).then_some(()) })
        .await;
    for _ in 0..3 {
        put(&gateway, "", noise(1 << 20)).await;
    }
    let full = send(request(&gateway, "POST", "/v1/files").body("x")).await;
    assert_eq!((full.status, &full.body["errors"][0]["details"]["quota"]), (400, &json!(3 << 20)));
    assert_eq!(objects(&gateway), 3);
}

#[tokio::test]
async fn malformed_ids_find_nothing() {
    let gateway = Gateway::start().await;
    let digits = "0".repeat(32);
    for id in [
        "x".to_owned(),
        "..%2F..%2Flinks.key".to_owned(),
        format!("file_{digits}"),
        format!("ref_{digits}"),
        format!("FILE_{digits}"),
        format!("file_{digits}%00"),
        "uploads".to_owned(),
    ] {
        for (method, rest) in
            [("GET", ""), ("GET", "/content"), ("GET", "/text"), ("GET", "/link"), ("DELETE", "")]
        {
            if id == "uploads" && rest.is_empty() {
                continue;
            }
            let answer = send(request(&gateway, method, &format!("/v1/files/{id}{rest}"))).await;
            assert_eq!(answer.status, 404, "{method} {id}{rest}: {answer:?}");
            assert_eq!(answer.body["errors"][0]["code"], "NOT_FOUND");
        }
    }
    for query in ["?limit=many", "?kind=dog", "?cursor=1"] {
        assert_eq!(gateway.get(&format!("/v1/files{query}")).await.status, 400, "{query}");
    }
    for query in ["?ttl=0", "?ttl=-1", "?ttl=soon"] {
        let answer = send(request(&gateway, "POST", &format!("/v1/files{query}")).body("x")).await;
        assert_eq!(answer.status, 400, "{query}");
    }
}

async fn link(gateway: &Gateway, file: &Value, query: &str) -> Url {
    let answer = gateway.get(&format!("/v1/files/{}/link{query}", id(file))).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["data"]["url"].as_str().unwrap().parse().unwrap()
}

fn changed(url: &Url, key: &str, value: Option<&str>) -> Url {
    let mut other = url.clone();
    let pairs: Vec<(String, String)> = url
        .query_pairs()
        .filter_map(|(name, old)| match (name == key, value) {
            (true, None) => None,
            (true, Some(new)) => Some((name.into_owned(), new.to_owned())),
            (false, _) => Some((name.into_owned(), old.into_owned())),
        })
        .collect();
    other.query_pairs_mut().clear().extend_pairs(pairs);
    other
}

#[tokio::test]
async fn a_link_opens_only_its_file() {
    let gateway = Gateway::start().await;
    let file = put(&gateway, "?name=a.txt", "hello").await;
    let other = put(&gateway, "?name=b.txt", "other").await;
    let good = link(&gateway, &file, "").await;
    let opened = reqwest::get(good.clone()).await.unwrap();
    assert_eq!((opened.status().as_u16(), opened.text().await.unwrap()), (200, "hello".to_owned()));

    let value = |key: &str| {
        good.query_pairs()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.into_owned())
            .unwrap()
    };
    let later = (value("expires").parse::<u64>().unwrap() + 1).to_string();
    let mut flipped = value("sig").into_bytes();
    flipped[3] = if flipped[3] == b'a' { b'b' } else { b'a' };
    let flipped = String::from_utf8(flipped).unwrap();
    let mut elsewhere = good.clone();
    elsewhere.set_path(&good.path().replace(id(&file), id(&other)));
    for (why, url) in [
        ("a longer life", changed(&good, "expires", Some(&later))),
        ("another tenant", changed(&good, "tenant", Some("evil"))),
        ("another signature", changed(&good, "sig", Some(&flipped))),
        ("an empty signature", changed(&good, "sig", Some(""))),
        ("another file", elsewhere),
    ] {
        let refused = reqwest::get(url).await.unwrap();
        assert_eq!(refused.status(), 403, "{why}");
        assert!(!refused.text().await.unwrap().contains("hello"), "{why}");
    }
    for (why, url) in [
        ("no life", changed(&good, "expires", None)),
        ("no tenant", changed(&good, "tenant", None)),
        ("no number", changed(&good, "expires", Some("x"))),
    ] {
        assert_eq!(reqwest::get(url).await.unwrap().status(), 400, "{why}");
    }
    let short = link(&gateway, &file, "?ttl=1").await;
    testkit::eventually("a link expires", || async {
        (reqwest::get(short.clone()).await.unwrap().status() == 403).then_some(())
    })
    .await;
    send(request(&gateway, "DELETE", &format!("/v1/files/{}", id(&file)))).await;
    assert_eq!(reqwest::get(good).await.unwrap().status(), 404, "gone is gone");
    assert_eq!(content(&gateway, id(&other)).await.0, 200);
}
