//! Children that stay.

use std::time::{Duration, Instant};

use egress::process::{Exit, Piped};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use crate::process::support::{alive, children, eventually, needle, python, rungs};

const ECHO: &str = "
import sys, os
os.fork() or __import__('time').sleep(60)
for line in sys.stdin: print(line.strip().upper(), flush=True)";

#[tokio::test]
async fn a_worker_answers_line_by_line_and_ends_with_its_input() {
    for (tier, runner) in rungs().await {
        let needle = needle();
        let Piped { mut stdin, stdout, mut stderr, mut process } =
            runner.spawn_piped(python(ECHO).arg(&needle)).await.unwrap();
        assert_eq!(process.tier(), tier);
        let mut lines = BufReader::new(stdout).lines();
        for word in ["one", "two", "three"] {
            stdin.write_all(format!("{word}\n").as_bytes()).await.unwrap();
            assert_eq!(lines.next_line().await.unwrap().unwrap(), word.to_uppercase());
        }
        drop(stdin);
        assert_eq!(process.wait().await.unwrap(), Exit::Code(0));
        assert!(alive(&needle).is_empty());
        let mut said = String::new();
        stderr.read_to_string(&mut said).await.unwrap();
        assert_eq!(said, "");
    }
}

#[tokio::test]
async fn dropping_a_worker_ends_all_its_processes() {
    for (tier, runner) in rungs().await {
        let needle = needle();
        let piped = runner.spawn_piped(python(ECHO).arg(&needle)).await.unwrap();
        eventually("worker and child run", || children(&needle).len() >= 2).await;
        drop(piped);
        let what = format!("all are dead at {tier}");
        eventually(&what, || alive(&needle).is_empty()).await;
    }
}

#[tokio::test]
async fn killing_a_worker_takes_less_than_a_second() {
    for (tier, runner) in rungs().await {
        let needle = needle();
        let deaf = format!("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n{ECHO}");
        let piped = runner.spawn_piped(python(&deaf).arg(&needle)).await.unwrap();
        eventually("worker and child run", || children(&needle).len() >= 2).await;
        let begun = Instant::now();
        piped.process.kill().await;
        assert!(begun.elapsed() < Duration::from_secs(1));
        assert!(alive(&needle).is_empty(), "{tier}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_does_not_hang_on_the_thread_that_asked_for_it() {
    for (_, runner) in rungs().await {
        let runtime = tokio::runtime::Handle::current();
        // The parent death signal would follow this thread if it started the child itself.
        let asking = std::thread::spawn(move || {
            runtime.block_on(async {
                let mut piped = runner.spawn_piped(python(ECHO)).await.unwrap();
                assert_eq!(ask(&mut piped, "first").await, "FIRST");
                (piped, rustix::thread::gettid())
            })
        });
        let joined = tokio::task::spawn_blocking(|| asking.join().unwrap()).await;
        let (mut piped, thread) = joined.unwrap();
        let task = format!("/proc/self/task/{thread}");
        eventually("the thread is gone", || !std::path::Path::new(&task).exists()).await;
        // A signal would be on its way by now.
        let ended = tokio::time::timeout(Duration::from_millis(100), piped.process.wait()).await;
        assert!(ended.is_err(), "{ended:?}");
        assert_eq!(ask(&mut piped, "second").await, "SECOND");
    }
}

async fn ask(piped: &mut Piped, word: &str) -> String {
    piped.stdin.write_all(format!("{word}\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    BufReader::new(&mut piped.stdout).read_line(&mut answer).await.unwrap();
    answer.trim().to_owned()
}

#[tokio::test]
async fn a_pipe_that_the_child_closes_is_closed() {
    let script = "import os, time; os.close(0); os.close(1); os.close(2); time.sleep(60)";
    for (tier, runner) in rungs().await {
        let mut piped = runner.spawn_piped(python(script)).await.unwrap();
        let seen = async {
            piped.stdout.read_to_end(&mut Vec::new()).await.unwrap();
            piped.stderr.read_to_end(&mut Vec::new()).await.unwrap();
            while piped.stdin.write_all(&[0; 4096]).await.is_ok() {}
        };
        let seen = tokio::time::timeout(Duration::from_secs(20), seen).await;
        assert!(seen.is_ok(), "the launcher holds the pipes at {tier}");
        assert!(piped.process.id().is_some());
    }
}

#[tokio::test]
async fn pipes_can_be_descriptors_3_and_4() {
    let script = "
import os
assert os.read(0, 1) == b''
os.write(1, b'discarded')
while line := os.read(3, 100): os.write(4, line.upper())";
    for (tier, runner) in rungs().await {
        let spec = python(script).pipes_as_3_and_4();
        let Piped { mut stdin, mut stdout, mut stderr, mut process } =
            runner.spawn_piped(spec).await.unwrap();
        stdin.write_all(b"word").await.unwrap();
        let mut word = [0; 4];
        stdout.read_exact(&mut word).await.unwrap();
        assert_eq!(&word, b"WORD");
        drop(stdin);
        let (mut rest, mut said) = (Vec::new(), String::new());
        stdout.read_to_end(&mut rest).await.unwrap();
        stderr.read_to_string(&mut said).await.unwrap();
        assert_eq!(
            (process.wait().await.unwrap(), rest, said.as_str()),
            (Exit::Code(0), vec![], ""),
            "{tier}"
        );
    }
}
