//! Advanced SubStation Alpha.

use crate::text::{Run, StyledText};
use crate::time;
use crate::track::{Cue, Format, Lost, Track, append};

/// The columns of events, unless a file says otherwise. The text is the last one.
const COLUMNS: [&str; 10] =
    ["Layer", "Start", "End", "Style", "Name", "MarginL", "MarginR", "MarginV", "Effect", "Text"];

/// What is before the events of a new file.
const HEAD: &str = "[Script Info]\nScriptType: v4.00+\nPlayResX: 384\nPlayResY: 288\nScaledBorderAndShadow: yes\n\n\
    [V4+ Styles]\nFormat: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, \
    Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, \
    MarginR, MarginV, Encoding\nStyle: Default,Arial,16,&H00FFFFFF,&H00FFFFFF,&H00000000,&H00000000,0,0,0,0,100,100,0,\
    0,1,1,0,2,10,10,10,1\n\n[Events]\n";

/// Separates a backslash from a letter with which it would be a line break. It is invisible.
const JOINER: char = '\u{2060}';

pub(crate) fn is_event(line: &str) -> bool {
    line.starts_with("Dialogue:")
}

pub(crate) fn parse(text: &str) -> Track {
    let mut track = Track::new(Format::Ass);
    let mut columns: Vec<String> = COLUMNS.map(str::to_owned).to_vec();
    let mut in_events = false;
    for (number, line) in text.split('\n').enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with('[') {
            in_events = trimmed.eq_ignore_ascii_case("[Events]");
        }
        if let Some(event) = trimmed.strip_prefix("Dialogue:") {
            match event_cue(event, &columns, &mut track) {
                Some(cue) => {
                    if !track.push(cue, number) {
                        break;
                    }
                }
                None => track.warn(number, "the event cannot be read and is left out"),
            }
            continue;
        }
        if trimmed.starts_with("Comment:") && in_events {
            track.features.insert(Lost::Comments);
            track.leaves_out_comments = true;
            continue;
        }
        if let Some(names) = trimmed.strip_prefix("Format:").filter(|_| in_events) {
            let named: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
            if let Some(times) = time_columns(&named) {
                (columns, track.time_columns) = (named, times);
            } else {
                track.warn(
                    number,
                    "the columns of the events cannot be read; the usual ones are taken",
                );
            }
        }
        append(&mut track.head, format_args!("{line}\n"));
    }
    let end = track.head.trim_end().len();
    track.head.truncate(end);
    track.head.push('\n');
    cut_tail(&mut track);
    track
}

/// Moves the sections after the events, such as fonts, from the head to the tail: events that follow them would be in
/// another section.
fn cut_tail(track: &mut Track) {
    let mut in_events = false;
    let mut at = 0;
    for line in track.head.split_inclusive('\n') {
        let section = line.trim();
        if section.starts_with('[') && in_events {
            let tail = track.head.split_off(at);
            track.head.truncate(track.head.trim_end().len());
            track.head.push('\n');
            track.tail = tail;
            return;
        }
        in_events |= section.eq_ignore_ascii_case("[Events]");
        at += line.len();
    }
}

/// Where the times are, if the text is the last of the columns.
fn time_columns(names: &[String]) -> Option<[usize; 2]> {
    let find = |column: &str| names.iter().position(|name| name.eq_ignore_ascii_case(column));
    let fits = find("Text")? + 1 == names.len() && names.len() <= 32;
    fits.then_some([find("Start")?, find("End")?])
}

fn event_cue(event: &str, names: &[String], track: &mut Track) -> Option<Cue> {
    let mut columns: Vec<&str> = event.splitn(names.len(), ',').collect();
    if columns.len() != names.len() {
        return None;
    }
    let raw = columns.pop()?.to_owned();
    let [start, end] = track.time_columns;
    let (start_ms, end_ms) = (time::parse(columns[start])?, time::parse(columns[end])?);
    note_features(names, &columns, track);
    let text = read_text(&raw, track);
    let columns = columns.into_iter().map(|column| column.trim().to_owned()).collect();
    Some(Cue { start_ms, end_ms, text, raw, columns, ..Cue::default() })
}

/// Notes what the columns say that other formats cannot.
fn note_features(names: &[String], columns: &[&str], track: &mut Track) {
    for (name, value) in names.iter().zip(columns) {
        let value = value.trim();
        let lost = match name.to_ascii_lowercase().as_str() {
            "style" if !value.trim_start_matches('*').eq_ignore_ascii_case("default") => {
                Lost::Styles
            }
            "name" | "actor" if !value.is_empty() => Lost::Speakers,
            "effect" if !value.is_empty() => Lost::Effects,
            "marginl" | "marginr" | "marginv" if !value.trim_matches('0').is_empty() => {
                Lost::Positions
            }
            _ => continue,
        };
        track.features.insert(lost);
    }
}

/// Reads line breaks and overrides in braces.
pub(crate) fn read_text(raw: &str, track: &mut Track) -> StyledText {
    let mut text = StyledText::default();
    let mut style = Run::default();
    let mut is_drawing = false;
    let mut rest = raw;
    while let Some(at) = rest.find(['{', '\\']) {
        if !is_drawing {
            text.push(&rest[..at], &style);
        }
        rest = &rest[at..];
        if rest.starts_with('{') {
            let Some(end) = rest.find('}') else { break };
            for order in rest[1..end].split('\\').skip(1) {
                apply(order.trim(), &mut style, &mut is_drawing, track);
            }
            rest = &rest[end + 1..];
            continue;
        }
        let mut following = rest.chars().skip(1);
        let (replacement, length) = match following.next() {
            Some('N' | 'n') => ("\n", 2),
            Some('h') => ("\u{a0}", 2),
            Some('{') => ("{", 2),
            Some('}') => ("}", 2),
            Some(JOINER) => ("\\", 1 + JOINER.len_utf8()),
            _ => ("\\", 1),
        };
        if !is_drawing {
            text.push(replacement, &style);
        }
        rest = &rest[length..];
    }
    if !is_drawing {
        text.push(rest, &style);
    }
    text.normalize()
}

/// One override, such as `i1`.
fn apply(order: &str, style: &mut Run, is_drawing: &mut bool, track: &mut Track) {
    let end = order.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(order.len());
    let (name, value) = order.split_at(end);
    let lost = match name {
        // `b700` is a weight.
        "i" | "b" | "u" => {
            style.set(name, !value.starts_with('0') && !value.is_empty());
            return;
        }
        "p" => {
            *is_drawing = !value.starts_with('0') && !value.is_empty();
            Lost::Drawings
        }
        "pos" | "an" | "a" | "move" | "org" | "clip" | "iclip" | "q" => Lost::Positions,
        "k" | "K" | "kf" | "ko" | "t" | "fad" | "fade" => Lost::Effects,
        _ => {
            if name.starts_with('r') {
                *style = Run::default();
            }
            Lost::Styles
        }
    };
    track.features.insert(lost);
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\n' => escaped.push_str("\\N"),
            '{' | '}' => escaped.extend(['\\', character]),
            '\\' => {
                escaped.push('\\');
                let next = characters.peek();
                if next
                    .is_none_or(|next| matches!(*next, 'N' | 'n' | 'h' | '{' | '}' | '\n' | JOINER))
                {
                    escaped.push(JOINER);
                }
            }
            other => escaped.push(other),
        }
    }
    escaped
}

fn with_overrides(text: &StyledText) -> String {
    let mut written = String::new();
    for run in &text.runs {
        let tags = [(run.italic, 'i'), (run.bold, 'b'), (run.underline, 'u')];
        let chosen = tags.iter().filter(|(is_on, _)| *is_on);
        let on: String = chosen.clone().map(|(_, tag)| format!("\\{tag}1")).collect();
        let off: String = chosen.map(|(_, tag)| format!("\\{tag}0")).collect();
        let escaped = escape(&run.text);
        if on.is_empty() {
            written.push_str(&escaped);
        } else {
            append(&mut written, format_args!("{{{on}}}{escaped}{{{off}}}"));
        }
    }
    written
}

/// Writes events below the head of `before`, or below one of our own.
pub(crate) fn write(cues: &[Cue], before: Option<&Track>) -> String {
    let mut written = match before {
        Some(track) => track.head.clone(),
        None => format!("{HEAD}Format: {}\n", COLUMNS.join(", ")),
    };
    for cue in cues {
        let times = [cue.start_ms, cue.end_ms].map(time::write_hundredths);
        let Some(track) = before else {
            let text = with_overrides(&cue.text);
            let [start, end] = times;
            append(
                &mut written,
                format_args!("Dialogue: 0,{start},{end},Default,,0,0,0,,{text}\n"),
            );
            continue;
        };
        let mut columns = cue.columns.clone();
        for (column, time) in track.time_columns.iter().zip(times) {
            if let Some(slot) = columns.get_mut(*column) {
                *slot = time;
            }
        }
        append(&mut written, format_args!("Dialogue: {},{}\n", columns.join(","), cue.raw));
    }
    if let Some(tail) = before.map(|track| &track.tail).filter(|tail| !tail.is_empty()) {
        append(&mut written, format_args!("\n{tail}"));
    }
    written
}

/// The head and the cue of packets in containers, which have no times and another order of columns.
pub(crate) fn read_head(head: &str, track: &mut Track) {
    let head = head.trim_end_matches(['\0', '\n', '\r', ' ']).replace("\r\n", "\n");
    track.head = if head.contains("[Script Info]") { head } else { HEAD.trim_end().to_owned() };
    if !track.head.contains("[Events]") {
        track.head.push_str("\n\n[Events]");
    }
    track.head.push('\n');
    cut_tail(track);
    let events = track.head.find("[Events]").map_or("", |at| &track.head[at..]);
    if !events.contains("Format:") {
        append(&mut track.head, format_args!("Format: {}\n", COLUMNS.join(", ")));
    }
}

/// An event of a container: `ReadOrder,Layer,Style,Name,MarginL,MarginR,MarginV,Effect,Text`.
pub(crate) fn packet_cue(start_ms: u64, end_ms: u64, data: &str, track: &mut Track) -> Option<Cue> {
    let parts: Vec<&str> = data.splitn(9, ',').collect();
    let [_, layer, style, name, left, right, vertical, effect, text] = parts[..] else {
        return None;
    };
    let (start, end) = (time::write_hundredths(start_ms), time::write_hundredths(end_ms));
    let names = COLUMNS.map(str::to_owned);
    let event = [layer, &start, &end, style, name, left, right, vertical, effect, text].join(",");
    let event = event.replace(['\n', '\r'], "");
    let cue = event_cue(&event, &names, track)?;
    Some(Cue { start_ms, end_ms, ..cue })
}
