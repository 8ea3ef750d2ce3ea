//! WebVTT.

use crate::srt::{end_of_tag, times};
use crate::text::{Run, StyledText};
use crate::time;
use crate::track::{Cue, Format, Lost, Track, append};

pub(crate) fn parse(text: &str) -> Track {
    let mut track = Track::new(Format::Vtt);
    let lines: Vec<&str> = text.split('\n').collect();
    let mut at = 0;
    let mut head = String::new();
    let has_mark = lines[0].starts_with("WEBVTT");
    if !has_mark {
        track.warn(0, "the first line is not WEBVTT");
    }
    while at < lines.len() {
        let first = at;
        while at < lines.len() && !lines[at].trim().is_empty() {
            at += 1;
        }
        let block = &lines[first..at];
        at += 1;
        if block.is_empty() {
            continue;
        }
        let timed = block.iter().take(2).position(|line| line.contains("-->"));
        let is_first = first == 0 && has_mark;
        let Some(timed) = timed.filter(|_| !is_first) else {
            read_other_block(&mut track, block, first);
            if is_first || track.cues.is_empty() {
                append(&mut head, format_args!("{}\n\n", block.join("\n")));
            } else if block[0].starts_with("NOTE") {
                track.leaves_out_comments = true;
            }
            continue;
        };
        let Some((start_ms, end_ms, settings)) = times(block[timed]) else {
            track.warn(first + timed, "the times cannot be read, so the cue is left out");
            continue;
        };
        let name = if timed == 1 { block[0].trim().to_owned() } else { String::new() };
        // Names that are numbers are not kept.
        if name.parse::<u64>().is_err() && !name.is_empty() {
            track.features.insert(Lost::Names);
        }
        if !settings.is_empty() {
            track.features.insert(Lost::Positions);
        }
        let raw = block[timed + 1..].join("\n");
        let text = read_text(&raw, &mut track);
        let settings = settings.to_owned();
        let cue = Cue { start_ms, end_ms, text, raw, name, settings, ..Cue::default() };
        if !track.push(cue, first) {
            break;
        }
    }
    track.head = head;
    track
}

/// The header, styles, regions and comments.
fn read_other_block(track: &mut Track, block: &[&str], first: usize) {
    let line = block[0];
    if line.starts_with("STYLE") || line.starts_with("REGION") {
        track.features.insert(Lost::Styles);
    } else if line.starts_with("NOTE") {
        track.features.insert(Lost::Comments);
    } else if !line.starts_with("WEBVTT") {
        track.warn(first, "text without times is left out");
    }
}

/// Reads tags and named characters. Tags without an end are text.
pub(crate) fn read_text(raw: &str, track: &mut Track) -> StyledText {
    let mut text = StyledText::default();
    let mut style = Run::default();
    let mut rest = raw;
    while let Some(at) = rest.find(['<', '&']) {
        text.push(&rest[..at], &style);
        rest = &rest[at..];
        let taken = if rest.starts_with('<') {
            tag(rest, &mut style, track)
        } else {
            named_character(rest).map_or(0, |(name, character)| {
                text.push(character, &style);
                name.len()
            })
        };
        if taken == 0 {
            text.push(&rest[..1], &style);
        }
        rest = &rest[taken.max(1)..];
    }
    text.push(rest, &style);
    text.normalize()
}

fn named_character(text: &str) -> Option<(&'static str, &'static str)> {
    const NAMES: [(&str, &str); 8] = [
        ("&amp;", "&"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&nbsp;", "\u{a0}"),
        ("&lrm;", "\u{200e}"),
        ("&rlm;", "\u{200f}"),
        ("&quot;", "\""),
        ("&#39;", "'"),
    ];
    NAMES.into_iter().find(|(name, _)| text.starts_with(name))
}

fn tag(text: &str, style: &mut Run, track: &mut Track) -> usize {
    let Some(end) = end_of_tag(text, '>') else { return 0 };
    let inner = &text[1..end];
    let (is_on, name) = match inner.strip_prefix('/') {
        Some(name) => (false, name),
        None => (true, inner),
    };
    let base = name.split(['.', ' ', '\t', '\n']).next().unwrap_or_default();
    if style.set(base, is_on) {
        if base != name {
            track.features.insert(Lost::Styles);
        }
        return end + 1;
    }
    let lost = match base {
        "v" => Lost::Speakers,
        _ if base.starts_with(|c: char| c.is_ascii_digit()) => Lost::Effects,
        _ => Lost::Styles,
    };
    track.features.insert(lost);
    end + 1
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

pub(crate) fn write(cues: &[Cue], head: Option<&str>) -> String {
    let mut written =
        head.filter(|head| head.starts_with("WEBVTT")).unwrap_or("WEBVTT\n\n").to_owned();
    for cue in cues {
        let (start, end) = (time::write(cue.start_ms, '.'), time::write(cue.end_ms, '.'));
        if head.is_some() && !cue.name.is_empty() {
            append(&mut written, format_args!("{}\n", cue.name));
        }
        append(&mut written, format_args!("{start} --> {end}"));
        if head.is_some() && !cue.settings.is_empty() {
            append(&mut written, format_args!(" {}", cue.settings));
        }
        let text = if head.is_some() { cue.raw.clone() } else { cue.text.with_tags(escape) };
        append(&mut written, format_args!("\n{text}\n\n"));
    }
    written
}
