use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;

use super::{Failure, Orders, Preparation, Program, Step};
use crate::process::Limits;
use crate::sandbox::Network;

fn program() -> Program {
    let odd = OsString::from_vec(vec![0xff, b'=', b'\n']);
    Program {
        path: "/bin/tool".into(),
        folder: Some("/srv/folder".into()),
        arguments: vec!["".into(), odd.clone(), "3".into(), "".into()],
        environment: [("A".into(), "".into()), ("B".into(), odd)].into(),
    }
}

fn orders() -> Orders {
    Orders {
        probe: false,
        limits: Limits::default(),
        confinement: None,
        digest: None,
        moves_pipes: false,
    }
}

#[test]
fn a_failure_is_found_only_under_its_token() {
    let line = "noise\n__launch abc {\"step\":\"Exec\",\"not_found\":true,\"reason\":\"gone\"}\n";
    let failure = Failure::find(line.as_bytes(), "abc").unwrap();
    assert_eq!(failure.step, Step::Exec);
    assert!(failure.not_found);
    assert!(Failure::find(line.as_bytes(), "other").is_none());
    assert!(Failure::find(b"", "abc").is_none());
    assert!(Failure::find(b"__launch abc {broken", "abc").is_none());
}

#[test]
fn orders_are_read_back_and_following_bytes_are_left() {
    let token = "abc".to_owned();
    let preparation = Preparation { parent: 7, token, isolation: Some(Network::Allowed) };
    let mut sent = preparation.to_bytes().unwrap();
    for program in [program(), Program { path: "/".into(), ..Program::default() }] {
        sent.extend(orders().to_bytes(&program).unwrap());
    }
    sent.extend(b"for the program");

    let mut stream = sent.as_slice();
    let read = Preparation::read(&mut stream).unwrap();
    assert_eq!((read.parent, read.isolation), (7, Some(Network::Allowed)));
    let (_, first) = Orders::read(&mut stream).unwrap().unwrap();
    assert_eq!(first, program());
    let (_, second) = Orders::read(&mut stream).unwrap().unwrap();
    assert_eq!((second.path, second.folder), ("/".into(), None));
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "for the program");
}

#[test]
fn orders_that_never_come_are_no_error_but_half_of_them_are() {
    assert!(Orders::read(&[][..]).unwrap().is_none());
    assert!(Preparation::read(&[][..]).is_err());
    let sent = orders().to_bytes(&program()).unwrap();
    // A frame's number that is cut short reads as the end of the stream.
    for length in [8, sent.len() / 2, sent.len() - 1] {
        assert!(Orders::read(&sent[..length]).is_err(), "{length}");
    }
}

#[test]
fn a_zero_byte_is_refused_in_every_field() {
    let zero = || OsString::from("a\0b");
    for bad in [
        Program { path: zero(), ..program() },
        Program { folder: Some(zero().into()), ..program() },
        Program { arguments: vec![zero()], ..program() },
        Program { environment: [(zero(), "".into())].into(), ..program() },
        Program { environment: [("A".into(), zero())].into(), ..program() },
    ] {
        assert!(orders().to_bytes(&bad).is_err(), "{bad:?}");
    }
}
