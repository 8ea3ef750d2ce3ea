//! SubRip.

use crate::text::{Run, StyledText};
use crate::time;
use crate::track::{Cue, Format, Lost, Track, append};

/// The times of a line, and what follows them.
pub(crate) fn times(line: &str) -> Option<(u64, u64, &str)> {
    let (start, rest) = line.split_once("-->")?;
    let rest = rest.trim();
    let end = rest.split([' ', '\t']).next().unwrap_or_default();
    // A space before the fraction is a common mistake: `00:00:01 ,500`.
    match time::parse(end) {
        Some(end_ms) if !rest[end.len()..].trim_start().starts_with([',', '.']) => {
            Some((time::parse(start)?, end_ms, rest[end.len()..].trim()))
        }
        _ => Some((time::parse(start)?, time::parse(rest)?, "")),
    }
}

pub(crate) fn parse(text: &str) -> Track {
    let mut track = Track::new(Format::Srt);
    let lines: Vec<&str> = text.split('\n').collect();
    let mut open: Option<(Cue, usize, Vec<&str>)> = None;
    let mut readable = true;
    for (number, line) in lines.iter().enumerate() {
        let found = times(line);
        let looks_like_times =
            line.contains("-->") && line.trim_start().starts_with(|c: char| c.is_ascii_digit());
        if found.is_none() && !looks_like_times {
            if let Some((_, _, text)) = &mut open {
                text.push(line);
            } else if readable && !line.trim().is_empty() && !is_number(line) {
                track.warn(number, "text without times is left out");
            }
            continue;
        }
        if let Some(cue) = open.take()
            && !end_cue(&mut track, cue, true)
        {
            return track;
        }
        readable = found.is_some();
        match found {
            Some((start_ms, end_ms, settings)) => {
                // The number above the times, with which the next number is distinguished from text.
                let above = number.checked_sub(1).map_or("", |above| lines[above]);
                let name = if is_number(above) { above.trim().to_owned() } else { String::new() };
                let settings = settings.to_owned();
                let cue = Cue { start_ms, end_ms, name, settings, ..Cue::default() };
                open = Some((cue, number, Vec::new()));
            }
            None => track.warn(number, "the times cannot be read, so the cue is left out"),
        }
    }
    if let Some(cue) = open {
        end_cue(&mut track, cue, false);
    }
    track
}

fn is_number(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit())
}

/// Adds a cue with its lines of text. The last line is the number of the next cue, if one follows.
fn end_cue(track: &mut Track, cue: (Cue, usize, Vec<&str>), followed: bool) -> bool {
    let (mut cue, number, mut lines) = cue;
    if followed && lines.last().is_some_and(|line| is_number(line)) {
        let alone = lines.len() < 2 || lines[lines.len() - 2].trim().is_empty();
        let number = |text: &str| text.trim().parse::<usize>().ok();
        let next = lines.last().and_then(|line| number(line));
        let follows = |own: usize| own.checked_add(1) == next;
        if alone || number(&cue.name).is_some_and(follows) {
            lines.pop();
        }
    }
    let kept: Vec<&str> = lines.into_iter().filter(|line| !line.trim().is_empty()).collect();
    cue.raw = kept.join("\n");
    if !cue.settings.is_empty() {
        track.features.insert(Lost::Positions);
    }
    cue.text = read_text(&cue.raw, track);
    track.push(cue, number)
}

/// Reads tags; what is no known tag is text.
pub(crate) fn read_text(raw: &str, track: &mut Track) -> StyledText {
    let mut text = StyledText::default();
    let mut style = Run::default();
    let mut rest = raw;
    while let Some(at) = rest.find(['<', '{']) {
        text.push(&rest[..at], &style);
        rest = &rest[at..];
        let taken = tag(rest, &mut style, track);
        if taken == 0 {
            text.push(&rest[..1], &style);
        }
        rest = &rest[taken.max(1)..];
    }
    text.push(rest, &style);
    text.normalize()
}

/// Where the tag at the start of a text ends. The next opening ends the search, so that a text full of openings takes no
/// longer than others.
pub(crate) fn end_of_tag(text: &str, close: char) -> Option<usize> {
    const MAX_TAG: usize = 300;
    let open = text.as_bytes().first()?;
    let inner = text.bytes().take(MAX_TAG).enumerate().skip(1);
    let mut stops = inner.filter(|(_, byte)| byte == open || char::from(*byte) == close);
    stops.next().filter(|(_, byte)| byte != open).map(|(at, _)| at)
}

/// The bytes of the tag at the start of a text; 0 if there is none.
fn tag(text: &str, style: &mut Run, track: &mut Track) -> usize {
    let close = if text.starts_with('<') { '>' } else { '}' };
    let Some(end) = end_of_tag(text, close) else { return 0 };
    let inner = text[1..end].trim();
    if inner.contains('\n') {
        return 0;
    }
    if close == '}' {
        // Overrides of ASS, of which players know the position.
        if !inner.starts_with('\\') {
            return 0;
        }
        let lost = if inner.starts_with("\\a") { Lost::Positions } else { Lost::Styles };
        track.features.insert(lost);
        return end + 1;
    }
    let (is_on, name) = match inner.strip_prefix('/') {
        Some(name) => (false, name),
        None => (true, inner),
    };
    let name = name.split_ascii_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    if style.set(&name, is_on) {
        return end + 1;
    }
    if matches!(name.as_str(), "font" | "s" | "c") {
        track.features.insert(Lost::Styles);
        return end + 1;
    }
    0
}

pub(crate) fn write(cues: &[Cue], as_before: bool) -> String {
    let mut written = String::new();
    for (at, cue) in cues.iter().enumerate() {
        let (start, end) = (time::write(cue.start_ms, ','), time::write(cue.end_ms, ','));
        append(&mut written, format_args!("{}\n{start} --> {end}", at + 1));
        if as_before && !cue.settings.is_empty() {
            append(&mut written, format_args!(" {}", cue.settings));
        }
        let text = if as_before { cue.raw.clone() } else { cue.text.with_tags(str::to_owned) };
        append(&mut written, format_args!("\n{text}\n\n"));
    }
    written
}
