//! The server as a program: its tools over stdin and stdout, with the real ffmpeg.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests play the client")]

#[path = "process/client.rs"]
mod client;
#[path = "process/jobs.rs"]
mod jobs;
#[path = "process/pictures.rs"]
mod pictures;
#[path = "process/speech.rs"]
mod speech;
#[path = "process/videos.rs"]
mod videos;

use serde_json::{Value, json};

use self::client::Client;
use self::videos::{ENGLISH, GERMAN, Videos};

fn fault(result: &Value) -> &Value {
    assert_eq!(result["isError"], json!(true), "{result}");
    assert!(!result.to_string().contains("topsecret"), "{result}");
    &result["_meta"]["powerstrip/fault"]
}

/// The times and texts of an SRT.
fn cues(srt: &str) -> Vec<(i64, i64, String)> {
    let ms = |time: &str| -> i64 {
        let parts = time.trim().split([':', ',']).map(|part| part.parse::<i64>().unwrap());
        let units = [3_600_000, 60_000, 1000, 1];
        parts.zip(units).map(|(part, unit)| part * unit).sum()
    };
    let blocks = srt.split("\n\n").filter(|block| !block.trim().is_empty());
    blocks
        .map(|block| {
            let (times, text) = block.split_once('\n').unwrap().1.split_once('\n').unwrap();
            let (start, end) = times.split_once("-->").unwrap();
            (ms(start), ms(end), text.to_owned())
        })
        .collect()
}

/// The same texts, at times that differ by one frame at most.
fn assert_same(found: &str, expected: &str) {
    let (found, expected) = (cues(found), cues(expected));
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found.2, expected.2);
        let distance = (found.0 - expected.0).abs().max((found.1 - expected.1).abs());
        assert!(distance <= 40, "{found:?} {expected:?}");
    }
}

#[test]
fn text_tracks_are_extracted_exactly() {
    let videos = Videos::new();
    let film = videos.film("film.mkv", "srt");
    let mut client = Client::start(&videos.host, &[]);
    let read = client.answer("extract_subtitles", json!({"input_url": film}));
    assert_same(read["content"].as_str().unwrap(), ENGLISH);
    assert_eq!((&read["track"], &read["cues"]), (&json!(0), &json!(2)));
    assert_eq!(
        read["tracks"],
        json!([
            {"index": 0, "codec": "subrip", "language": "eng", "title": "English", "kind": "text", "default": true, "forced": false},
            {"index": 1, "codec": "subrip", "language": "ger", "title": null, "kind": "text", "default": false, "forced": false},
        ])
    );
    assert!(read["engine"]["version"].as_str().unwrap().starts_with(char::is_numeric), "{read}");
    for choice in
        [json!({"input_url": film, "language": "de"}), json!({"input_url": film, "track": 1})]
    {
        let read = client.answer("extract_subtitles", choice);
        assert_same(read["content"].as_str().unwrap(), GERMAN);
        assert_eq!(read["track"], json!(1));
    }
    let vtt = client.answer("extract_subtitles", json!({"input_url": film, "format": "vtt"}));
    let vtt = vtt["content"].as_str().unwrap();
    assert!(
        vtt.starts_with("WEBVTT\n\n00:00:00.2") && vtt.contains("<i>Hello</i>, world."),
        "{vtt}"
    );
    let ass = client.answer("extract_subtitles", json!({"input_url": film, "format": "ass"}));
    let ass = ass["content"].as_str().unwrap();
    assert!(ass.contains("{\\i1}Hello{\\i0}, world.\nDialogue:"), "{ass}");
    for missing in
        [json!({"input_url": film, "track": 2}), json!({"input_url": film, "language": "fr"})]
    {
        let result = client.call("extract_subtitles", missing);
        assert_eq!(fault(&result)["code"], json!("NOT_FOUND"), "{result}");
        assert!(result.to_string().contains("1 (ger)"), "{result}");
    }
}

#[test]
fn tracks_of_other_containers_are_read() {
    let videos = Videos::new();
    let mut client = Client::start(&videos.host, &[]);
    for (name, codec) in [("film.mp4", "mov_text"), ("film.webm", "webvtt"), ("ass.mkv", "ass")] {
        let film = videos.film(name, codec);
        let read =
            client.answer("extract_subtitles", json!({"input_url": film, "language": "ger"}));
        let expected = GERMAN;
        assert_same(read["content"].as_str().unwrap(), expected);
        assert_eq!(read["tracks"][1]["codec"], json!(codec), "{read}");
    }
    let plain = videos.silent_track();
    let read = client.answer("extract_subtitles", json!({"input_url": plain}));
    assert_eq!(
        (&read["track"], &read["tracks"], &read["cues"]),
        (&Value::Null, &json!([]), &json!(0))
    );
    assert!(read["warnings"][0].as_str().unwrap().contains("generate_transcript"), "{read}");
}

#[test]
fn transcripts_come_from_a_track() {
    let videos = Videos::new();
    let film = videos.film("film.mkv", "srt");
    let mut client = Client::start(&videos.host, &[]);
    let read = client.answer(
        "generate_transcript",
        json!({"input_url": film, "language": "de", "format": "text"}),
    );
    assert_eq!(read["content"], json!("Hallo, Welt: Größe!\nZwei Zeilen mit Text."));
    assert_eq!((&read["language"], &read["origin"]), (&json!("ger"), &json!("subtitles")));
    assert_eq!(read["segments"][1]["text"], json!("Zwei Zeilen mit Text."));
    assert!(read["segments"][1]["start_ms"].as_i64().unwrap().abs_diff(1400) <= 40, "{read}");
    let read = client.answer("generate_transcript", json!({"input_url": film, "format": "json"}));
    let segments: Value = serde_json::from_str(read["content"].as_str().unwrap()).unwrap();
    assert_eq!((&segments, read["engine"]["name"].as_str()), (&read["segments"], Some("ffprobe")));
}

#[test]
fn invisible_subtitle_text_is_removed_or_counted() {
    let videos = Videos::new();
    let hidden = "1\n00:00:00,200 --> 00:00:01,200\nHello\u{202e}\u{e0041}\u{200b}, world.\n\n";
    videos.write("hidden.srt", hidden);
    videos.ffmpeg(
        "-f lavfi -i testsrc=d=2:s=160x120 -i hidden.srt -metadata:s:s:0 title=a\u{202e}b hidden.mkv",
    );
    let film = videos.url("hidden.mkv");
    let mut client = Client::start(&videos.host, &[]);
    let read = client.answer("generate_transcript", json!({"input_url": film, "format": "text"}));
    assert_eq!(read["content"], json!("Hello, world."));
    assert_eq!(read["warnings"], json!(["3 invisible characters were removed"]));
    let read = client.answer("extract_subtitles", json!({"input_url": film}));
    assert_eq!(read["tracks"][0]["title"], json!("ab"), "{read}");
    assert_eq!(read["warnings"], json!(["the track has 3 invisible characters"]));
    assert_same(read["content"].as_str().unwrap(), hidden);
}

#[test]
fn subtitles_are_converted_without_programs() {
    let mut client =
        Client::start("localhost:1", &["--ffmpeg", "/nonexistent", "--tesseract", "/nonexistent"]);
    let input =
        json!({"content": ENGLISH, "to": "vtt", "shift_ms": 1000, "fps": {"from": 25, "to": 50}});
    let vtt = client.answer("convert_subtitles", input);
    assert!(vtt["content"].as_str().unwrap().contains("00:00:01.100 --> 00:00:01.600\n"), "{vtt}");
    assert_eq!((&vtt["cues"], &vtt["lost"]), (&json!(2), &json!([])));
    let bad = "1\n00:00:01,000 --> 00:00:09,000\n{\\an8}up\n\n2\n00:00:08,000 --> 00:00:08,100\nfar too fast\n\nx\n00:00:xx --> 0\n";
    let read = client.answer("convert_subtitles", json!({"content": bad, "to": "ass"}));
    assert_eq!(read["lost"], json!(["positions"]));
    let expected = json!([
        {"kind": "too_long", "cue": 1}, {"kind": "overlap", "cue": 2}, {"kind": "too_fast", "cue": 2},
    ]);
    assert_eq!(read["findings"], expected);
    assert!(read["warnings"][0].as_str().unwrap().starts_with("line 10"), "{read}");

    // A long result is a reference, which the same tool takes.
    let long: String = (0..4000)
        .map(|at| {
            format!(
                "{at}\n00:{:02}:{:02},000 --> 00:{:02}:{:02},900\nline\n\n",
                at / 60,
                at % 60,
                at / 60,
                at % 60
            )
        })
        .collect();
    let result = client.call("convert_subtitles", json!({"content": long, "to": "vtt"}));
    let stored = &result["structuredContent"];
    assert!(stored["ref_id"].as_str().unwrap().starts_with("subtitles_"), "{stored}");
    assert_eq!(
        (&stored["media_type"], &stored["name"]),
        (&json!("text/vtt"), &json!("subtitles.vtt"))
    );
    assert_eq!(result["content"][1]["type"], json!("resource_link"), "{result}");
    let again = json!({"source_ref_id": stored["ref_id"], "to": "srt"});
    assert_eq!(client.answer("convert_subtitles", again)["cues"], stored["cues"]);
}

#[test]
fn input_that_cannot_be_used_says_what_to_do() {
    let videos = Videos::new();
    let film = videos.film("film.mkv", "srt");
    let mut client = Client::start(&videos.host, &["--max-download", "1000000"]);
    let damaged =
        videos.write("damaged.mkv", &std::fs::read(videos.path("film.mkv")).unwrap()[..200]);
    let empty = videos.write("empty.mkv", "");
    let large = videos.write("large.mkv", vec![0; 1_000_001]);
    for (tool, input, said) in [
        ("extract_subtitles", json!({}), "input_url"),
        ("extract_subtitles", json!({"input_url": ""}), "/input_url"),
        ("extract_subtitles", json!({"input_url": [film]}), "/input_url"),
        ("extract_subtitles", json!({"input_url": film, "file": "/etc/passwd"}), "file"),
        ("extract_subtitles", json!({"input_url": film, "format": "text"}), "/format"),
        ("extract_subtitles", json!({"input_url": film, "track": -1}), "/track"),
        ("extract_subtitles", json!({"input_url": "file:///etc/passwd"}), "only http"),
        ("extract_subtitles", json!({"input_url": "http://169.254.169.254/x"}), "--allow"),
        ("extract_subtitles", json!({"input_url": "http://127.0.0.1:1/?sig=topsecret"}), "--allow"),
        ("extract_subtitles", json!({"input_url": videos.url("missing")}), "404"),
        ("extract_subtitles", json!({"input_url": empty}), "empty"),
        ("extract_subtitles", json!({"input_url": large}), "--max-download"),
        ("extract_subtitles", json!({"input_url": damaged}), "damaged"),
        ("generate_transcript", json!({"input_url": film, "format": "ass"}), "/format"),
        ("create_job", json!({"input_url": film, "operation": "delete"}), "/operation"),
        ("create_job", json!({"input_url": film, "operation": "extract_frames"}), "/options/at_ms"),
        (
            "create_job",
            json!({"input_url": film, "operation": "probe", "options": {"track": 1}}),
            "/options/track",
        ),
        (
            "create_job",
            json!({"input_url": film, "operation": "extract_frames", "options": {"at_ms": vec![0; 21]}}),
            "/options/at_ms",
        ),
        ("job_status", json!({"job_id": "x", "wait_ms": 25_001}), "/wait_ms"),
        ("convert_subtitles", json!({"to": "srt"}), "exactly one"),
        (
            "convert_subtitles",
            json!({"content": "x", "source_ref_id": "y", "to": "srt"}),
            "exactly one",
        ),
        ("convert_subtitles", json!({"content": " ", "to": "srt"}), "empty"),
        ("convert_subtitles", json!({"content": "no times", "to": "srt"}), "SRT"),
        ("convert_subtitles", json!({"content": ENGLISH, "to": "srt", "from": "vtt", "x": 1}), "x"),
    ] {
        let result = client.call(tool, input);
        assert_eq!(fault(&result)["code"], json!("INVALID_INPUT"), "{said}: {result}");
        assert!(result["content"][0]["text"].as_str().unwrap().contains(said), "{said}: {result}");
    }
    for (tool, input) in [
        ("job_status", json!({"job_id": "job_0"})),
        ("cancel_job", json!({"job_id": "../../etc/passwd"})),
        ("convert_subtitles", json!({"source_ref_id": "subtitles_0", "to": "srt"})),
    ] {
        let result = client.call(tool, input);
        assert_eq!(fault(&result)["code"], json!("NOT_FOUND"), "{result}");
    }
    client.answer("extract_subtitles", json!({"input_url": film}));
}

#[test]
fn files_that_name_other_files_are_refused() {
    let videos = Videos::new();
    videos.film("film.mkv", "srt");
    let other = videos.path("film.mkv").display().to_string();
    let host = &videos.host;
    let mut client = Client::start(host, &[]);
    for (name, content) in [
        ("list.m3u8", format!("#EXTM3U\n#EXTINF:3,\nfile://{other}\n#EXT-X-ENDLIST\n")),
        ("web.m3u8", format!("#EXTM3U\n#EXTINF:3,\nhttp://{host}/film.mkv\n#EXT-X-ENDLIST\n")),
        ("list.ffconcat", format!("ffconcat version 1.0\nfile '{other}'\n")),
        ("a.svg", "<svg xmlns='http://www.w3.org/2000/svg'><image href='file:///etc/passwd'/></svg>".to_owned()),
        ("a.sdp", "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n".to_owned()),
        ("a.idx", "# VobSub index file, v7\nid: en, index: 0\ntimestamp: 00:00:01:000, filepos: 000000000\n".to_owned()),
        ("a.mpd", format!("<?xml version='1.0'?><MPD xmlns='urn:mpeg:dash:schema:mpd:2011'><BaseURL>file://{other}</BaseURL></MPD>")),
    ] {
        let url = videos.write(name, content);
        for operation in ["extract_subtitles", "probe", "extract_audio"] {
            let job_id = client.create(&url, operation, json!({}));
            let status = client.status(&job_id, 25_000);
            assert_eq!(status["state"], json!("failed"), "{name} {operation}: {status}");
            assert_eq!(status["error"]["code"], json!("INVALID_INPUT"), "{status}");
            let reason = status["error"]["details"]["reason"].as_str();
            assert!(matches!(reason, Some("unsupported" | "damaged")), "{status}");
        }
    }
}

#[test]
fn without_ffmpeg_its_package_is_named() {
    let videos = Videos::new();
    let film = videos.url("never-asked-for.mkv");
    let mut client = Client::start(&videos.host, &["--ffmpeg", "/nonexistent"]);
    let expected = json!({"program": "ffmpeg", "package": "ffmpeg", "fix": "apt install ffmpeg"});
    for tool in ["extract_subtitles", "generate_transcript"] {
        let result = client.call(tool, json!({"input_url": film}));
        assert_eq!(fault(&result)["code"], json!("UNSUPPORTED"), "{result}");
        assert_eq!(fault(&result)["details"], expected, "{result}");
    }
    for (operation, options) in [
        ("probe", json!({})),
        ("extract_audio", json!({})),
        ("extract_frames", json!({"at_ms": [0]})),
    ] {
        let job_id = client.create(&film, operation, options);
        let status = client.status(&job_id, 25_000);
        assert_eq!(status["error"]["details"], expected, "{status}");
    }
}

#[test]
fn tools_say_what_they_do_and_how_they_take_files() {
    let mut client = Client::start("localhost:1", &[]);
    let listed = client.request("tools/list", json!({}));
    let hints = |name: &str| {
        let tools = listed["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == json!(name)).unwrap();
        let annotations = &tool["annotations"];
        let strategy = &tool["_meta"]["powerstrip/file_strategy"];
        json!([annotations["readOnlyHint"], annotations["openWorldHint"], strategy])
    };
    for name in ["create_job", "extract_subtitles", "generate_transcript"] {
        assert_eq!(hints(name), json!([false, true, "video_s3_presigned_url"]), "{name}");
    }
    assert_eq!(hints("convert_subtitles"), json!([true, false, "plain_text_content"]));
    assert_eq!(hints("job_status"), json!([true, false, null]));
    assert_eq!(hints("cancel_job"), json!([false, false, null]));
}
