use super::{PDF, UNKNOWN, sniff};

/// Beginnings of files as programs write them.
#[test]
fn files_are_known_by_their_beginning() {
    let tar = [&[b'a'; 257][..], b"ustar\0"].concat();
    let cases: [(&[u8], &str); 40] = [
        (b"%PDF-1.7\n", PDF),
        (b"\r\n\r\n%PDF-1.4\n\xe2\xe3", PDF),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        (b"GIF89a\x01\0", "image/gif"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
        (b"BM\x36\0\0\0\0\0\0\0\x36\0", "image/bmp"),
        (b"II*\0\x08\0\0\0", "image/tiff"),
        (b"\0\0\0\x20ftypavif\0\0\0\0avifmif1", "image/avif"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "image/heic"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic", "image/heic"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
        (b"<?xml version='1.0'?>\n<!-- drawn -->\n<svg/>", "image/svg+xml"),
        (b"ID3\x04\0\0\0\0\0\0", "audio/mpeg"),
        (b"\xff\xfb\x90\x64\0", "audio/mpeg"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "audio/wav"),
        (b"OggS\0\x02\0\0\0\0\0\0\0\0\x01vorbis", "audio/ogg"),
        (b"OggS\0\x02\0\0\0\0\0\0\0\0\x80theora", "video/ogg"),
        (b"fLaC\0\0\0\x22", "audio/flac"),
        (b"\0\0\0\x20ftypM4A \0\0\0\0", "audio/mp4"),
        (b"\0\0\0\x20ftypisom\0\0\x02\0isomiso2mp41", "video/mp4"),
        (b"\0\0\0\x14ftypqt  \0\0\0\0qt  ", "video/quicktime"),
        (b"\0\0\0\x08moov", "video/quicktime"),
        (b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm", "video/webm"),
        (b"\x1a\x45\xdf\xa3\x9f\x42\x82\x88matroska", "video/x-matroska"),
        (b"RIFF\x24\0\0\0AVI LIST", "video/x-msvideo"),
        (b"PK\x05\x06\0\0\0\0", "application/zip"),
        (b"\x1f\x8b\x08\0", "application/gzip"),
        (b"7z\xbc\xaf\x27\x1c\0\x04", "application/x-7z-compressed"),
        (&tar, "application/x-tar"),
        (b"{\\rtf1\\ansi", "application/rtf"),
        (b"<!DOCTYPE html>\n<p>hi", "text/html"),
        (b"\n<!-- saved -->\n<HTML><body>", "text/html"),
        (b"{\"a\": [1]}", "application/json"),
        (b"[1, 2]", "application/json"),
        (b"[section]\nkey = value", "text/plain"),
        (b"BM is a brand; MZ, too.", "text/plain"),
        (b"\xff\xfeh\0i\0", "text/plain"),
        (b"h\0i\0 \0y\0o\0u\0", "text/plain"),
        (b"\x00\x9c\x01\xfe\xdd\x00\x13", UNKNOWN),
    ];
    for (head, expected) in cases {
        assert_eq!(sniff(head, None), expected, "{:?}", String::from_utf8_lossy(head));
    }
}

#[test]
fn a_type_that_an_archive_names_may_be_in_a_later_entry() {
    let entry = |name: &str, content: &str| {
        let lengths = [name.len() as u16, 0].map(u16::to_le_bytes).concat();
        [b"PK\x03\x04", [0; 22].as_slice(), &lengths, name.as_bytes(), content.as_bytes()].concat()
    };
    let kind = "application/vnd.oasis.opendocument.spreadsheet";
    for entries in [
        [entry("mimetype", kind), entry("content.xml", "<x/>")],
        [entry("META-INF/manifest.xml", "<x/>"), entry("mimetype", kind)],
    ] {
        assert_eq!(sniff(&entries.concat(), None), kind);
    }
    let other = [entry("a.txt", kind), entry("mimetype", "text/plain")].concat();
    assert_eq!(sniff(&other, None), "application/zip");
}

#[test]
fn a_name_refines_text_and_nothing_else() {
    assert_eq!(sniff(b"a,b\n1,2\n", Some("table.CSV")), "text/csv");
    assert_eq!(sniff(b"# Title\n", Some("README.md")), "text/markdown");
    assert_eq!(sniff(b"a: 1\n", Some("config.yaml")), "application/yaml");
    assert_eq!(sniff(b"\x89PNG\r\n\x1a\n", Some("innocent.txt")), "image/png");
    assert_eq!(sniff(b"%PDF-1.4", Some("table.csv")), PDF);
    assert_eq!(sniff(b"<html>", Some("table.csv")), "text/html");
    assert_eq!(sniff(b"just words", Some("report.pdf")), "text/plain");
    assert_eq!(sniff(b"\0\x01\x02\x03\xff", Some("report.txt")), UNKNOWN);
    assert_eq!(sniff(b"", Some("empty.docx")), "text/plain");
}

#[test]
fn a_few_control_characters_leave_text_what_it_is() {
    let page =
        |inner: &str| format!("<!doctype html><title>A page</title><p>{inner} and more text");
    for control in ["\u{8}", "\u{1}", "\u{0}", "\u{7f}", "\u{80}", "\u{9d}", "\u{8}\u{8}"] {
        assert_eq!(sniff(page(control).as_bytes(), None), "text/html", "{control:?}");
    }
    let words = "The tide\u{8} rises and falls twice a day, in most places at least.";
    assert_eq!(sniff(words.as_bytes(), None), "text/plain");
    let old = [b"Gr\xfc\xdfe aus K\xf6ln\x08, ".as_slice(), &[b'a'; 80]].concat();
    assert_eq!(sniff(&old, None), "text/plain");
    // Many of them are no text, whatever it begins with.
    let binary = format!("<html>{}", "\u{1}\u{2}ab".repeat(50));
    assert_eq!(sniff(binary.as_bytes(), None), UNKNOWN);
}

#[test]
fn text_in_old_encodings_is_recognized() {
    assert_eq!(sniff(b"Gr\xfc\xdfe aus K\xf6ln", None), "text/plain");
    // Russian in windows-1251, Japanese in Shift_JIS, and UTF-8 that is cut within a letter.
    assert_eq!(sniff(b"\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0", None), "text/plain");
    assert_eq!(sniff(b"\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd", None), "text/plain");
    assert_eq!(sniff(&"größer ü".as_bytes()[..10], None), "text/plain");
}
