//! Recognized speech, by a program that a test can hold back.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use super::client::Client;
use super::fault;
use super::videos::Videos;

/// A program that prints a transcript when the test lets it go on.
pub(crate) struct Recognizer {
    folder: tempfile::TempDir,
}

impl Recognizer {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let script = format!(
            "#!/bin/sh\nhead -c 4 \"$1\" | grep -q RIFF || exit 3\nwhile [ ! -e {data}/go ]; do sleep 0.05; done\n\
             printf '{{\"language\": \"%s\", \"segments\": [{{\"start_ms\": 0, \"end_ms\": 900, \"text\": \" Good evening.\", \
             \"confidence\": 0.9}}, {{\"start_ms\": 1000, \"end_ms\": 1900, \"text\": \"And good night.\"}}]}}' \"$2\"\n",
            data = data.display()
        );
        let this = Self { folder };
        this.write(&script);
        this
    }

    pub(crate) fn write(&self, script: &str) {
        std::fs::write(self.path(), script).unwrap();
        std::fs::set_permissions(self.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("recognize")
    }

    pub(crate) fn flags(&self) -> [&'static str; 4] {
        let leak = |path: PathBuf| -> &'static str { path.display().to_string().leak() };
        [
            "--speech-command",
            leak(self.path()),
            "--speech-data",
            leak(self.folder.path().join("data")),
        ]
    }

    /// Lets all runs go on.
    pub(crate) fn let_go(&self) {
        std::fs::write(self.folder.path().join("data/go"), "").unwrap();
    }

    /// How many of its processes run.
    pub(crate) fn running(&self) -> usize {
        let listed = Command::new("ps").args(["-eo", "args"]).output().unwrap();
        let path = self.path().display().to_string();
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        listed.lines().filter(|line| line.starts_with("/bin/sh ") && line.contains(&path)).count()
    }

    pub(crate) fn wait_until_gone(&self) {
        while self.running() > 0 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

#[test]
fn speech_is_recognized_where_no_track_is() {
    let videos = Videos::new();
    let plain = videos.silent_track();
    let speech = Recognizer::new();
    speech.let_go();
    let mut client = Client::start(&videos.host, &speech.flags());
    let input = json!({"input_url": plain, "language": "en", "format": "vtt"});
    let recognized = client.answer("generate_transcript", input);
    assert_eq!((&recognized["origin"], &recognized["language"]), (&json!("speech"), &json!("en")));
    assert_eq!(recognized["segments"][0]["confidence"], json!(0.9));
    assert_eq!(recognized["engine"], json!({"name": "recognize", "version": null}));
    assert_eq!(
        recognized["content"],
        json!(
            "WEBVTT\n\n00:00:00.000 --> 00:00:00.900\nGood evening.\n\n00:00:01.000 --> 00:00:01.900\nAnd good night.\n\n"
        )
    );
    // A track of the language comes first.
    let film = videos.film("film.mkv", "srt");
    let read = client.answer("generate_transcript", json!({"input_url": film, "language": "en"}));
    assert_eq!(read["origin"], json!("subtitles"));
    let read = client.answer("generate_transcript", json!({"input_url": film, "language": "fr"}));
    assert_eq!((&read["origin"], &read["language"]), (&json!("speech"), &json!("fr")));
}

#[test]
fn a_language_cannot_be_an_option_of_the_speech_program() {
    let videos = Videos::new();
    let plain = videos.silent_track();
    let speech = Recognizer::new();
    speech.let_go();
    let mut client = Client::start(&videos.host, &speech.flags());
    for language in ["--model=/etc/passwd", "-o", "@/etc/passwd", "en --x", "$(id)", "../.."] {
        let input = json!({"input_url": plain, "language": language});
        let result = client.call("generate_transcript", input);
        assert_eq!(fault(&result)["code"], json!("INVALID_INPUT"), "{result}");
        assert!(result.to_string().contains("/language"), "{result}");
    }
    for language in ["de-AT", "zh_Hans", "auto"] {
        let input = json!({"input_url": plain, "language": language});
        assert_eq!(client.answer("generate_transcript", input)["language"], json!(language));
    }
}

#[test]
fn a_speech_program_that_does_not_work_fails_its_call_only() {
    let videos = Videos::new();
    let plain = videos.silent_track();
    let speech = Recognizer::new();
    let mut client = Client::start(&videos.host, &speech.flags());
    for script in [
        "#!/bin/sh\nexit 1\n",
        "#!/bin/sh\necho hello\n",
        // Many files, each within the limit of one.
        "#!/bin/sh\nfor file in 1 2 3 4 5 6 7 8 9 10 11 12; do truncate -s 60M $file; done\nsleep 1000\n",
        "#!/bin/sh\nwhile :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done\n",
    ] {
        speech.write(script);
        let result = client.call("generate_transcript", json!({"input_url": plain}));
        let code = fault(&result)["code"].as_str().unwrap();
        assert!(matches!(code, "INTERNAL" | "INVALID_INPUT"), "{result}");
    }
    let mut hidden = Client::start(&videos.host, &["--speech-command", "/nonexistent"]);
    let result = hidden.call("generate_transcript", json!({"input_url": plain}));
    assert_eq!(fault(&result)["details"]["program"], json!("speech-command"), "{result}");
    let mut without = Client::start(&videos.host, &[]);
    let result = without.call("generate_transcript", json!({"input_url": plain}));
    assert_eq!(fault(&result)["code"], json!("UNSUPPORTED"), "{result}");
    assert!(result.to_string().contains("--speech-command"), "{result}");
}
