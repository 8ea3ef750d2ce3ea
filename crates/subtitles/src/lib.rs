//! Reads, checks and writes subtitles: SRT, WebVTT and ASS. Pure functions; nothing is opened or started.
//!
//! Readers keep what can be read of a broken file and report the rest as warnings. A cue keeps its text as it was
//! written, so that shifting the times of a file changes nothing else in it.

mod ass;
mod check;
mod convert;
mod decode;
mod language;
mod packets;
mod srt;
mod text;
mod time;
mod track;
mod vtt;

pub use check::{Finding, FindingKind, MAX_LINE, MAX_SHOWN_MS, MAX_SPEED, check};
pub use convert::{UnknownFormat, Written, parse, sniff, write};
pub use decode::{Decoded, decode};
pub use language::is_same_language;
pub use packets::{Packet, UnreadablePackets, track_of_packets};
pub use text::{Run, StyledText};
pub use track::{Cue, Format, Lost, MAX_CUES, Track};
