//! A gateway on PostgreSQL: a second one is refused, and a restart of the server loses nothing.
#![expect(clippy::disallowed_methods, reason = "a test starts the gateway itself")]

use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use testkit::{Gateway, PostgresServer, eventually, powerstrip_binary, send};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

fn storage(url: &str) -> String {
    format!("storage:\n  database: {url}\n")
}

/// Runs `serve` with this config until it ends.
fn serve(config: &str) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("powerstrip.yaml"), config).expect("a config file");
    let mut command = Command::new(powerstrip_binary());
    command.arg("serve").current_dir(folder.path()).output().expect("the gateway runs")
}

#[tokio::test]
async fn a_second_gateway_on_the_same_database_is_refused() {
    let Some(server) = PostgresServer::start() else { return };
    let config = storage(&server.database());
    let gateway = Gateway::with().config(&config).start().await;
    let second = serve(&format!("listen: 127.0.0.1:0\n{config}"));
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(!second.status.success(), "{said}");
    assert!(said.contains("another gateway is using the database"), "{said}");
    assert_eq!(gateway.get("/readyz").await.status, 200);
}

#[test]
fn a_password_in_the_config_is_refused() {
    let refused = serve(&storage("postgres://me:geheim@127.0.0.1/x"));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("storage.database") && said.contains("{env: NAME}"), "{said}");
    assert!(!said.contains("geheim"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_of_postgresql_is_survived() {
    let Some(server) = PostgresServer::start().map(Arc::new) else { return };
    let gateway = Gateway::with().config(&storage(&server.database())).start().await;
    let echo = async || gateway.call("demo.echo", &json!({"message": "x"})).await;
    assert_eq!(echo().await.status, 200);
    for mode in ["fast", "immediate"] {
        let server = Arc::clone(&server);
        let restarted = tokio::task::spawn_blocking(move || server.restart(mode));
        while !restarted.is_finished() {
            let answer = echo().await;
            assert!(matches!(answer.status, 200 | 503), "{answer:?}");
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        restarted.await.expect("PostgreSQL restarts");
        eventually("calls work again", async || (echo().await.status == 200).then_some(())).await;
        let ready = async || (gateway.get("/readyz").await.status == 200).then_some(());
        eventually("the gateway is ready again", ready).await;
    }
}

const GATED: &str = "skills:
  asked: { tools: ['demo.echo'], auto_approve: false, approval_timeout: 60s }
";

/// Forwards connections to a server. The first one on which this statement succeeds is cut before the client learns of it.
async fn cut_after(server: String, statement: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let is_cut = Arc::new(AtomicBool::new(false));
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(&server).await.expect("the server accepts");
            tokio::spawn(forward(client, server, statement, Arc::clone(&is_cut)));
        }
    });
    port
}

async fn forward(
    mut client: TcpStream,
    mut server: TcpStream,
    statement: &str,
    is_cut: Arc<AtomicBool>,
) {
    let contains = |bytes: &[u8], text: &str| {
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    };
    let (mut sent, mut received) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut is_sent = false;
    loop {
        tokio::select! {
            Ok(count @ 1..) = client.read(&mut sent) => {
                is_sent |= contains(&sent[..count], statement);
                server.write_all(&sent[..count]).await.expect("the server reads");
            }
            Ok(count @ 1..) = server.read(&mut received) => {
                let succeeded = is_sent && contains(&received[..count], "UPDATE 1");
                if succeeded && !is_cut.swap(true, Ordering::SeqCst) {
                    return;
                }
                if client.write_all(&received[..count]).await.is_err() {
                    return;
                }
            }
            else => return,
        }
    }
}

#[tokio::test]
async fn an_approval_is_used_if_the_connection_is_lost_during_a_commit() {
    let Some(server) = PostgresServer::start() else { return };
    for statement in
        ["UPDATE approvals SET state = $2, decided_by", "UPDATE approvals SET state = 'consumed'"]
    {
        let url = server.database();
        let (address, name) =
            url.rsplit_once('@').expect("a user").1.split_once('/').expect("a database");
        let port = cut_after(address.to_owned(), statement).await;
        let config = storage(&format!("postgres://postgres@127.0.0.1:{port}/{name}"));
        let gateway = Gateway::with().config(&format!("{config}{GATED}")).start().await;
        let token = gateway.admin_token();
        let decide = async {
            let list =
                || reqwest::Client::new().get(gateway.url("/v1/approvals")).bearer_auth(&token);
            let waiting =
                async || send(list()).await.body["approvals"][0]["id"].as_str().map(str::to_owned);
            let id = eventually("a call waits", waiting).await;
            let url = gateway.url(&format!("/v1/approvals/{id}"));
            let decide = reqwest::Client::new().post(url).bearer_auth(&token);
            send(decide.json(&json!({"decision": "approve"}))).await
        };
        let message = json!({"message": "x"});
        let both = async { tokio::join!(gateway.call("demo.echo", &message), decide) };
        let both = tokio::time::timeout(Duration::from_secs(30), both).await;
        let (answer, decided) = both.expect("the call is woken long before the approval expires");
        assert_eq!(
            (answer.status, decided.status),
            (200, 200),
            "{statement}: {answer:?} {decided:?}"
        );
    }
}
