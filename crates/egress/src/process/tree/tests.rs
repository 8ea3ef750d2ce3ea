use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use rustix::process::Pid;

use super::linux::{descendants, descendants_by_scan};

#[test]
fn both_ways_find_a_grandchild_in_another_session() {
    let script = "setsid sh -c 'echo $$; exec sleep 60' & wait";
    let mut child = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let grandchild = Pid::from_raw(line.trim().parse().unwrap()).unwrap();

    let me = rustix::process::getpid();
    assert!(descendants(me).contains(&grandchild));
    assert!(descendants_by_scan(me).contains(&grandchild));
    assert!(!descendants(grandchild).contains(&me));

    super::signal(&[grandchild], rustix::process::Signal::KILL);
    child.wait().unwrap();
}
