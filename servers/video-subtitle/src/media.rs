//! ffmpeg and ffprobe, with arguments under which they open one file and nothing else.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kit::jobs::JobCtx;
use kit::{Fault, Fetched, Program, Ran, Task};
use serde_json::json;

use crate::input::JobInput;

/// Containers that hold their data themselves. Playlists and scripts, which name other files and URLs, are not among
/// them: hls, dash, concat, sdp, image sequences, subtitles that name a second file.
const CONTAINERS: &str = "matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,avi,flv,live_flv,mpegts,mpeg,ogg,asf,wav,mp3,aac,flac,\
                          mxf,nut";

/// Reading the headers, or all packets of a track.
const PROBE_DEADLINE: Duration = Duration::from_secs(10 * 60);

/// Decoding sound or pictures.
const DECODE_DEADLINE: Duration = Duration::from_secs(30 * 60);

/// What ffmpeg may use; 4K video needs about 1 GB.
const MAX_MEMORY: u64 = 2 << 30;

/// The programs of this server.
#[derive(Debug)]
pub(crate) struct Media {
    ffmpeg: Program,
    ffprobe: Program,
    tesseract: Program,
}

impl Media {
    pub(crate) fn new(
        ffmpeg: Option<PathBuf>,
        ffprobe: Option<PathBuf>,
        tesseract: Option<PathBuf>,
    ) -> Self {
        let next_to_it = ffmpeg.as_ref().map(|path| path.with_file_name("ffprobe"));
        Self {
            ffmpeg: Program::new("ffmpeg", "ffmpeg").at(ffmpeg).version_argument("-version"),
            ffprobe: Program::new("ffprobe", "ffmpeg")
                .at(ffprobe.or(next_to_it))
                .version_argument("-version"),
            tesseract: Program::new("tesseract", "tesseract-ocr").at(tesseract),
        }
    }

    pub(crate) fn programs(&self) -> [&Program; 3] {
        [&self.ffmpeg, &self.ffprobe, &self.tesseract]
    }

    pub(crate) fn tesseract(&self) -> &Program {
        &self.tesseract
    }

    /// Downloads the video of a job, unless the programs for it are missing.
    pub(crate) async fn fetch(&self, input: &JobInput, ctx: &JobCtx) -> Result<Fetched, Fault> {
        ctx.require(&self.ffmpeg).await?;
        ctx.require(&self.ffprobe).await?;
        ctx.fetch(&input.input_url, 0.5).await
    }

    /// Runs ffprobe on a file; the output is JSON.
    pub(crate) async fn probe(
        &self,
        ctx: &JobCtx,
        file: &Path,
        arguments: &[&str],
        max_stdout: u64,
    ) -> Result<Vec<u8>, Fault> {
        let mut all = guarded_input();
        all.extend(["-of", "json=c=1", "-show_program_version"].map(OsString::from));
        all.extend(arguments.iter().map(OsString::from));
        all.push(file_url(file));
        let task = Task::new(all)
            .reads(file)
            .deadline(PROBE_DEADLINE)
            .max_memory(MAX_MEMORY)
            .max_stdout(max_stdout);
        let ran = ctx.run(&self.ffprobe, task).await?;
        if ran.success { Ok(ran.stdout) } else { Err(unreadable(&ran.stderr)) }
    }

    /// Runs ffmpeg on a file. What it writes is in its own folder.
    pub(crate) async fn convert(
        &self,
        ctx: &JobCtx,
        file: &Path,
        job: Conversion<'_>,
    ) -> Result<Ran, Fault> {
        let mut all = vec![OsString::from("-nostdin"), "-y".into()];
        all.extend(guarded_input());
        all.extend(job.before_input.iter().map(OsString::from));
        all.extend(["-i".into(), file_url(file)]);
        all.extend(job.after_input.iter().map(OsString::from));
        let task = Task::new(all)
            .reads(file)
            .writes()
            .deadline(DECODE_DEADLINE)
            .max_memory(MAX_MEMORY)
            .max_file(job.max_file)
            .max_stdout(job.max_stdout);
        let ran = ctx.run(&self.ffmpeg, task).await?;
        if ran.success { Ok(ran) } else { Err(unreadable(&ran.stderr)) }
    }
}

/// One run of ffmpeg.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conversion<'a> {
    pub(crate) before_input: &'a [&'a str],
    pub(crate) after_input: &'a [&'a str],
    pub(crate) max_file: u64,
    pub(crate) max_stdout: u64,
}

/// Options under which an input cannot name other files or hosts.
fn guarded_input() -> Vec<OsString> {
    let options = [
        "-hide_banner",
        "-v",
        "error",
        "-protocol_whitelist",
        "file,pipe",
        "-format_whitelist",
        CONTAINERS,
    ];
    options.map(OsString::from).to_vec()
}

/// The path with its protocol, so that no part of it is read as another one.
fn file_url(path: &Path) -> OsString {
    let mut url = OsString::from("file:");
    url.push(path);
    url
}

fn unreadable(stderr: &[u8]) -> Fault {
    let is_other_kind = String::from_utf8_lossy(stderr).contains("whitelist");
    let (reason, why) = if is_other_kind {
        (
            "unsupported",
            "the file is no video or sound file of a kind that is read (MP4, MKV, WebM, AVI, MPEG, …); for files of \
             subtitles there is the operation convert_subtitles",
        )
    } else {
        ("damaged", "the file is damaged or no video; download it again, or convert it to MP4")
    };
    Fault::invalid_input(format!("/input_url: {why}")).details(json!({"reason": reason}))
}
