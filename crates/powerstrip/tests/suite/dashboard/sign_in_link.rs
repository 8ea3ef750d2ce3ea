//! The sign-in link that `serve` prints in a terminal.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use reqwest::StatusCode;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

/// Runs a program in a terminal of its own and passes on what it prints.
const IN_TERMINAL: &str = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";

/// Starts a gateway in a terminal; returns its sign-in link.
async fn start(folder: &Path) -> (Child, String) {
    let mut child = Command::new("python3")
        .args(["-c", IN_TERMINAL])
        .arg(testkit::powerstrip_binary())
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir", "data"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("python3 runs");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let link = tokio::time::timeout(Duration::from_secs(30), async {
        while let Some(line) = lines.next_line().await.unwrap() {
            let mut words = line.split_whitespace();
            if let Some(link) = words.find(|word| word.contains("/dashboard/sign-in?code=")) {
                return link.to_owned();
            }
        }
        panic!("the gateway ended without a sign-in link");
    });
    let link = link.await.expect("a sign-in link");
    // The terminal works only as long as its output is read.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, link)
}

/// Presses Ctrl-C: the gateway would outlive a killed terminal.
async fn stop(mut gateway: Child) {
    gateway.stdin.take().unwrap().write_all(b"\x03").await.unwrap();
    tokio::time::timeout(Duration::from_secs(30), gateway.wait()).await.unwrap().unwrap();
}

#[tokio::test]
async fn the_link_in_the_terminal_signs_in_once() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, link) = start(folder.path()).await;
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let client = client.build().unwrap();

    // Neither a look ahead nor another method uses the code up.
    let early = client.get(&link).header("sec-purpose", "prefetch").send().await.unwrap();
    assert_eq!(early.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(client.head(&link).send().await.unwrap().status(), StatusCode::UNAUTHORIZED);

    let signed_in = client.get(&link).send().await.unwrap();
    assert_eq!(signed_in.status(), StatusCode::OK);
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let home = link.split("/sign-in").next().unwrap();
    let page = client.get(home).header("cookie", cookie).send().await.unwrap();
    assert_eq!(page.status(), StatusCode::OK);
    assert!(page.text().await.unwrap().contains("Settings check"));

    let again = client.get(&link).send().await.unwrap();
    assert_eq!(again.status(), StatusCode::UNAUTHORIZED, "it was used");
    assert!(again.headers().get("set-cookie").is_none());
    assert!(again.text().await.unwrap().contains("used before or has expired"));
    let reload = client.get(&link).header("cookie", cookie).send().await.unwrap();
    assert_eq!(reload.status(), StatusCode::SEE_OTHER, "a reload leads to the dashboard");
    stop(gateway).await;
}

/// Output that is not a terminal may be a log file, which keeps what it is given.
#[tokio::test]
async fn no_link_is_written_to_a_log() {
    let gateway = testkit::Gateway::start().await;
    assert!(gateway.log().contains("/dashboard"), "{}", gateway.log());
    assert!(!gateway.log().contains("code="), "{}", gateway.log());
}
