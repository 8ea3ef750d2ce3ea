//! Subtitles as video files hold them: one packet for each cue.

use crate::track::{Cue, Format, Lost, Track};
use crate::{ass, decode, srt, vtt};

/// How long a cue without a duration is shown, unless another one follows.
const USUAL_MS: u64 = 3000;

/// One packet of a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    pub start_ms: u64,
    pub duration_ms: Option<u64>,
    pub data: Vec<u8>,
}

/// The packets are of another codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("packets of this codec are not read here")]
pub struct UnreadablePackets;

/// Reads the packets of a text track. `codec` is ffmpeg's name, `head` what the container stores once for the track.
pub fn track_of_packets(
    codec: &str,
    head: &[u8],
    packets: &[Packet],
) -> Result<Track, UnreadablePackets> {
    let mut track = match codec {
        "subrip" | "srt" | "text" | "mov_text" => Track::new(Format::Srt),
        "webvtt" => Track::new(Format::Vtt),
        "ass" | "ssa" => {
            let mut track = Track::new(Format::Ass);
            ass::read_head(&decode(head).text, &mut track);
            track
        }
        _ => return Err(UnreadablePackets),
    };
    if codec == "webvtt" {
        track.head = "WEBVTT\n\n".to_owned();
    }
    for (at, packet) in packets.iter().enumerate() {
        let (start_ms, end_ms) = (packet.start_ms, end_of(packets, at));
        let cue = match codec {
            "ass" | "ssa" => {
                let Some(cue) =
                    ass::packet_cue(start_ms, end_ms, &text_of(&packet.data), &mut track)
                else {
                    track.warn(at, "the event cannot be read and is left out");
                    continue;
                };
                cue
            }
            "webvtt" => {
                let raw = text_of(&packet.data);
                let text = vtt::read_text(&raw, &mut track);
                Cue { start_ms, end_ms, text, raw, ..Cue::default() }
            }
            _ => {
                let raw = if codec == "mov_text" {
                    mov_text(&packet.data, &mut track)
                } else {
                    text_of(&packet.data)
                };
                let text = srt::read_text(&raw, &mut track);
                let raw = raw.lines().filter(|line| !line.trim().is_empty());
                let raw = raw.collect::<Vec<_>>().join("\n");
                Cue { start_ms, end_ms, text, raw, ..Cue::default() }
            }
        };
        // MP4 fills the time between cues with empty ones.
        let is_empty = cue.raw.trim().is_empty();
        if !is_empty && !track.push(cue, at) {
            break;
        }
    }
    if codec == "mov_text" && track.features.contains(&Lost::Styles) {
        track.warnings.push("the styles of the MP4 track are not kept".to_owned());
    }
    Ok(track)
}

fn end_of(packets: &[Packet], at: usize) -> u64 {
    let packet = &packets[at];
    let next = packets.get(at + 1).map(|next| next.start_ms);
    match packet.duration_ms {
        Some(duration) => packet.start_ms.saturating_add(duration),
        None => {
            let usual = packet.start_ms.saturating_add(USUAL_MS);
            next.map_or(usual, |next| usual.min(next.max(packet.start_ms)))
        }
    }
}

fn text_of(data: &[u8]) -> String {
    let text = decode(data).text.replace("\r\n", "\n").replace('\r', "\n");
    text.trim_matches('\n').to_owned()
}

/// Two bytes of length, the text, and boxes with its styles.
fn mov_text(data: &[u8], track: &mut Track) -> String {
    let Some((length, rest)) = data.split_first_chunk::<2>() else { return String::new() };
    let length = usize::from(u16::from_be_bytes(*length)).min(rest.len());
    let (text, boxes) = rest.split_at(length);
    if boxes.windows(4).any(|kind| matches!(kind, b"styl" | b"hlit" | b"krok" | b"tbox")) {
        track.features.insert(Lost::Styles);
    }
    text_of(text)
}
