//! Files in a real S3 service, `s3s-fs`, which checks signatures, ranges and links.

use std::path::PathBuf;
use std::process::Stdio;

use tempfile::TempDir;
use testkit::{Gateway, send};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::files::store::{broken_uploads, ranges, round_trip, texts};
use crate::files::support::{id, is_mark, objects, put, request};

/// A service with one bucket; `None` if the program is not installed.
struct Service {
    _child: Child,
    folder: TempDir,
    address: String,
}

fn program() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from)?;
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or(home.join(".cache"), PathBuf::from);
    let named = std::env::var_os("POWERSTRIP_TEST_S3").map(PathBuf::from);
    named.or(Some(cache.join("powerstrip/rust-tools/bin/s3s-fs"))).filter(|path| path.is_file())
}

impl Service {
    async fn start() -> Option<Self> {
        let Some(program) = program() else {
            testkit::skip_without("`s3s-fs`, which scripts/test installs");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("files")).unwrap();
        // The program cannot choose a free port itself, so one is chosen and tried.
        for _ in 0..20 {
            let port =
                std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut child = Command::new(&program)
                .args(["--host", "127.0.0.1", "--port", &port.to_string()])
                .args(["--access-key", "KEY", "--secret-key", "SECRET"])
                .arg(folder.path())
                .env("RUST_LOG", "info")
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .kill_on_drop(true)
                .spawn()
                .unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                if line.contains("server is running at") {
                    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
                    return Some(Self {
                        _child: child,
                        folder,
                        address: format!("127.0.0.1:{port}"),
                    });
                }
            }
        }
        panic!("s3s-fs does not start");
    }

    async fn gateway(&self, secret: &str) -> Gateway {
        let config = format!(
            "storage:\n  objects: s3://files/kept/here\n  s3:\n    endpoint: http://{}\n    access_key: {{ env: S3_KEY }}\n    secret_key: {{ file: s3.secret }}\n",
            self.address
        );
        Gateway::with().config(&config).env("S3_KEY", "KEY").file("s3.secret", secret).start().await
    }

    fn objects(&self) -> usize {
        fn count(folder: &std::path::Path) -> usize {
            let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
            let mut found = 0;
            for entry in entries.flatten() {
                // The service stores metadata in hidden files.
                let hidden = entry.file_name().to_string_lossy().starts_with('.');
                found += match entry.path() {
                    path if path.is_dir() => count(&path),
                    path if hidden || is_mark(&path) => 0,
                    _ => 1,
                };
            }
            found
        }
        count(self.folder.path())
    }

    /// Parts of uploads that were neither completed nor aborted.
    fn parts(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        names.filter(|name| name.contains("upload")).collect()
    }
}

#[tokio::test]
async fn files_are_stored_in_a_bucket() {
    let Some(service) = Service::start().await else { return };
    let gateway = service.gateway("SECRET\n").await;
    round_trip(&gateway).await;
    assert_eq!(service.objects(), 0, "what is deleted is gone");
    ranges(&gateway).await;
    assert!(service.folder.path().join("files/kept/here").is_dir(), "below the prefix");
    texts(&gateway).await;
    let before = service.objects();
    broken_uploads(&gateway).await;
    testkit::eventually("broken uploads leave nothing", || async {
        (service.objects() == before && service.parts().is_empty()).then_some(())
    })
    .await;
    assert_eq!(objects(&gateway), 0, "nothing of it lies in the folder");
    assert_eq!(gateway.stop().await, Some(0));
}

#[tokio::test]
async fn links_are_presigned_by_the_bucket() {
    let Some(service) = Service::start().await else { return };
    let gateway = service.gateway("SECRET").await;
    let kept = put(&gateway, "?name=a.txt", "hello").await;
    let answer = gateway.get(&format!("/v1/files/{}/link?ttl=60", id(&kept))).await;
    let url = answer.body["data"]["url"].as_str().unwrap();
    assert!(url.starts_with(&format!("http://{}/files/kept/here/", service.address)), "{url}");
    assert!(!url.contains("SECRET"), "{url}");
    assert_eq!(reqwest::get(url).await.unwrap().text().await.unwrap(), "hello");
    let forged = reqwest::get(url.replace("X-Amz-Expires=60", "X-Amz-Expires=6000")).await.unwrap();
    assert_eq!(forged.status(), 403);
    let bare = reqwest::get(url.split('?').next().unwrap()).await.unwrap();
    assert_eq!(bare.status(), 403);
}

#[tokio::test]
async fn bucket_errors_reveal_no_secret() {
    let Some(service) = Service::start().await else { return };
    let gateway = service.gateway("WRONG-SECRET").await;
    let refused = send(request(&gateway, "POST", "/v1/files?name=a").body("x")).await;
    assert_eq!(
        (refused.status, refused.body["errors"][0]["code"].as_str()),
        (503, Some("UNAVAILABLE")),
        "{refused:?}"
    );
    let output = format!("{refused:?}{}", gateway.log());
    assert!(!output.contains("WRONG-SECRET"), "{output}");
    assert!(!refused.body.to_string().contains("Signature"), "{refused:?}");
}
