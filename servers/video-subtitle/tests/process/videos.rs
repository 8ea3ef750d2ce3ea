//! Videos that ffmpeg makes, and a small HTTP server for them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const ENGLISH: &str = "1\n00:00:00,200 --> 00:00:01,200\n<i>Hello</i>, world.\n\n2\n00:00:01,400 --> 00:00:02,800\n\
                                  Two lines\nof text.\n\n";
pub(crate) const GERMAN: &str = "1\n00:00:00,200 --> 00:00:01,200\nHallo, Welt: Größe!\n\n2\n00:00:01,400 --> 00:00:02,800\n\
                                 Zwei Zeilen\nmit Text.\n\n";

/// Files that are served over HTTP.
pub(crate) struct Videos {
    folder: tempfile::TempDir,
    /// `127.0.0.1:PORT`.
    pub(crate) host: String,
}

impl Videos {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let root = folder.path().to_owned();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let root = root.clone();
                std::thread::spawn(move || serve(&root, stream));
            }
        });
        Self { folder, host }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), content).unwrap();
        self.url(name)
    }

    /// A link with a signature that no message may repeat.
    pub(crate) fn url(&self, name: &str) -> String {
        format!("http://{}/{name}?sig=topsecret", self.host)
    }

    /// Runs ffmpeg in the folder.
    pub(crate) fn ffmpeg(&self, arguments: &str) {
        let ran = Command::new("ffmpeg")
            .args(["-nostdin", "-y", "-v", "error"])
            .args(arguments.split_whitespace())
            .current_dir(self.folder.path())
            .status();
        assert!(ran.expect("ffmpeg is installed by scripts/test").success(), "{arguments}");
    }

    /// A film of three seconds with sound and two text tracks.
    pub(crate) fn film(&self, name: &str, codec: &str) -> String {
        self.write("en.srt", ENGLISH);
        self.write("de.srt", GERMAN);
        self.ffmpeg(&format!(
            "-f lavfi -i testsrc=d=3:s=160x120:r=25 -f lavfi -i sine=d=3 -i en.srt -i de.srt -map 0 -map 1 -map 2 -map 3 \
             -c:s {codec} -metadata:s:s:0 language=eng -metadata:s:s:0 title=English -metadata:s:s:1 language=ger {name}"
        ));
        self.url(name)
    }

    /// A film without subtitles.
    pub(crate) fn silent_track(&self) -> String {
        self.ffmpeg("-f lavfi -i testsrc=d=3:s=160x120:r=25 -f lavfi -i sine=d=3 plain.mkv");
        self.url("plain.mkv")
    }
}

fn serve(root: &Path, mut stream: TcpStream) {
    let mut request = BufReader::new(stream.try_clone().unwrap());
    let mut first = String::new();
    request.read_line(&mut first).unwrap();
    let mut line = String::new();
    while request.read_line(&mut line).is_ok_and(|read| read > 2) {
        line.clear();
    }
    let target = first.split(' ').nth(1).unwrap_or("/");
    let name = target.trim_start_matches('/').split('?').next().unwrap_or_default();
    let answer = match std::fs::read(root.join(name)) {
        Ok(bytes) => {
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                bytes.len()
            );
            [head.into_bytes(), bytes].concat()
        }
        Err(_) => {
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec()
        }
    };
    // A server that was killed does not read to the end.
    let _ = stream.write_all(&answer);
}
