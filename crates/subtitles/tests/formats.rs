//! Files as people have them: conversions, broken files and checks.
#![allow(clippy::unwrap_used, reason = "tests")]

use subtitles::{
    FindingKind, Format, Lost, Packet, check, decode, parse, sniff, track_of_packets, write,
};

const SRT: &str = "1\n00:00:01,000 --> 00:00:02,500\n<i>Hello</i>, <b>world</b>\n\n2\n00:00:03,000 --> 00:00:04,000\n\
                   Two lines\nof text\n\n";

fn convert(text: &str, to: Format) -> subtitles::Written {
    write(&parse(text, None).unwrap(), to, 0, 1.0)
}

#[test]
fn srt_becomes_vtt_and_ass_and_back() {
    let vtt = convert(SRT, Format::Vtt);
    assert_eq!(
        vtt.content,
        "WEBVTT\n\n00:00:01.000 --> 00:00:02.500\n<i>Hello</i>, <b>world</b>\n\n00:00:03.000 --> 00:00:04.000\n\
         Two lines\nof text\n\n"
    );
    assert_eq!((vtt.cues.len(), vtt.lost.len()), (2, 0));
    let ass = convert(SRT, Format::Ass);
    let event =
        "Dialogue: 0,0:00:01.00,0:00:02.50,Default,,0,0,0,,{\\i1}Hello{\\i0}, {\\b1}world{\\b0}\n";
    assert!(
        ass.content.contains(event) && ass.content.contains("Two lines\\Nof text\n"),
        "{ass:?}"
    );
    for written in [vtt.content, ass.content] {
        assert_eq!(convert(&written, Format::Srt).content, SRT);
    }
}

#[test]
fn a_shift_changes_nothing_but_the_times() {
    let vtt = "WEBVTT - a title\n\nSTYLE\n::cue { color: red }\n\nname one\n00:01.000 --> 00:02.000 line:0 align:start\n\
               <v Ann>Hi</v> <c.loud>there</c>\n\n";
    let track = parse(vtt, None).unwrap();
    let moved = write(&track, Format::Vtt, 500, 1.0);
    let expected = vtt.replace("00:01.000 --> 00:02.000", "00:00:01.500 --> 00:00:02.500");
    assert_eq!((moved.content, moved.lost), (expected, vec![]));
    let lost = write(&track, Format::Srt, 0, 1.0).lost;
    assert_eq!(lost, [Lost::Styles, Lost::Positions, Lost::Speakers, Lost::Names]);

    let ass = "[Script Info]\nTitle: x\n\n[V4+ Styles]\nFormat: Name, Fontname\nStyle: Sign,Arial\n\n[Events]\n\
               Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n\
               Dialogue: 0,0:00:01.00,0:00:02.00,Sign,Ann,0,0,5,,{\\pos(1,2)\\k20}Hi\\N{\\p1}m 0 0{\\p0}you, too\n";
    let track = parse(ass, None).unwrap();
    let moved = write(&track, Format::Ass, 1000, 1.0).content;
    assert_eq!(moved, ass.replace("0:00:01.00,0:00:02.00", "0:00:02.00,0:00:03.00"));
    let srt = write(&track, Format::Srt, 0, 1.0);
    assert!(srt.content.ends_with("Hi\nyou, too\n\n"), "{srt:?}");
    let names: Vec<&str> = srt.lost.iter().map(|lost| lost.name()).collect();
    assert_eq!(names, ["styles", "positions", "effects", "drawings", "speakers"]);
}

#[test]
fn sections_after_the_events_stay_after_them() {
    let head = "[Script Info]\nTitle: x\n\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n";
    let event = "Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,Hello\n";
    let tail = "\n[Fonts]\nfontname: a_0.ttf\n!!!!\n\n[Aegisub Extradata]\nData: 1,x\n";
    let text = format!("{head}{event}{tail}");
    let moved = write(&parse(&text, None).unwrap(), Format::Ass, 1000, 1.0).content;
    assert_eq!(moved, text.replace("0:00:01.00,0:00:02.00", "0:00:02.00,0:00:03.00"));
    // A container stores the events as packets.
    let stored = format!("{head}{tail}");
    let packet =
        Packet { start_ms: 0, duration_ms: Some(10), data: b"0,0,Default,,0,0,0,,Hi".to_vec() };
    let track = track_of_packets("ass", stored.as_bytes(), &[packet]).unwrap();
    let written = write(&track, Format::Ass, 0, 1.0).content;
    assert!(written.find("Dialogue:").unwrap() < written.find("[Fonts]").unwrap(), "{written}");
}

#[test]
fn comments_that_are_left_out_are_named() {
    let event = "Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,Hello\n";
    let ass = format!("[Events]\nComment: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,for us\n{event}");
    let vtt = "WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n\nNOTE for us\n";
    for (text, format) in [(ass.as_str(), Format::Ass), (vtt, Format::Vtt)] {
        assert_eq!(write(&parse(text, None).unwrap(), format, 0, 1.0).lost, [Lost::Comments]);
    }
    // Those before the first cue are kept.
    let vtt = "WEBVTT\n\nNOTE for us\n\n00:00:01.000 --> 00:00:02.000\nHello\n\n";
    let written = write(&parse(vtt, None).unwrap(), Format::Vtt, 0, 1.0);
    assert_eq!((written.content.as_str(), written.lost), (vtt, vec![]));
}

#[test]
fn frame_rates_stretch_and_shifts_before_the_start_drop_cues() {
    let track = parse(SRT, None).unwrap();
    let stretched = write(&track, Format::Srt, 0, 24.0 / 25.0);
    assert_eq!((stretched.cues[0].start_ms, stretched.cues[1].end_ms), (960, 3840));
    let early = write(&track, Format::Srt, -2600, 1.0);
    assert_eq!((early.cues.len(), early.cues[0].start_ms), (1, 400));
    assert!(early.warnings[0].starts_with("1 cues"), "{early:?}");
    assert_eq!(write(&track, Format::Srt, -1500, 1.0).cues[0].start_ms, 0);
}

#[test]
fn broken_files_keep_what_can_be_read() {
    let broken = "\u{feff}1\r\n00:00:01,000 --> 00:00:02,000\r\nfirst\r\n\r\ngarbage\r\n\r\n2\r\n00:00:xx,000 --> 00:00:04,000\r\n\
                  lost\r\n\r\n3\r\n0:0:5 --> 0:0:6\r\nthird, no blank line\r\n4\r\n00:00:08,000 --> 00:00:07,000\r\nback in time\r\n\
                  42\r\n";
    let track = parse(broken, None).unwrap();
    let texts: Vec<String> = track.cues.iter().map(|cue| cue.text.plain()).collect();
    assert_eq!(texts, ["first\ngarbage", "third, no blank line", "back in time\n42"]);
    assert_eq!(track.warnings.len(), 2, "{:?}", track.warnings);
    assert!(track.warnings[0].starts_with("line 8: the times"), "{:?}", track.warnings);

    let vtt = "WEBVTT\n\n00:00:01.000 --> nothing\nlost\n\n00:00:02.000 --> 00:00:03.000\n1 < 2 &amp; <b>bold\n\nstray\n";
    let track = parse(vtt, None).unwrap();
    assert_eq!(track.cues.len(), 1);
    assert_eq!(track.cues[0].text.plain(), "1 < 2 & bold");
    assert_eq!(track.warnings.len(), 2, "{:?}", track.warnings);
}

#[test]
fn formats_are_found_by_their_text() {
    assert_eq!(sniff(SRT), Some(Format::Srt));
    assert_eq!(sniff("\u{feff}\n WEBVTT\n"), Some(Format::Vtt));
    assert_eq!(sniff("[Script Info]\n"), Some(Format::Ass));
    for text in ["", "just a text", "a --> b", "{}"] {
        assert_eq!(sniff(text), None, "{text}");
        assert!(parse(text, None).is_err());
    }
}

#[test]
fn cues_are_checked() {
    let text = "1\n00:00:01,000 --> 00:00:09,000\nslow\n\n2\n00:00:08,000 --> 00:00:08,200\nmuch too fast to read\n\n\
                3\n00:00:10,000 --> 00:00:14,000\nthis line has more characters than anyone wants on a screen\n\n";
    let findings: Vec<_> = check(&parse(text, None).unwrap().cues)
        .into_iter()
        .map(|finding| (finding.kind, finding.cue))
        .collect();
    assert_eq!(
        findings,
        [
            (FindingKind::TooLong, 1),
            (FindingKind::Overlap, 2),
            (FindingKind::TooFast, 2),
            (FindingKind::TooLong, 3),
        ]
    );
    assert!(check(&parse(SRT, None).unwrap().cues).is_empty());
}

#[test]
fn packets_of_containers_become_tracks() {
    let packet =
        |start_ms, duration_ms, data: &[u8]| Packet { start_ms, duration_ms, data: data.to_vec() };
    let srt = track_of_packets(
        "subrip",
        b"",
        &[
            packet(1000, Some(500), b"<i>one</i>\r\n"),
            packet(2000, None, b"two"),
            packet(2500, None, b"three"),
        ],
    )
    .unwrap();
    assert_eq!(
        write(&srt, Format::Srt, 0, 1.0).content,
        "1\n00:00:01,000 --> 00:00:01,500\n<i>one</i>\n\n2\n00:00:02,000 --> 00:00:02,500\ntwo\n\n\
         3\n00:00:02,500 --> 00:00:05,500\nthree\n\n"
    );
    let head = b"[Script Info]\r\nTitle: x\r\n\r\n[Events]\r\n";
    let ass = track_of_packets("ass", head, &[packet(10, Some(10), b"0,0,Default,,0,0,0,,a, b")])
        .unwrap();
    let written = write(&ass, Format::Ass, 0, 1.0).content;
    assert!(
        written.starts_with("[Script Info]\nTitle: x\n") && written.contains("Format: Layer"),
        "{written}"
    );
    assert!(
        written.ends_with("Dialogue: 0,0:00:00.01,0:00:00.02,Default,,0,0,0,,a, b\n"),
        "{written}"
    );
    let mp4 = [packet(0, Some(100), b"\0\0"), packet(100, Some(100), b"\0\x02hi\0\0\0\x08styl")];
    let mp4 = track_of_packets("mov_text", b"", &mp4).unwrap();
    assert_eq!((mp4.cues.len(), mp4.cues[0].text.plain().as_str()), (1, "hi"));
    assert_eq!(mp4.warnings.len(), 1);
    assert!(track_of_packets("dvd_subtitle", b"", &[]).is_err());
    assert_eq!(decode(b"\xff\xfeh\0i\0").text, "hi");
}

#[test]
fn texts_full_of_openings_and_lines_are_read_in_time() {
    let before = "1\n00:00:01,000 --> 00:00:02,000\n";
    let started = std::time::Instant::now();
    for (format, piece) in [
        (Format::Srt, "<"),
        (Format::Vtt, "<"),
        (Format::Vtt, "<i> </i> "),
        (Format::Ass, "{\\i1} {\\i0} "),
        (Format::Srt, "{"),
        (Format::Srt, "a\n"),
        (Format::Ass, "a\\N"),
    ] {
        let head = match format {
            Format::Vtt => format!("WEBVTT\n\n{before}"),
            Format::Srt => before.to_owned(),
            Format::Ass => "Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,".to_owned(),
        };
        let track = parse(&(head + &piece.repeat(1_500_000 / piece.len())), None).unwrap();
        assert_eq!(track.cues.len(), 1, "{piece}");
    }
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
