//! What a page looks like after its scripts have run.

use std::sync::Arc;
use std::time::Duration;

use egress::browser::{BrowserError, Options, Visit};
use egress::http::{FetchError, Refusal};
use egress::process::Runner;
use egress::sandbox::Tier;

use crate::browser::support::{Fixture, html, visit};
use crate::http::server::{Script, Server, redirect, reply};

async fn site() -> Server {
    Server::start(|seen| match seen.target.as_str() {
        "/made" => html("<p id=p></p><script>p.textContent = ['made', 'by', 'script'].join(' ')</script>"),
        "/late" => html(
            "<ul id=list></ul><script>
            let count = 0;
            const timer = setInterval(() => {
              list.innerHTML += '<li>item ' + ++count;
              if (count == 8) { clearInterval(timer); fetch('/data').then(r => r.text()).then(t => { list.innerHTML += t }); }
            }, 150);</script>",
        ),
        "/data" => reply(200, "<li>from the server"),
        "/shadow" => html(
            "<host-a></host-a><script>
            const add = (host, text) => {
              const root = host.attachShadow({ mode: 'open' });
              root.innerHTML = text;
              return root;
            };
            const outer = add(document.querySelector('host-a'), '<p>outer</p><host-b></host-b>');
            add(outer.querySelector('host-b'), '<p>inner</p>');</script>",
        ),
        "/hostile" => html(
            "<img name=documentElement><img name=readyState><form id=f><input name=shadowRoot></form><p>kept</p><script>
            Element.prototype.getHTML = () => 'forged';
            Object.defineProperty(Element.prototype, 'outerHTML', { get: () => 'forged' });
            String.prototype.slice = () => 'forged';
            alert('a dialog'); confirm('another'); window.open('/made');
            document.title = '\\ud800 alone';</script>",
        ),
        "/moved" => redirect(302, "/made"),
        "/script-moved" => html("<script>location = '/made'</script>"),
        "/meta-moved" => html("<meta http-equiv=refresh content='0; url=/made'>"),
        "/stays" => html("<p>stays</p><script>setTimeout(() => { location = '/nothing' }, 50)</script>"),
        "/nothing" => reply(204, ""),
        "/missing" => {
            let mut page = html("<p>nothing here</p>");
            *page.status_mut() = http::StatusCode::NOT_FOUND;
            page
        }
        "/captions" => html("<script>fetch('/api/timedtext?v=1').then(r => r.text()).then(() => { document.body.append('done') })</script>"),
        "/api/timedtext?v=1" => reply(200, "<transcript>hello</transcript>"),
        "/cookie" => html(
            "<script>
            const before = document.cookie + localStorage.getItem('kept');
            document.cookie = 'kept=yes'; localStorage.setItem('kept', 'yes');
            document.body.append('before: ' + before, ' agent: ' + navigator.userAgent);</script>",
        ),
        "/login" => {
            let mut page = reply(401, "<p>who are you?</p>");
            page.headers_mut().insert("www-authenticate", "Basic realm=x".parse().unwrap());
            page.headers_mut().insert("content-type", "text/html".parse().unwrap());
            page
        }
        "/file" => {
            let mut file = reply(200, "bytes");
            file.headers_mut().insert("content-disposition", "attachment; filename=f.bin".parse().unwrap());
            file.headers_mut().insert("content-type", "application/octet-stream".parse().unwrap());
            file
        }
        _ => reply(404, ""),
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_rendered_by_their_scripts() {
    let site = site().await;
    let Some(fixture) = Fixture::new(&[&site.address.to_string()]).await else { return };

    let page = fixture.render(&site.url("/made")).await.unwrap();
    assert!(page.html.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{}", page.html);
    assert!(page.html.contains("<p id=\"p\">made by script</p>"), "{}", page.html);
    assert_eq!((page.status.as_u16(), page.final_url.as_str()), (200, site.url("/made").as_str()));
    assert!(!page.truncated && page.captured.is_empty());

    let page = fixture.render(&site.url("/late")).await.unwrap();
    assert!(page.html.contains("item 8") && page.html.contains("from the server"), "{}", page.html);

    let page = fixture.render(&site.url("/shadow")).await.unwrap();
    let expected = "<host-a><template shadowrootmode=\"open\"><p>outer</p><host-b>\
        <template shadowrootmode=\"open\"><p>inner</p></template></host-b></template></host-a>";
    assert!(page.html.contains(expected), "{}", page.html);

    let page = fixture.render(&site.url("/hostile")).await.unwrap();
    assert!(page.html.contains("<p>kept</p>") && !page.html.contains("forged</"), "{}", page.html);

    for path in ["/moved", "/script-moved", "/meta-moved"] {
        let page = fixture.render(&site.url(path)).await.unwrap();
        assert_eq!(page.final_url.as_str(), site.url("/made"), "{path}");
        assert!(page.html.contains("made by script"), "{path}: {}", page.html);
    }
    let page = fixture.render(&site.url("/stays")).await.unwrap();
    assert_eq!((page.status.as_u16(), page.final_url.as_str()), (200, site.url("/stays").as_str()));
    let page = fixture.render(&site.url("/missing")).await.unwrap();
    assert_eq!(page.status.as_u16(), 404);
    assert!(page.html.contains("nothing here"));
    let page = fixture.render(&site.url("/login")).await.unwrap();
    assert_eq!(page.status.as_u16(), 401);
    let refused = fixture.render(&site.url("/file")).await.unwrap_err();
    assert!(matches!(refused, BrowserError::Load { .. }), "{refused:?}");
    fixture.browser.close().await;
    assert!(site.seen().iter().all(|seen| seen.header("proxy-authorization").is_none()));
}

/// Chromium works on every rung of the sandbox; for other users than root all of them are its own sandbox.
#[tokio::test(flavor = "multi_thread")]
async fn chromium_works_on_every_rung() {
    let site = site().await;
    let allow = site.address.to_string();
    for tier in [Tier::T0, Tier::T1, Tier::T2] {
        let lower = |options: &mut Options| {
            options.runner = Arc::new(Runner::clone(&options.runner).at_most(tier));
        };
        let Some(fixture) = Fixture::with(&[&allow], Script::default(), lower).await else {
            return;
        };
        let page = fixture.render(&site.url("/made")).await.unwrap();
        assert!(page.html.contains("made by script"), "{tier}: {}", page.html);
        fixture.browser.close().await;
        assert!(fixture.processes().is_empty() && fixture.is_clean(), "{tier}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chosen_answers_are_kept_and_pages_share_nothing() {
    let site = site().await;
    let Some(fixture) = Fixture::new(&[&site.address.to_string()]).await else { return };
    let choose = |url: &str| url.contains("/api/timedtext");
    let captions = Visit { capture: Some(choose), ..visit(&site.url("/captions")) };
    let page = fixture.browser.render(captions).await.unwrap();
    let expected = (site.url("/api/timedtext?v=1"), "<transcript>hello</transcript>".into());
    assert_eq!(page.captured, [expected]);
    assert!(page.html.contains("done"));

    let cookie = site.url("/cookie");
    for page in futures_util::future::join_all((0..6).map(|_| fixture.render(&cookie))).await {
        let page = page.unwrap();
        assert!(page.html.contains("before: null"), "{}", page.html);
        assert!(page.html.contains(&format!("agent: Mozilla/5.0 (compatible; {}", fixture.needle)));
    }
    assert_eq!(fixture.main_processes().len(), 1);
    fixture.browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_cannot_be_opened_say_why() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let site = site().await;
    let allow = [site.address.to_string(), gone.to_string()];
    let allow: Vec<_> = allow.iter().map(String::as_str).collect();
    let Some(fixture) = Fixture::new(&allow).await else { return };

    for url in [
        "file:///etc/passwd",
        "chrome://version",
        "view-source:http://127.0.0.1/",
        "data:text/html,hello",
        "javascript:alert(1)",
        "about:blank",
    ] {
        let refused = fixture.render(url).await.unwrap_err();
        assert!(matches!(refused, BrowserError::Refused(Refusal::Scheme(_))), "{url}: {refused:?}");
    }
    assert!(fixture.main_processes().is_empty(), "none of these needs Chromium");

    for url in [format!("http://{gone}/"), format!("https://{gone}/")] {
        let error = fixture.render(&url).await.unwrap_err();
        let refused = matches!(error, BrowserError::Fetch(FetchError::Connect { .. }));
        assert!(refused, "{url}: {error:?}");
    }
    let error = fixture.render("https://unknown.test/").await.unwrap_err();
    assert!(matches!(error, BrowserError::Fetch(FetchError::Resolve { .. })), "{error:?}");
    let error = fixture.render(&site.url("/made").replace("http:", "https:")).await.unwrap_err();
    assert!(matches!(error, BrowserError::Load { .. }), "{error:?}");
    fixture.browser.close().await;
}

#[tokio::test]
async fn a_missing_program_is_said_to_be_missing() {
    let site = site().await;
    let change = |options: &mut Options| {
        options.program = Some("/nowhere/chromium".into());
    };
    let allow = [site.address.to_string()];
    let fixture = Fixture::with(&[&allow[0]], Default::default(), change).await;
    let Some(fixture) = fixture else { return };
    assert_eq!(fixture.render(&site.url("/made")).await.unwrap_err(), BrowserError::Missing);

    let change = |options: &mut Options| options.program = Some("/bin/false".into());
    let fixture = Fixture::with(&[&allow[0]], Default::default(), change).await.unwrap();
    let failed = fixture.render(&site.url("/made")).await.unwrap_err();
    assert!(matches!(failed, BrowserError::Start { .. }), "{failed:?}");
    tokio::time::timeout(Duration::from_secs(10), fixture.browser.close()).await.unwrap();
    assert!(fixture.is_clean());
}
