//! What this machine offers: optional programs and the sandbox tier.

use std::path::PathBuf;
use std::time::Duration;

use egress::browser;
use egress::process::{Runner, Spec};
use egress::sandbox::{Mode, Policy, Tier};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

/// A program that some tools use, and how to ask for its version.
struct OptionalProgram {
    name: &'static str,
    version_flag: &'static str,
    unlocks: &'static str,
}

const CHROMIUM: &str = "chromium";

const PROGRAMS: [OptionalProgram; 10] = [
    optional("python3", "--version", "tools of kind `python`"),
    optional("node", "--version", "tools of kind `node`"),
    optional("php", "--version", "tools of kind `php`"),
    optional("npx", "--version", "servers from npm packages (`apt install nodejs npm`)"),
    optional("uvx", "--version", "servers from Python packages (`pip install uv`)"),
    optional("docker", "--version", "servers from container images (`apt install docker.io`)"),
    optional(
        CHROMIUM,
        "--version",
        "pages whose text is made by scripts: install Chromium or Google Chrome (`apt install chromium`)",
    ),
    optional(
        "ffmpeg",
        "-version",
        "audio and video of `video-subtitle-mcp` (`apt install ffmpeg`)",
    ),
    optional(
        "tesseract",
        "--version",
        "text in pictures for `image-ocr-mcp` (`apt install tesseract-ocr`)",
    ),
    optional(
        "libreoffice",
        "--version",
        "office files of old kinds for `doc-parser-mcp` (`apt install libreoffice`)",
    ),
];

const fn optional(
    name: &'static str,
    version_flag: &'static str,
    unlocks: &'static str,
) -> OptionalProgram {
    OptionalProgram { name, version_flag, unlocks }
}

/// The most characters of a version that are shown.
const MAX_VERSION: usize = 60;

/// How long a program may take to print its version.
const TIMEOUT: Duration = Duration::from_secs(10);

/// An optional program; `version` is set if it is installed.
#[derive(Clone, Serialize)]
pub struct Program {
    pub name: &'static str,
    pub version: Option<String>,
    /// A note on how it runs on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub unlocks: &'static str,
}

/// Looks for the optional programs and asks each for its version. Chromium is the one that the config names, if it does.
pub async fn find_programs(runner: &Runner, chromium: &config::Browser) -> Vec<Program> {
    futures_util::future::join_all(PROGRAMS.map(|program| probe(runner, program, chromium))).await
}

async fn probe(runner: &Runner, program: OptionalProgram, chromium: &config::Browser) -> Program {
    let OptionalProgram { name, version_flag, unlocks } = program;
    // Chromium has many names and places.
    let configured = match chromium {
        config::Browser::Program(path) => Some(path.as_path()),
        config::Browser::Auto | config::Browser::Off => None,
    };
    let found = if name == CHROMIUM { browser::find(runner, configured).await } else { None };
    let note = found.as_ref().map(|path| {
        let confined = match runner.host().tier() {
            _ if !browser::runs_without_own_sandbox() => "",
            Tier::T0 => "; as root it runs without a sandbox: run the gateway as another user",
            _ => "; as root it runs without its own sandbox, confined by the gateway's",
        };
        format!("at {}{confined}", path.display())
    });
    let named = configured.filter(|_| name == CHROMIUM);
    let named = named.map_or(name.into(), |path| path.as_os_str().to_owned());
    let program = found.map_or(named, PathBuf::into_os_string);
    let spec = Spec::new(&program)
        .arg(version_flag)
        .deadline(TIMEOUT)
        .policy(Policy::new().mode(Mode::Off));
    let version = match runner.run(spec, &CancellationToken::new()).await {
        Ok(finished) => {
            let text = String::from_utf8_lossy(&finished.stdout).into_owned();
            let text = if text.trim().is_empty() {
                String::from_utf8_lossy(&finished.stderr).into_owned()
            } else {
                text
            };
            Some(shorten(text.lines().next().unwrap_or("present").trim()))
        }
        Err(_) => runner.locate(program).await.ok().map(|_| "present, version unknown".to_owned()),
    };
    Program { name, version, note, unlocks }
}

/// The whole words at the start of a line that fit into [`MAX_VERSION`] characters.
fn shorten(line: &str) -> String {
    let Some((end, _)) = line.char_indices().nth(MAX_VERSION) else { return line.to_owned() };
    let start = &line[..end];
    let words = start.rfind(' ').map_or(start, |at| &start[..at]);
    format!("{} …", words.trim_end())
}

/// What a sandbox tier means for tools.
pub fn describe_tier(tier: Tier) -> &'static str {
    match tier {
        Tier::T0 => "tools run with limits on time, memory and output, but see this user's files",
        Tier::T1 => "tools see only their own files, and no network unless they declare it",
        Tier::T2 => "tools run in namespaces of their own: own files, processes and network",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_version_ends_with_a_whole_word() {
        let line = "ffmpeg version 5.1.9-0+deb12u1 Copyright (c) 2000-2026 the FFmpeg developers";
        let short = "ffmpeg version 5.1.9-0+deb12u1 Copyright (c) 2000-2026 the …";
        assert_eq!(shorten(line), short);
        assert_eq!(shorten("Python 3.11.2"), "Python 3.11.2");
        assert_eq!(shorten(&"x".repeat(70)), format!("{} …", "x".repeat(MAX_VERSION)));
    }
}
