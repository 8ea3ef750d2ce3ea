//! When Chromium ends, nothing of it is left.

use std::time::Duration;

use egress::browser::{BrowserError, Options};
use rustix::process::{Pid, Signal, kill_process};

use crate::browser::support::{Fixture, all_dead, eventually, html};
use crate::http::server::Server;

async fn site() -> Server {
    Server::start(|seen| match seen.target.as_str() {
        "/slow" => html("<script>setInterval(() => document.body.append('x'), 50)</script>"),
        _ => html("<p>hello</p>"),
    })
    .await
}

/// Waits until a page is asked for: its visit has begun and cannot have ended.
async fn requested(site: &Server, path: &str) {
    eventually("the page is asked for", || site.seen().iter().any(|seen| seen.target == path))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_ends_all_processes_and_removes_the_profile() {
    let site = site().await;
    let Some(fixture) = Fixture::new(&[&site.address.to_string()]).await else { return };
    fixture.render(&site.url("/")).await.unwrap();
    let processes = fixture.processes();
    assert!(processes.len() >= 3 && !fixture.is_clean(), "{processes:?}");
    let url = site.url("/slow");
    let (slow, ()) = tokio::join!(fixture.render(&url), async {
        requested(&site, "/slow").await;
        fixture.browser.close().await;
    });
    assert_eq!(slow.unwrap_err(), BrowserError::Closed);
    assert!(all_dead(&processes) && fixture.processes().is_empty());
    assert!(fixture.is_clean());
    assert_eq!(fixture.render(&site.url("/")).await.unwrap_err(), BrowserError::Closed);
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_ends_all_processes_and_removes_the_profile() {
    let site = site().await;
    let Some(fixture) = Fixture::new(&[&site.address.to_string()]).await else { return };
    fixture.render(&site.url("/")).await.unwrap();
    let processes = fixture.processes();
    let Fixture { browser, folder, .. } = fixture;
    drop(browser);
    eventually("all are dead", || all_dead(&processes)).await;
    let entries = || std::fs::read_dir(folder.path()).unwrap().count();
    eventually("the profile is gone", || entries() == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_chromium_is_replaced() {
    let site = site().await;
    let Some(fixture) = Fixture::new(&[&site.address.to_string()]).await else { return };
    fixture.render(&site.url("/")).await.unwrap();
    let processes = fixture.processes();
    let main = fixture.main_processes();
    let url = site.url("/slow");
    let (crashed, ()) = tokio::join!(fixture.render(&url), async {
        requested(&site, "/slow").await;
        for id in &main {
            kill_process(Pid::from_raw(id.cast_signed()).unwrap(), Signal::KILL).unwrap();
        }
    });
    assert_eq!(crashed.unwrap_err(), BrowserError::Crashed);
    eventually("all are dead", || all_dead(&processes)).await;
    let page = fixture.render(&site.url("/")).await.unwrap();
    assert!(page.html.contains("hello"));
    assert_ne!(fixture.main_processes(), main);
    fixture.browser.close().await;
    assert!(fixture.is_clean());
}

#[tokio::test(flavor = "multi_thread")]
async fn chromium_is_replaced_after_its_pages() {
    let site = site().await;
    let allow = site.address.to_string();
    let change = |options: &mut Options| options.pages_per_process = 2;
    let fixture = Fixture::with(&[&allow], Default::default(), change).await;
    let Some(fixture) = fixture else { return };
    let mut seen = Vec::new();
    for visit in 0..4 {
        fixture.render(&site.url("/")).await.unwrap();
        let main = fixture.main_processes();
        seen.extend(main.last().copied());
        if visit == 1 {
            // Not before the next page asks for it.
            assert_eq!(main.len(), 1);
        }
    }
    assert_eq!((seen[0] == seen[1], seen[2] == seen[3]), (true, true), "{seen:?}");
    assert_ne!(seen[1], seen[2]);
    fixture.browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_chromium_is_ended_and_started_again() {
    let site = site().await;
    let allow = site.address.to_string();
    let change = |options: &mut Options| options.idle_timeout = Duration::from_secs(1);
    let fixture = Fixture::with(&[&allow], Default::default(), change).await;
    let Some(fixture) = fixture else { return };
    fixture.render(&site.url("/")).await.unwrap();
    eventually("the idle Chromium is gone", || {
        fixture.processes().is_empty() && fixture.is_clean()
    })
    .await;
    assert!(fixture.render(&site.url("/")).await.is_ok(), "it is started again");
    fixture.browser.close().await;
}
