//! A gateway on PostgreSQL: a second one is refused, and a restart of the server loses nothing.
#![expect(clippy::disallowed_methods, reason = "a test starts the gateway itself")]

use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use testkit::{Gateway, PostgresServer, eventually, powerstrip_binary};

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
