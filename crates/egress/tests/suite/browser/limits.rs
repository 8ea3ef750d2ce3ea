//! Pages without an end, and pages that are too large.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use bytes::Bytes;
use egress::browser::{BrowserError, Visit};
use futures_util::{StreamExt, stream};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;

use crate::browser::support::{Fixture, html, visit};
use crate::http::server::{Reply, Server, reply};

fn streamed(start: &'static str, block: &'static str, blocks: usize) -> Reply {
    let frame =
        |text: &'static str| Ok::<_, Infallible>(Frame::data(Bytes::from_static(text.as_bytes())));
    let blocks = stream::iter([start]).chain(stream::iter(std::iter::repeat_n(block, blocks)));
    let mut reply = http::Response::new(StreamBody::new(blocks.map(frame)).boxed_unsync());
    reply.headers_mut().insert("content-type", "text/html".parse().unwrap());
    reply
}

fn block() -> &'static str {
    "<p>0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789\n"
}

fn short(url: &str, seconds: u64) -> Visit {
    Visit { deadline: Duration::from_secs(seconds), ..visit(url) }
}

async fn site() -> Server {
    Server::start(|seen| match seen.target.as_str() {
        "/loop" => html("<p>before the loop</p><script>setTimeout(() => { while (true) {} }, 50)</script>"),
        "/parser-loop" => html("<p>before the loop</p><script>while (true) {}</script>"),
        "/changes" => html("<p id=p>text</p><script>setInterval(() => { p.textContent += ' more' }, 50)</script>"),
        "/polls" => html("<p>text</p><script>setInterval(() => fetch('/data'), 100)</script>"),
        "/hangs" => html("<p>text</p><script>fetch('/never')</script>"),
        "/never" => {
            http::Response::new(StreamBody::new(stream::pending::<Result<Frame<Bytes>, Infallible>>()).boxed_unsync())
        }
        "/dialogs" => html("<p>text</p><script>setInterval(() => alert('x'), 1)</script>"),
        // 100 MB.
        "/large" => streamed("<p>the start</p><!-- ", "0123456789 0123456789 0123456789 0123456789\n", 2_400_000),
        "/many" => streamed("<p>the start</p>", block(), 40_000),
        "/memory" => html("<p>text</p><script>const all = []; while (true) all.push(new Array(1e6).fill(Math.random()))</script>"),
        "/data" => reply(200, "x"),
        _ => reply(404, ""),
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_without_an_end_give_what_they_have() {
    let site = site().await;
    let Some(fixture) = Fixture::new(&[&site.address.to_string()]).await else { return };
    // Starts Chromium, so that the visits below have all of their time.
    fixture.render(&site.url("/data")).await.unwrap();
    for path in ["/loop", "/changes", "/polls"] {
        let begun = Instant::now();
        let page = fixture.browser.render(short(&site.url(path), 10)).await.unwrap();
        assert!(page.truncated && page.html.contains("<p"), "{path}: {}", page.html);
        assert!(begun.elapsed() < Duration::from_millis(10_500), "{path}: {:?}", begun.elapsed());
    }
    let page = fixture.browser.render(short(&site.url("/parser-loop"), 10)).await;
    let after = Duration::from_secs(10);
    match page {
        Ok(page) => assert!(page.html.contains("before the loop"), "{}", page.html),
        Err(error) => assert_eq!(error, BrowserError::Timeout { after }),
    }
    let page = fixture.render(&site.url("/dialogs")).await.unwrap();
    assert!(page.html.contains("<p>text</p>"), "{}", page.html);
    // A request that hangs does not use up all of the time.
    let begun = Instant::now();
    let page = fixture.render(&site.url("/hangs")).await.unwrap();
    assert!(page.html.contains("text") && begun.elapsed() < Duration::from_secs(15));
    fixture.browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn large_pages_are_cut() {
    let site = site().await;
    let Some(fixture) = Fixture::new(&[&site.address.to_string()]).await else { return };
    let page = fixture.render(&site.url("/large")).await.unwrap();
    assert!(page.truncated && page.html.contains("the start"));
    assert!(page.html.len() <= 32 << 20, "{}", page.html.len());

    let cut = Visit { max_bytes: 2_000_000, ..visit(&site.url("/many")) };
    let page = fixture.browser.render(cut).await.unwrap();
    assert!(page.truncated && page.html.contains("the start"));
    assert_eq!(page.html.len(), 2_000_000);

    // The page may end with an error, but the browser goes on.
    let _ = fixture.browser.render(short(&site.url("/memory"), 10)).await;
    assert!(fixture.render(&site.url("/data")).await.is_ok());
    fixture.browser.close().await;
}
