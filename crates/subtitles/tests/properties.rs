//! Any bytes can be read, and what is written is read back the same.
#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use subtitles::{Cue, Format, Packet, Track, check, decode, parse, track_of_packets, write};

const FORMATS: [Format; 3] = [Format::Srt, Format::Vtt, Format::Ass];

/// Pieces with which readers are most likely to go wrong.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("00:00:01,000 --> 00:00:02,000".to_owned()),
        Just("WEBVTT\n\n".to_owned()),
        Just("Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,".to_owned()),
        Just("Format: Start, End, Text\n[Events]\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("<i>{\\i1}\\".to_owned()),
        Just("&lt;<v é>{\\p1}".to_owned()),
        ".{0,6}",
        "[-0-9:,. >]{0,20}",
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

/// Lines that no format treats as markup.
fn line() -> impl Strategy<Value = String> {
    "[a-zA-Zäöüß€中!?'\"-][a-zA-Zäöüß€中 !?'\",.:;()-]{0,30}[a-zA-Z.!]"
}

fn cues() -> impl Strategy<Value = Vec<Cue>> {
    let cue = (0..3_000_000_u64, 1..1000_u64, prop::collection::vec(line(), 1..4));
    prop::collection::vec(cue, 0..20).prop_map(|rows| {
        let mut cues: Vec<Cue> = rows
            .into_iter()
            // ASS has hundredths.
            .map(|(start, length, lines)| {
                Cue::of_text(start * 10, (start + length) * 10, &lines.join("\n"))
            })
            .collect();
        cues.sort_by_key(|cue| cue.start_ms);
        cues
    })
}

proptest! {
    #[test]
    fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = decode(&bytes).text;
        for format in FORMATS {
            let track = parse(&text, Some(format)).unwrap();
            write(&track, format, -5, 1.1);
        }
        for codec in ["subrip", "ass", "webvtt", "mov_text"] {
            let packet = Packet { start_ms: 1, duration_ms: None, data: bytes.clone() };
            track_of_packets(codec, &bytes, &[packet]).unwrap();
        }
    }

    #[test]
    fn hostile_files_are_read_and_what_is_written_is_stable(text in hostile()) {
        for format in FORMATS {
            let track = parse(&text, Some(format)).unwrap();
            check(&track.cues);
            for to in FORMATS {
                let written = write(&track, to, 0, 1.0);
                let again = parse(&written.content, Some(to)).unwrap();
                if to != format {
                    prop_assert!(again.cues.len() >= written.cues.len(), "{:?}", written.content);
                }
            }
        }
    }

    #[test]
    fn written_subtitles_are_read_back(cues in cues()) {
        let track = Track::of_cues(cues.clone());
        for to in FORMATS {
            let written = write(&track, to, 0, 1.0);
            let again = parse(&written.content, Some(to)).unwrap();
            prop_assert_eq!(&again.warnings, &Vec::<String>::new());
            let plain = |cues: &[Cue]| -> Vec<(u64, u64, String)> {
                cues.iter().map(|cue| (cue.start_ms, cue.end_ms, cue.text.plain())).collect()
            };
            prop_assert_eq!(plain(&again.cues), plain(&cues));
        }
    }

    #[test]
    fn a_shift_and_back_is_no_change(cues in cues(), shift in 0..100_000_i64) {
        let there = write(&Track::of_cues(cues.clone()), Format::Vtt, shift, 1.0);
        let back = write(&parse(&there.content, None).unwrap(), Format::Vtt, -shift, 1.0);
        let times = |cues: &[Cue]| -> Vec<(u64, u64)> {
            cues.iter().map(|cue| (cue.start_ms, cue.end_ms)).collect()
        };
        prop_assert_eq!(times(&back.cues), times(&cues));
    }
}
