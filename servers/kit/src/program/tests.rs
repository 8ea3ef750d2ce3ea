use super::*;

#[test]
fn versions_are_found_in_what_programs_print() {
    for (text, version) in [
        ("tesseract 5.3.0\n leptonica-1.82.0", Some("5.3.0")),
        ("ffmpeg version 5.1.6-0+deb12u1 Copyright (c) 2000-2024", Some("5.1.6-0+deb12u1")),
        ("LibreOffice 7.4.7.2 40(Build:2)", Some("7.4.7.2")),
        ("tool v2.1.", Some("2.1")),
        ("no number", None),
    ] {
        assert_eq!(version_in(text).as_deref(), version, "{text}");
    }
}
