//! Reads files of any format, and writes them in another one or with other times.

use crate::track::{Cue, Format, Lost, Track};
use crate::{ass, srt, time, vtt};

/// The text is none of the known formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is neither SRT nor WebVTT nor ASS: no line has the times of a cue")]
pub struct UnknownFormat;

/// A file in its new form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub content: String,
    /// The cues in it, with their new times.
    pub cues: Vec<Cue>,
    pub lost: Vec<Lost>,
    pub warnings: Vec<String>,
}

/// The format of a text, by its first lines.
pub fn sniff(text: &str) -> Option<Format> {
    let text = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if text.starts_with("WEBVTT") {
        return Some(Format::Vtt);
    }
    let is_ass = |line: &str| {
        let line = line.trim_start();
        line.starts_with("[Script Info]") || line.starts_with("[Events]") || ass::is_event(line)
    };
    if text.lines().any(is_ass) {
        return Some(Format::Ass);
    }
    text.lines().any(|line| srt::times(line).is_some()).then_some(Format::Srt)
}

/// Reads a file whose format is known, or found by its text.
pub fn parse(text: &str, format: Option<Format>) -> Result<Track, UnknownFormat> {
    let format = format.or_else(|| sniff(text)).ok_or(UnknownFormat)?;
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    let track = match format {
        Format::Srt => srt::parse(&text),
        Format::Vtt => vtt::parse(&text),
        Format::Ass => ass::parse(&text),
    };
    Ok(track.finish())
}

/// Writes a track in a format, after its times were multiplied by `factor` and moved by `shift_ms`. In its own format
/// nothing but the times changes, and comments between cues are left out.
pub fn write(track: &Track, to: Format, shift_ms: i64, factor: f64) -> Written {
    let mut warnings = Vec::new();
    let same = track.format == to && has_raw_text(track);
    let mut cues = Vec::with_capacity(track.cues.len());
    let mut early = 0;
    for cue in &track.cues {
        let Some(end_ms) = time::shift(cue.end_ms, factor, shift_ms) else {
            early += 1;
            continue;
        };
        // A cue that would begin before the film begins with it.
        let start_ms = time::shift(cue.start_ms, factor, shift_ms).unwrap_or(0);
        if same || !cue.text.runs.is_empty() {
            cues.push(Cue { start_ms, end_ms, ..cue.clone() });
        }
    }
    if early > 0 {
        warnings.push(format!("{early} cues are left out, because they would end before 0"));
    }
    if !same {
        cues.sort_by_key(|cue| cue.start_ms);
    }
    let content = match to {
        Format::Srt => srt::write(&cues, same),
        Format::Vtt => vtt::write(&cues, same.then_some(track.head.as_str())),
        Format::Ass => ass::write(&cues, same.then_some(track)),
    };
    let lost = if same {
        track.leaves_out_comments.then_some(Lost::Comments).into_iter().collect()
    } else {
        track.features.iter().copied().collect()
    };
    Written { content, cues, lost, warnings }
}

/// Whether the cues come from a file, so that it can be written as it was.
fn has_raw_text(track: &Track) -> bool {
    track.cues.iter().any(|cue| !cue.raw.is_empty())
}
