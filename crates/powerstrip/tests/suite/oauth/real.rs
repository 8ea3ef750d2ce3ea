//! A real authorization server, `oidc-provider`, with tokens that are signed for one resource.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{Browser, Gateway, eventually};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::oauth::support::{SECRET, assert_no_secrets, call, command};

const VERSION: &str = "9.13.3";

/// The provider and a protected MCP server.
struct Provider {
    _child: Child,
    /// Kept open: the program ends when it cannot print.
    _stdout: Lines<BufReader<ChildStdout>>,
    folder: tempfile::TempDir,
    issuer: String,
    url: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Node and the modules that `scripts/test` installs.
async fn tools() -> Option<(String, String)> {
    let script = format!(
        "source tests/clients/tools.sh; node=$(node_22) && modules=$(npm_tool oidc-provider {VERSION}) && echo \"$node\" && echo \"$modules\""
    );
    let output = Command::new("bash").args(["-c", &script]).current_dir(root()).output().await;
    let text = String::from_utf8(output.ok()?.stdout).ok()?;
    let mut lines = text.lines().map(str::to_owned);
    Some((lines.next()?, lines.next()?))
}

impl Provider {
    async fn start() -> Option<Self> {
        let Some((node, modules)) = tools().await else {
            testkit::skip_without(format_args!(
                "oidc-provider {VERSION}, a real authorization server"
            ));
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let mut child = Command::new(node)
            .arg(root().join("crates/powerstrip/tests/suite/oauth/provider.mjs"))
            .args([&modules, folder.path().join("key.pem").to_str().expect("a path"), SECRET])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("node starts");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let line = lines.next_line().await.expect("a line").expect("the provider says where it is");
        let started: Value = serde_json::from_str(&line).expect("JSON");
        let text = |key: &str| started[key].as_str().expect("a URL").to_owned();
        Some(Self {
            _child: child,
            _stdout: lines,
            folder,
            issuer: text("issuer"),
            url: text("url"),
        })
    }

    async fn gateway(&self, auth: &str) -> Gateway {
        let config = format!(
            "servers:\n  crm:\n    url: '{}'\n    auth: {{ issuer: '{}', {auth} }}\n",
            self.url, self.issuer
        );
        let builder = Gateway::with().config(&config).env("CRM_SECRET", SECRET);
        builder.env("POWERSTRIP_LOG", "debug").start().await
    }
}

#[tokio::test]
async fn client_credentials_work_with_a_secret_and_with_a_key() {
    let Some(provider) = Provider::start().await else { return };
    let key = provider.folder.path().join("key.pem");
    let keyed = format!(
        "grant: client_credentials, client_id: keyed, key_id: k1, private_key: {{ file: '{}' }}",
        key.display()
    );
    let secret = "grant: client_credentials, client_id: strip, client_secret: { env: CRM_SECRET }";
    for (client, auth) in [("strip", secret), ("keyed", &keyed)] {
        let gateway = provider.gateway(auth).await;
        let answer = call(&gateway, "crm:whoami").await;
        assert_eq!(answer["data"]["client"], json!(client), "{answer}");
        assert_eq!(answer["data"]["aud"], json!(provider.url), "for this resource alone");
        assert_eq!(answer["data"]["scopes"], json!(["read"]), "no more than was asked for");
        let answer = call(&gateway, "crm:admin").await;
        let scopes = answer["data"]["scopes"].as_array().map_or(0, Vec::len);
        assert_eq!(scopes, 2, "the union of both: {answer}");
        assert_no_secrets(&gateway);
    }
}

#[tokio::test]
async fn a_user_logs_in_after_registration_and_the_token_is_refreshed() {
    let Some(provider) = Provider::start().await else { return };
    let gateway = provider.gateway("scopes: [read]").await;
    let link = command(&gateway, &["login", "crm"]).await["login"].as_str().map(str::to_owned);
    let mut browser = Browser::default();
    let page = browser.log_in(&link.expect("a link")).await;
    assert_eq!(page.status, 200, "{page:?}");
    let first = call(&gateway, "crm:whoami").await;
    assert_eq!(first["data"]["sub"], json!("ada"), "{first}");
    assert_eq!(first["data"]["aud"], json!(provider.url));
    // Tokens live for ten seconds here and are renewed after eight.
    let second = eventually("another token", || async {
        let answer = call(&gateway, "crm:whoami").await;
        (answer["data"]["jti"] != first["data"]["jti"]).then_some(answer)
    })
    .await;
    assert_eq!(second["data"]["sub"], json!("ada"), "{second}");

    // A wider scope needs new consent.
    let answer = call(&gateway, "crm:admin").await;
    assert_eq!(answer["errors"][0]["code"], json!("DENIED"), "{answer}");
    let link = answer["errors"][0]["details"]["login"].as_str().expect("a link").to_owned();
    let away = browser.confirm(&link).await;
    assert!(away.contains("scope=admin+offline_access+read"), "{away}");
    assert_eq!(browser.open(&away).await.status, 200);
    assert_eq!(call(&gateway, "crm:admin").await["data"]["sub"], json!("ada"));
    assert_no_secrets(&gateway);
}
