use super::{Shebang, copy_with_digest, open_regular};

#[test]
fn a_copy_is_what_its_digest_says() {
    let bytes = vec![7; 300_000];
    let mut copy = Vec::new();
    let (digest, length) = copy_with_digest(&mut bytes.as_slice(), &mut copy).unwrap();
    assert_eq!((copy.len() as u64, length), (300_000, 300_000));
    assert_eq!(copy, bytes);
    let (empty, _) = copy_with_digest(&mut &b""[..], &mut Vec::new()).unwrap();
    assert_eq!(empty[..4], [0xe3, 0xb0, 0xc4, 0x42], "the digest of nothing is well known");
    assert_ne!(digest, empty);
}

#[test]
fn interpreter_lines_are_read_as_the_kernel_does() {
    let read = |text: &str| Shebang::read(&mut text.as_bytes()).unwrap();
    let line = |interpreter: &str, argument: Option<&str>| {
        Some(Shebang {
            interpreter: interpreter.into(),
            argument: argument.map(|text| text.as_bytes().to_vec()),
        })
    };
    assert_eq!(read("#!/bin/sh\necho"), line("/bin/sh", None));
    assert_eq!(read("#! /bin/sh  -e x \necho"), line("/bin/sh", Some("-e x")));
    assert_eq!(read("#!/usr/bin/env python3"), line("/usr/bin/env", Some("python3")));
    assert_eq!(read("#!\n"), None);
    assert_eq!(read("\u{7f}ELF"), None);
}

#[test]
fn only_regular_files_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    assert!(open_regular(folder.path()).is_err());
    assert!(open_regular(std::path::Path::new("/dev/null")).is_err());
    std::fs::write(folder.path().join("file"), "x").unwrap();
    assert!(open_regular(&folder.path().join("file")).is_ok());
}
