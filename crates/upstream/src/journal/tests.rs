use super::*;

fn journal() -> Journal {
    Journal::new("s", Clock::manual(1_000))
}

fn texts(logs: &ServerLogs) -> Vec<&str> {
    logs.lines.iter().map(|line| line.line.as_str()).collect()
}

#[tokio::test]
async fn lines_have_a_cursor_and_old_ones_are_dropped() {
    let journal = journal();
    journal.follow(&b"one\n\ntwo\r\nthree"[..], Some(7), &Scrubber::default()).await;
    let first = journal.lines(None, 2);
    assert_eq!((texts(&first), first.next), (vec!["two", "three"], 3));
    journal.note(None, "down: it ended".to_owned());
    let second = journal.lines(Some(first.next), 100);
    assert_eq!((texts(&second), second.next), (vec!["down: it ended"], 4));
    assert_eq!(second.lines[0].source, LogSource::Gateway);
    assert!(journal.lines(Some(4), 100).lines.is_empty());

    let many: String = (0..5_000).map(|number| format!("line {number}\n")).collect();
    journal.follow(many.as_bytes(), Some(8), &Scrubber::default()).await;
    let all = journal.lines(None, usize::MAX);
    assert_eq!((all.lines.len(), all.next), (MAX_LINES, 5_004));
    assert_eq!(texts(&all).last(), Some(&"line 4999"));

    let long = format!("{}\n", "x".repeat(3_000)).repeat(200);
    journal.follow(long.as_bytes(), Some(9), &Scrubber::default()).await;
    let kept: usize = journal.lines(None, usize::MAX).lines.iter().map(|l| l.line.len()).sum();
    assert!(kept <= MAX_BYTES, "{kept}");
}

#[tokio::test]
async fn secrets_are_removed_however_the_text_arrives() {
    let key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----";
    let secrets = Scrubber::new(key.lines().chain(["hunter2hunter2", key]));
    let text = format!("password hunter2hunter2\n{key}\nlast words\n");
    for size in [1, 7, 4_096] {
        let journal = journal();
        let (mut writer, reader) = tokio::io::duplex(size);
        let writing = async {
            tokio::io::AsyncWriteExt::write_all(&mut writer, text.as_bytes()).await.expect("room");
            drop(writer);
        };
        tokio::join!(writing, journal.follow(reader, Some(1), &secrets));
        let shown = journal.stderr_tail(Some(1)).expect("stderr");
        assert!(!shown.contains("hunter2") && !shown.contains("MIIE"), "{shown}");
        assert!(!shown.contains("AQEF"), "{shown}");
        assert_eq!(journal.last_line(Some(1)).as_deref(), Some("last words"));
        assert_eq!(journal.stderr_tail(Some(2)), None);
    }
}

#[tokio::test]
async fn a_line_without_end_is_cut_and_links_are_shortened() {
    let journal = journal();
    let text = format!("{}\nlast words\n\n", "x".repeat(200_000));
    journal.follow(text.as_bytes(), Some(1), &Scrubber::default()).await;
    let lines = journal.lines(None, 10);
    assert_eq!(lines.lines.len(), 2, "the rest of the long line is skipped");
    assert!(lines.lines[0].line.len() <= MAX_LINE_BYTES + "…".len());
    assert_eq!(lines.lines[1].line, "last words");
    let link = &b"cannot read http://h/v1/files/x/content?sig=Zm9vYmFyLWZvb2Jhci1mb29i\n"[..];
    journal.follow(link, Some(1), &Scrubber::default()).await;
    let last = journal.last_line(Some(1));
    assert_eq!(last.as_deref(), Some("cannot read http://h/v1/files/x/content?sig=…"));
}

/// A server that fails without pause is reported when that begins, then once a minute, and when it is ready again.
#[test]
fn a_failing_server_is_reported_once_a_minute() {
    let journal = journal();
    let reported = || journal.lines(None, usize::MAX).lines.len();
    let (mut now, stable, minutes) = (Instant::now(), Duration::from_secs(10), 20);
    for _ in 0..minutes * 12 {
        journal.is_down_at("exit code 1", now);
        // It starts, and ends again at once.
        journal.is_up_at(stable, now);
        now += Duration::from_secs(5);
    }
    assert_eq!(reported(), minutes);
    now += stable;
    journal.is_up_at(stable, now);
    journal.is_up_at(Duration::ZERO, now);
    assert_eq!(reported(), minutes + 1);
    journal.is_down_at("exit code 1", now);
    assert_eq!(reported(), minutes + 2, "a change of state is reported at once");
}
