use std::path::Path;
use std::process::Output;

use serde_json::Value;
use testkit::{Gateway, noise, powerstrip_binary};
use tokio::process::Command;

use crate::files::support::put;

async fn run(folder: &Path, arguments: &[&str]) -> Output {
    let output =
        Command::new(powerstrip_binary()).arg("files").args(arguments).current_dir(folder).output();
    output.await.unwrap()
}

async fn run_ok(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments).await;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Runs the same commands with and without a running gateway.
async fn store_and_fetch(folder: &Path) -> String {
    let bytes = noise(2_000_000);
    std::fs::write(folder.join("in.bin"), &bytes).unwrap();
    std::fs::write(folder.join("note.txt"), "hello").unwrap();
    let ids = run_ok(folder, &["put", "in.bin", "note.txt"]).await;
    let ids: Vec<_> = ids.lines().collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    assert!(ids.iter().all(|id| id.starts_with("file_")));
    assert_eq!(run_ok(folder, &["get", ids[1]]).await, "hello");
    let digits = ids[1].trim_start_matches("file_");
    for prefix in [&ids[1][..20], &digits[..16]] {
        assert_eq!(run_ok(folder, &["get", prefix]).await, "hello", "{prefix} names the file");
    }
    run_ok(folder, &["get", ids[0], "-o", "out.bin"]).await;
    assert!(std::fs::read(folder.join("out.bin")).unwrap() == bytes);
    let again = run(folder, &["get", ids[1], "-o", "out.bin"]).await;
    assert_eq!(again.status.code(), Some(2), "nothing is written over");
    assert!(std::fs::read(folder.join("out.bin")).unwrap() == bytes);

    let listed: Value = serde_json::from_str(&run_ok(folder, &["ls", "--json"]).await).unwrap();
    let names: Vec<_> =
        listed.as_array().unwrap().iter().map(|file| file["name"].clone()).collect();
    assert_eq!(names, ["note.txt", "in.bin"]);
    let created = listed[0]["created_at"].as_str().unwrap();
    assert!(created.starts_with("20") && created.ends_with('Z'), "{created} is RFC 3339");
    assert!(run_ok(folder, &["ls"]).await.contains("note.txt"));
    assert!(run_ok(folder, &["rm", ids[0]]).await.contains("deleted"));
    for arguments in
        [&["get", ids[0]][..], &["rm", ids[0]], &["get", "x"], &["put", "missing"], &["put", "."]]
    {
        let refused = run(folder, arguments).await;
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}");
        assert!(refused.stdout.is_empty(), "{arguments:?}");
    }
    let reference = run(folder, &["get", "doc_0123456789abcdef0123456789abcdef"]).await;
    assert_eq!(reference.status.code(), Some(1));
    let said = String::from_utf8_lossy(&reference.stderr);
    assert!(said.contains("store_artifact content_ref_id=doc_0123"), "{said}");
    assert!(!folder.join("x").exists());
    std::fs::remove_file(folder.join("out.bin")).unwrap();
    ids[1].to_owned()
}

#[tokio::test]
async fn commands_store_and_fetch_files_with_and_without_a_gateway() {
    let folder = tempfile::tempdir().unwrap();
    let id = store_and_fetch(folder.path()).await;
    let refused = run(folder.path(), &["link", &id]).await;
    assert_eq!(refused.status.code(), Some(1), "links need a running gateway");

    let gateway = Gateway::start().await;
    let id = store_and_fetch(gateway.folder()).await;
    let link = run_ok(gateway.folder(), &["link", &id, "--ttl", "10m"]).await;
    assert_eq!(reqwest::get(&link).await.unwrap().text().await.unwrap(), "hello");
    // Files stored over HTTP belong to the same user.
    let kept = put(&gateway, "?name=http.txt", "by http").await;
    assert_eq!(
        run_ok(gateway.folder(), &["get", kept["file_id"].as_str().unwrap()]).await,
        "by http"
    );
    let left: Vec<_> = std::fs::read_dir(gateway.folder().join(".powerstrip"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(gateway.stop().await, Some(0));
}
