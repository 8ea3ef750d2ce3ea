use std::path::Path;

use serde_json::{Value, json};
use testkit::{CANARY, Gateway, ProtectedServer, eventually};

/// The client secret of the config; also a canary.
pub(crate) const SECRET: &str = "canary7f3d-client+secret";

/// A server's entry with client credentials.
pub(crate) fn client_credentials_entry(protected: &ProtectedServer, more: &str) -> String {
    format!(
        "servers:\n  crm:\n    url: '{}'\n    auth: {{ grant: client_credentials, client_id: strip, \
         client_secret: {{ env: CRM_SECRET }}, issuer: '{}'{more} }}\n",
        protected.url, protected.issuer
    )
}

pub(crate) async fn gateway(config: &str) -> Gateway {
    let builder = Gateway::with().config(config).env("CRM_SECRET", SECRET);
    builder.env("POWERSTRIP_LOG", "debug").start().await
}

/// Waits until a tool is known and calls it.
pub(crate) async fn call(gateway: &Gateway, tool: &str) -> Value {
    eventually("the tool is known", || async {
        let answer = gateway.call(tool, &json!({})).await.body;
        let error = &answer["errors"][0];
        // With a state where the server has not listed its tools yet.
        let unknown = error["code"] == json!("NOT_FOUND") || error["details"]["state"].is_string();
        (!unknown).then_some(answer)
    })
    .await
}

/// The server's last error, once it contains `part`.
pub(crate) async fn wait_for_error(gateway: &Gateway, part: &str) -> String {
    eventually(&format!("an error that says {part:?}"), || async {
        let shown = command(gateway, &["servers"]).await;
        shown[0]["lastError"].as_str().filter(|error| error.contains(part)).map(str::to_owned)
    })
    .await
}

/// Runs a command with the gateway's config; returns its output as JSON.
pub(crate) async fn command(gateway: &Gateway, arguments: &[&str]) -> Value {
    let arguments = [arguments, &["--json"]].concat();
    gateway.run_with(&arguments, &[("CRM_SECRET", SECRET)]).await.json()
}

/// Asserts that no file of the gateway contains a canary, including log and database.
pub(crate) fn assert_no_secrets(gateway: &Gateway) {
    fn search(folder: &Path) {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                search(&path);
            } else if let Ok(bytes) = std::fs::read(&path) {
                let found = bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
                assert!(!found, "{} holds a secret", path.display());
            }
        }
    }
    search(gateway.folder());
    let log = gateway.log();
    assert!(!log.contains(CANARY), "the log holds a secret: {log}");
    assert!(!log.is_empty(), "there is a log to search");
}
