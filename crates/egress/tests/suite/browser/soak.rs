//! A thousand pages. Run by hand: `cargo nextest run -p egress --test suite --run-ignored only soak --no-capture`.
#![expect(clippy::print_stderr, reason = "a measurement prints its result")]

use std::time::Instant;

use futures_util::StreamExt;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::browser::support::Fixture;

const PAGES: usize = 1000;

/// The bound on the memory of all Chromium processes together.
const MAX_KILOBYTES: u64 = 600 * 1024;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes several minutes"]
async fn a_thousand_pages_leave_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let site = listener.local_addr().unwrap();
    tokio::spawn(serve(listener));
    let Some(fixture) = Fixture::new(&[&site.to_string()]).await else { return };
    let begun = Instant::now();
    let (mut done, mut most, mut failed) = (0, 0, Vec::new());
    let mut visits = futures_util::stream::iter(0..PAGES)
        .map(|number| fixture.render_owned(format!("http://{site}/{number}")))
        .buffer_unordered(4);
    while let Some(page) = visits.next().await {
        done += 1;
        match page {
            Ok(page) if page.html.contains("from the server") => {}
            Ok(page) => failed.push(page.html),
            Err(error) => failed.push(error.to_string()),
        }
        if done % 10 == 0 {
            most = most.max(kilobytes(&fixture.processes()));
        }
        if done % 100 == 0 {
            let (seconds, own) = (begun.elapsed().as_secs(), kilobytes(&[std::process::id()]));
            eprintln!(
                "{done} pages in {seconds} s; Chromium {most} kB at most; this process {own} kB"
            );
        }
    }
    drop(visits);
    fixture.browser.close().await;
    assert!(failed.is_empty(), "{} of {PAGES}: {}", failed.len(), failed[0]);
    assert!(fixture.processes().is_empty() && fixture.is_clean());
    assert!(most <= MAX_KILOBYTES, "{most} kB");
}

/// A server that keeps nothing, so that its memory is not taken for the browser's.
async fn serve(listener: TcpListener) {
    const PAGE: &str = "<ul id=list></ul><script>
        for (let i = 0; i < 500; i++) list.innerHTML += '<li>item ' + i;
        fetch('/data').then(r => r.text()).then(text => { document.body.append(text) });</script>";
    while let Ok((mut stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            let mut head = [0; 4096];
            let length = stream.read(&mut head).await.unwrap_or(0);
            let body =
                if head[..length].starts_with(b"GET /data ") { "from the server" } else { PAGE };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        });
    }
}

/// Memory of these processes, pages that several share counted once.
fn kilobytes(processes: &[u32]) -> u64 {
    let of = |id: &u32| {
        let text = std::fs::read_to_string(format!("/proc/{id}/smaps_rollup")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        line.trim().trim_end_matches(" kB").parse::<u64>().ok()
    };
    processes.iter().filter_map(of).sum()
}
