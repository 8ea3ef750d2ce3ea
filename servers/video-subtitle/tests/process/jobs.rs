//! Jobs: results, cancelling, restarts and replicas.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::client::Client;
use super::speech::Recognizer;
use super::videos::Videos;

#[test]
fn probes_sound_and_pictures_are_jobs() {
    let videos = Videos::new();
    let film = videos.film("film.mkv", "srt");
    let mut client = Client::start(&videos.host, &[]);
    let job_id = client.create(&film, "probe", json!({}));
    let (probe, _) = client.finish(&job_id);
    assert!(probe["duration_ms"].as_u64().unwrap().abs_diff(3000) < 100, "{probe}");
    assert_eq!(probe["streams"][0]["width"], json!(160), "{probe}");
    assert_eq!(probe["streams"][2]["kind"], json!("subtitle"), "{probe}");

    let job_id =
        client.create(&film, "extract_audio", json!({"start_ms": 1000, "duration_ms": 500}));
    let (audio, links) = client.finish(&job_id);
    let wav = client.stored_bytes(&links[0]);
    assert!(wav.starts_with(b"RIFF") && wav.len().abs_diff(16_044) < 400, "{audio}");
    // Mono, 16 kHz.
    assert_eq!((&wav[22..24], &wav[24..28]), (&[1, 0][..], &16_000_u32.to_le_bytes()[..]));
    assert_eq!(audio["truncated"], json!(true), "{audio}");

    let options = json!({"at_ms": [0, 2000, 60_000]});
    let job_id = client.create(&film, "extract_frames", options);
    let (frames, links) = client.finish(&job_id);
    assert_eq!((frames["frames"].as_array().unwrap().len(), links.len()), (2, 2), "{frames}");
    assert_eq!(frames["frames"][1]["at_ms"], json!(2000));
    assert!(frames["warnings"][0].as_str().unwrap().contains("60000"), "{frames}");
    let pictures = [client.stored_bytes(&links[0]), client.stored_bytes(&links[1])];
    assert!(pictures[0].starts_with(&[0xff, 0xd8]) && pictures[0] != pictures[1]);

    let url = videos.url("en.srt");
    let job_id = client.create(&url, "convert_subtitles", json!({"to": "vtt", "shift_ms": 1000}));
    let (converted, _) = client.finish(&job_id);
    assert!(converted["content"].as_str().unwrap().contains("00:00:01.200 -->"), "{converted}");
}

#[test]
fn there_is_no_picture_after_the_end() {
    let videos = Videos::new();
    videos.film("film.mkv", "srt");
    // Without sound ffmpeg would give its last picture.
    videos.ffmpeg("-i film.mkv -map 0:v -map 0:s -c:s ass silent.mkv");
    let mut client = Client::start(&videos.host, &[]);
    let options = json!({"at_ms": [0, 60_000]});
    let job_id = client.create(&videos.url("silent.mkv"), "extract_frames", options);
    let (frames, links) = client.finish(&job_id);
    assert_eq!((frames["frames"].as_array().unwrap().len(), links.len()), (1, 1), "{frames}");
}

#[test]
fn a_running_job_is_cancelled_with_its_program() {
    let videos = Videos::new();
    let film = videos.silent_track();
    let speech = Recognizer::new();
    let mut client = Client::start(&videos.host, &speech.flags());
    let job_id = client.create(&film, "generate_transcript", json!({}));
    client.wait_for_step(&job_id, "recognizing speech");
    let cancelled = client.answer("cancel_job", json!({"job_id": job_id}));
    assert_eq!(cancelled, json!({"job_id": job_id, "state": "cancelled"}));
    assert_eq!(client.status(&job_id, 0)["state"], json!("cancelled"));
    speech.wait_until_gone();
}

#[test]
fn a_job_that_was_killed_in_the_middle_ends_after_the_restart() {
    let videos = Videos::new();
    let film = videos.silent_track();
    let speech = Recognizer::new();
    let folder = tempfile::tempdir().unwrap();
    let mut first = Client::keeping(folder.path(), &videos.host, &speech.flags());
    let job_id = first.create(&film, "generate_transcript", json!({"format": "text"}));
    first.wait_for_step(&job_id, "recognizing speech");
    first.signal("KILL");
    speech.let_go();
    // The new process takes up the job by itself.
    let mut next = Client::keeping(folder.path(), &videos.host, &speech.flags());
    let (transcript, _) = next.finish(&job_id);
    assert_eq!(transcript["content"], json!("Good evening.\nAnd good night."));
}

#[test]
fn a_job_is_stopped_by_a_signal_and_goes_on_in_the_next_process() {
    let videos = Videos::new();
    let film = videos.silent_track();
    let speech = Recognizer::new();
    let folder = tempfile::tempdir().unwrap();
    let mut first = Client::keeping(folder.path(), &videos.host, &speech.flags());
    let job_id = first.create(&film, "generate_transcript", json!({}));
    first.wait_for_step(&job_id, "recognizing speech");
    first.signal("TERM");
    speech.wait_until_gone();
    let stored = folder.path().join(format!("jobs/open/{job_id}.json"));
    let stored = std::fs::read_to_string(stored).unwrap();
    assert!(
        stored.contains(r#""state":"queued""#) && stored.contains(r#""restarts":0"#),
        "{stored}"
    );
    speech.let_go();
    let mut next = Client::keeping(folder.path(), &videos.host, &speech.flags());
    let (transcript, _) = next.finish(&job_id);
    assert_eq!(transcript["origin"], json!("speech"));
    // A redeploy removes neither jobs nor references.
    next.signal("TERM");
    let mut last = Client::keeping(folder.path(), &videos.host, &speech.flags());
    assert_eq!(last.finish(&job_id).0, transcript);
}

#[test]
fn replicas_answer_for_each_others_jobs() {
    let videos = Videos::new();
    let film = videos.silent_track();
    let speech = Recognizer::new();
    let folder = tempfile::tempdir().unwrap();
    let mut one = Client::keeping(folder.path(), &videos.host, &speech.flags());
    let mut two = Client::keeping(folder.path(), &videos.host, &speech.flags());
    let job_id = one.create(&film, "generate_transcript", json!({}));
    two.wait_for_step(&job_id, "recognizing speech");
    assert_eq!(speech.running(), 1);
    let cancelled = two.answer("cancel_job", json!({"job_id": job_id}));
    assert_eq!(cancelled["state"], json!("cancelled"));
    assert_eq!(one.status(&job_id, 0)["state"], json!("cancelled"));
    speech.let_go();
    let job_id = two.create(&film, "generate_transcript", json!({}));
    assert_eq!(one.finish(&job_id).0, two.finish(&job_id).0);
}

#[test]
fn a_call_that_takes_long_becomes_a_job() {
    let videos = Videos::new();
    let film = videos.silent_track();
    let speech = Recognizer::new();
    let mut client = Client::start(&videos.host, &speech.flags());
    let answer = client.answer("generate_transcript", json!({"input_url": film}));
    assert_eq!(answer["state"], json!("running"), "{answer}");
    speech.let_go();
    let (transcript, _) = client.finish(answer["job_id"].as_str().unwrap());
    assert_eq!(transcript["segments"].as_array().unwrap().len(), 2);
}

#[test]
fn a_call_that_waits_when_its_server_is_replaced_gets_the_id_of_its_job() {
    let videos = Videos::new();
    let film = videos.silent_track();
    let speech = Recognizer::new();
    let folder = tempfile::tempdir().unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_video-subtitle-mcp"))
        .args(["--listen", "127.0.0.1:0", "--allow", &videos.host, "--keep"])
        .arg(folder.path())
        .args(speech.flags())
        .env_remove("POWERSTRIP_GATEWAY")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let address = url.trim().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
    let waiting = send_call(address, "generate_transcript", json!({"input_url": film}));
    while speech.running() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pid = server.id().to_string();
    assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
    let answer = receive_answer(waiting);
    assert_eq!(answer["state"], json!("running"), "{answer}");
    assert!(server.wait().unwrap().success());
    speech.let_go();
    let mut next = Client::keeping(folder.path(), &videos.host, &speech.flags());
    let (transcript, _) = next.finish(answer["job_id"].as_str().unwrap());
    assert_eq!(transcript["origin"], json!("speech"));
}

/// Sends a call over HTTP.
fn send_call(address: &str, tool: &str, arguments: Value) -> TcpStream {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": tool, "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    })
    .to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
         Mcp-Name: {tool}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    stream
}

/// The structured answer of a call over HTTP, whether it comes as JSON or as an event.
fn receive_answer(mut stream: TcpStream) -> Value {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let lines = answer.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
    let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok());
    let mut message = messages.find(|message| message["result"].is_object()).expect(&answer);
    message["result"]["structuredContent"].take()
}
