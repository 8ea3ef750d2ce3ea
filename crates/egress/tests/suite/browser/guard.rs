//! Nothing that a page does reaches an address that the policy denies.

use std::net::SocketAddr;

use egress::browser::BrowserError;
use egress::http::{Class, Refusal};

use crate::browser::support::{Canary, Fixture, eventually, html, listening};
use crate::http::server::{Script, Server, redirect, reply};

/// Everything that a page can try against `HOST`. The last attempt says that all were made.
const ATTEMPTS: &str = "
<link rel=dns-prefetch href='http://HOST/'><link rel=preconnect href='http://HOST/'>
<link rel=prefetch href='http://HOST/prefetch'><link rel=stylesheet href='http://HOST/style.css'>
<script type=speculationrules>{\"prerender\": [{\"urls\": [\"http://HOST/prerender\"]}]}</script>
<img src='http://HOST/image'><iframe src='http://HOST/frame'></iframe>
<iframe src='file:///etc/passwd'></iframe><iframe src='view-source:http://HOST/'></iframe>
<object data='http://HOST/object'></object><embed src='http://HOST/embed'>
<video src='http://HOST/video'></video><form id=form target=other method=post action='http://HOST/form'></form>
<iframe name=other></iframe><a id=link ping='http://HOST/ping' href='#here'>here</a>
<iframe id=blank></iframe>
<script>
const tried = [];
const attempt = (name, what) => {
  try { what(); tried.push(name); } catch (error) { tried.push(name + ' failed: ' + error); }
};
const rtc = Type => {
  const servers = ['stun:HOST', 'turn:HOST?transport=udp', 'turn:HOST?transport=tcp'];
  const peer = new Type({ iceServers: servers.map(urls => ({ urls, username: 'u', credential: 'c' })) });
  peer.createDataChannel('x');
  peer.createOffer().then(offer => peer.setLocalDescription(offer));
};
attempt('fetch', () => fetch('http://HOST/fetch', { mode: 'no-cors' }).catch(() => {}));
attempt('post', () => fetch('http://HOST/post', { mode: 'no-cors', method: 'POST', body: 'x', keepalive: true }).catch(() => {}));
attempt('encrypted', () => fetch('https://HOST/fetch', { mode: 'no-cors' }).catch(() => {}));
attempt('redirected', () => fetch('/to-canary').catch(() => {}));
attempt('beacon', () => navigator.sendBeacon('http://HOST/beacon', 'x'));
attempt('socket', () => new WebSocket('ws://HOST/socket'));
attempt('secure socket', () => new WebSocket('wss://HOST/socket'));
attempt('events', () => new EventSource('http://HOST/events'));
attempt('worker', () => new Worker(URL.createObjectURL(new Blob([
  \"fetch('http://HOST/worker', { mode: 'no-cors' }).catch(() => {}); new WebSocket('ws://HOST/worker')\"]))));
attempt('service worker', () => navigator.serviceWorker.register('/worker.js'));
attempt('transport', () => new WebTransport('https://HOST/transport'));
attempt('rtc', () => rtc(RTCPeerConnection));
attempt('rtc of a frame', () => rtc(blank.contentWindow.RTCPeerConnection));
attempt('form', () => form.submit());
attempt('ping', () => link.click());
attempt('window', () => open('http://HOST/window'));
attempt('file', () => { location = 'file:///etc/passwd'; });
attempt('view-source', () => { location = 'view-source:http://HOST/'; });
document.body.append('tried ' + tried.join(', ') + '; all');
</script>";

async fn site(canary: SocketAddr) -> Server {
    Server::start(move |seen| match seen.target.as_str() {
        "/attempts" => html(&ATTEMPTS.replace("HOST", &canary.to_string())),
        "/attempts-by-name" => {
            html(&ATTEMPTS.replace("HOST", &format!("localhost:{}", canary.port())))
        }
        "/to-canary" => redirect(302, &format!("http://{canary}/redirected")),
        "/refresh" => html(&format!("<meta http-equiv=refresh content='0; url=http://{canary}/'>")),
        "/script" => html(&format!("<script>location = 'http://{canary}/'</script>")),
        "/secure" => html(&format!("<script>location = 'https://{canary}/'</script>")),
        "/worker.js" => {
            let mut script = reply(200, format!("fetch('http://{canary}/service-worker')"));
            script.headers_mut().insert("content-type", "text/javascript".parse().unwrap());
            script
        }
        _ => reply(404, ""),
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_attempt_of_a_page_reaches_a_denied_listener() {
    let canary = Canary::start().await;
    let site = site(canary.address).await;
    let script = Script::default().name("localhost", &[&["127.0.0.1"]]);
    let fixture = Fixture::with(&[&site.address.to_string()], script, |_| {}).await;
    let Some(fixture) = fixture else { return };
    for path in ["/attempts", "/attempts-by-name"] {
        let page = fixture.render(&site.url(path)).await.unwrap();
        assert!(page.html.contains("; all"), "{}", page.html);
        for name in ["fetch", "socket", "worker", "events", "form", "view-source"] {
            assert!(
                page.html.contains(&format!(" {name},"))
                    || page.html.contains(&format!(" {name};")),
                "{name}: {}",
                page.html
            );
        }
        assert_eq!(canary.hits(), 0, "{path}");
    }
    for path in ["/to-canary", "/refresh", "/script", "/secure"] {
        let refused = fixture.render(&site.url(path)).await.unwrap_err();
        let by_address = matches!(refused, BrowserError::Refused(Refusal::Address { .. }));
        assert!(by_address, "{path}: {refused:?}");
    }
    let direct = format!("http://{}/", canary.address);
    let refused = fixture.render(&direct).await.unwrap_err();
    assert!(matches!(refused, BrowserError::Refused(Refusal::Address { .. })), "{refused:?}");
    let ports = listening(&fixture.processes());
    assert_eq!((canary.hits(), ports.as_slice()), (0, &[][..]), "no debugging port is open");
    fixture.browser.close().await;
    assert_eq!(canary.hits(), 0);
}

/// The same page reaches a listener that the policy allows, so the attempts of the test above are real.
#[tokio::test(flavor = "multi_thread")]
async fn the_attempts_reach_an_allowed_listener() {
    let open = Server::start(|_| reply(200, "reached")).await;
    let site = site(open.address).await;
    let allow = [site.address.to_string(), open.address.to_string()];
    let Some(fixture) = Fixture::new(&[&allow[0], &allow[1]]).await else { return };
    fixture.render(&site.url("/attempts")).await.unwrap();
    let seen: Vec<_> = open.seen().into_iter().map(|seen| seen.target).collect();
    for target in [
        "/fetch",
        "/post",
        "/redirected",
        "/image",
        "/frame",
        "/style.css",
        "/socket",
        "/worker",
        "/form",
        "/beacon",
    ] {
        assert!(seen.iter().any(|it| it == target), "{target} is missing in {seen:?}");
    }
    for target in ["/service-worker", "/"] {
        assert!(!seen.iter().any(|it| it == target), "{target} was reached: {seen:?}");
    }
    fixture.browser.close().await;
}

/// The name leads to the site while the page is loaded, and to the canary afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_changes_its_address_is_refused() {
    let site = Server::start(|seen| {
        let mut page = match seen.target.as_str() {
            "/" => html(
                "<p id=p></p><script>
                fetch('/again').then(r => { p.textContent = 'status ' + r.status; })
                  .catch(() => { p.textContent = 'no answer'; });
                new WebSocket('ws://' + location.host + '/socket');</script>",
            ),
            _ => reply(200, "reached"),
        };
        page.headers_mut().insert("connection", "close".parse().unwrap());
        page
    })
    .await;
    let Some(canary) = Canary::at(SocketAddr::from(([127, 0, 0, 2], site.port()))).await else {
        return testkit::skip_on_this_host("127.0.0.2 cannot be used");
    };
    let script = Script::default().name("flip.test", &[&["127.0.0.1"], &["127.0.0.2"]]);
    let fixture = Fixture::with(&[&site.address.to_string()], script, |_| {}).await;
    let Some(fixture) = fixture else { return };
    let url = format!("http://flip.test:{}/", site.port());
    let page = fixture.render(&url).await.unwrap();
    assert!(page.html.contains("status 403"), "{}", page.html);
    fixture.browser.close().await;
    assert_eq!((site.seen().len(), canary.hits()), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_that_a_page_opens_are_closed() {
    let site = Server::start(|seen| match seen.target.as_str() {
        "/" => html("<script>for (let i = 0; i < 5; i++) open('/window?' + i)</script>opener"),
        _ => html("a window <script>setInterval(() => fetch('/alive'), 50)</script>"),
    })
    .await;
    let Some(fixture) = Fixture::new(&[&site.address.to_string()]).await else { return };
    let page = fixture.render(&site.url("/")).await.unwrap();
    assert!(page.html.contains("opener"));
    // The visit is over, and so is all that it has started.
    let count = || site.seen().iter().filter(|seen| seen.target == "/alive").count();
    let before = std::sync::Mutex::new((count(), std::time::Instant::now()));
    eventually("half a second without a request", || {
        let mut before = before.lock().unwrap();
        if before.0 != count() {
            *before = (count(), std::time::Instant::now());
        }
        before.1.elapsed().as_millis() > 500
    })
    .await;
    fixture.browser.close().await;
}

/// Private addresses need interfaces that carry them, so this test runs itself again in a network namespace.
#[test]
fn no_attempt_of_a_page_reaches_a_private_address() {
    const SCRIPT: &str = "ip link set lo up && for a in 10.77.0.1 192.168.77.1 169.254.169.254; do \
        ip address add $a/32 dev lo || exit 9; done; \
        exec \"$0\" --exact browser::guard::inside_the_namespace --ignored --nocapture";
    if !rustix::process::geteuid().is_root() {
        return testkit::skip_on_this_host("only root can make a network namespace with addresses");
    }
    let mut command = std::process::Command::new("unshare");
    command.args(["--net", "sh", "-c", SCRIPT]).arg(std::env::current_exe().unwrap());
    let Ok(output) = command.output() else { return testkit::skip_without("`unshare`") };
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if matches!(output.status.code(), Some(1 | 9)) && !said.contains("running 1 test") {
        return testkit::skip_on_this_host(format_args!("no network namespace: {said}"));
    }
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "run by the test above in a network namespace"]
async fn inside_the_namespace() {
    for (address, class) in [
        ("10.77.0.1:80", Class::Private),
        ("192.168.77.1:8080", Class::Private),
        ("169.254.169.254:80", Class::LinkLocal),
    ] {
        let address: SocketAddr = address.parse().unwrap();
        let canary = Canary::at(address).await.unwrap();
        // It answers when it is dialled.
        drop(tokio::net::TcpStream::connect(address).await.unwrap());
        eventually("the canary counts", || canary.hits() == 1).await;
        let site = site(address).await;
        let ip = address.ip().to_string();
        let script = Script::default().name("inside.test", &[&[&ip]]);
        let fixture = Fixture::with(&[&site.address.to_string()], script, |_| {}).await;
        let Some(fixture) = fixture else { return };
        let page = fixture.render(&site.url("/attempts")).await.unwrap();
        assert!(page.html.contains("; all"), "{}", page.html);
        let by_name = format!("http://inside.test:{}/", address.port());
        let by_address = format!("http://{address}/");
        for url in [site.url("/to-canary"), site.url("/refresh"), by_name, by_address] {
            let refused = fixture.render(&url).await.unwrap_err();
            let refused_for = match &refused {
                BrowserError::Refused(Refusal::Address { class, .. }) => Some(*class),
                _ => None,
            };
            assert_eq!(refused_for, Some(class), "{url}: {refused:?}");
        }
        fixture.browser.close().await;
        assert_eq!(canary.hits(), 1, "{address}");
    }
}
