//! A video that is uploaded once and passed by its id: the server downloads it by a link of the gateway.

use serde_json::json;
use tokio::process::Command;

use super::support::{call, gateway, register, wait_for_replicas};

#[tokio::test]
async fn subtitles_of_an_uploaded_video_are_read_by_its_id() {
    const SERVER: &str = "video-subtitle-mcp";
    let gateway = gateway().await;
    let keep = tempfile::tempdir().unwrap();
    let _server = register(SERVER, &gateway, keep.path(), &["--allow", gateway.address()]).await;
    wait_for_replicas(&gateway, SERVER, 1).await;
    gateway.write("cues.srt", "1\n00:00:00,200 --> 00:00:00,800\nHello there.\n");
    let made = Command::new("ffmpeg")
        .args("-v error -f lavfi -i testsrc=d=1:s=64x64 -i cues.srt -c:s srt film.mkv".split(' '))
        .current_dir(gateway.folder())
        .status();
    assert!(made.await.expect("ffmpeg is installed by scripts/test").success());
    let stored = gateway.run(&["--json", "files", "put", "film.mkv"]).await.json_of(0);
    let file = &stored[0]["file_id"];

    let input = json!({"file_id": file, "format": "vtt"});
    let found = call(&gateway, "video-subtitle-mcp:extract_subtitles", &input).await;
    assert!(found["content"].as_str().unwrap().contains("Hello there."), "{found}");
    let input = json!({"file_id": file, "operation": "probe", "options": {}});
    let job = call(&gateway, "video-subtitle-mcp:create_job", &input).await;
    let input = json!({"job_id": job["job_id"], "wait_ms": 20_000});
    let status = call(&gateway, "video-subtitle-mcp:job_status", &input).await;
    assert_eq!(status["state"], "done", "{status}");
}
