//! The pages on which an operator manages secrets, keys and servers: no one else can open or use them.

use reqwest::StatusCode;
use serde_json::json;
use testkit::{Gateway, GuardedGateway, SqliteConnection, eventually, on_postgres};

use crate::dashboard::support::{Person, gateway};

/// Each page, and the fields of a form that changes something.
const FORMS: [(&str, &[(&str, &str)]); 6] = [
    ("/dashboard/vault", &[("do", "set"), ("name", "STOLEN"), ("value", "canary")]),
    ("/dashboard/vault", &[("do", "prune")]),
    (
        "/dashboard/keys",
        &[("do", "add"), ("name", "stolen"), ("scope", "tools:call"), ("days", "0")],
    ),
    ("/dashboard/keys", &[("do", "revoke"), ("key", "ci")]),
    ("/dashboard/add-server", &[("name", "stolen"), ("program", "sh")]),
    ("/dashboard/add-server/none", &[("do", "add")]),
];

#[tokio::test]
async fn only_an_operator_manages_secrets_keys_and_servers() {
    let setup = GuardedGateway::start(gateway(), "").await;
    let scope = "tools:read tools:call metrics:read approvals:read approvals:decide runs:read \
                 audit:read servers:register files:write admin";
    let claims = json!({"org": "acme", "sub": "ann", "scope": scope});
    let ann = Person::with(&setup.gateway, &setup.token(claims)).await;
    let csrf = ann.csrf();
    for (path, fields) in FORMS {
        assert_eq!(ann.get(path).await.status, StatusCode::FORBIDDEN, "{path}");
        let fields = [&[("csrf", csrf.as_str())], fields].concat();
        assert_eq!(ann.post(path, &fields).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    let home = ann.get("/dashboard").await.text;
    assert!(!home.contains("/dashboard/vault") && !home.contains("/dashboard/keys"), "{home}");
    let operator = Person::signed_in(&setup.gateway).await;
    let home = operator.get("/dashboard").await.text;
    assert!(home.contains("/dashboard/vault") && home.contains("/dashboard/keys"), "{home}");
    let keys = operator.get("/dashboard/keys").await.text;
    assert!(!keys.contains("stolen") && !keys.contains("have no effect"), "{keys}");
}

#[tokio::test]
async fn forms_of_operators_need_their_session_and_all_their_fields() {
    let gateway = Gateway::start().await;
    let operator = Person::signed_in(&gateway).await;
    for (path, fields) in FORMS {
        let forged = operator.post(path, fields).await;
        assert_eq!(forged.status, StatusCode::FORBIDDEN, "{path}");
    }
    let csrf = operator.csrf();
    let post = async |path: &str, fields: &[(&str, &str)]| {
        operator.post(path, &[&[("csrf", csrf.as_str())], fields].concat()).await
    };
    let key: &[_] = &[("do", "add"), ("name", "ci"), ("days", "0")];
    let bare = post("/dashboard/keys", key).await;
    assert_eq!(bare.status, StatusCode::BAD_REQUEST);
    assert!(bare.text.contains("at least one scope"), "{}", bare.text);
    let made = post("/dashboard/keys", &[key, &[("scope", "tools:read")]].concat()).await;
    assert!(made.text.contains("ps_"), "{}", made.text);
    let twice = post("/dashboard/keys", &[key, &[("scope", "tools:read")]].concat()).await;
    assert!(twice.text.contains("there is a key <code>ci</code> already"), "{}", twice.text);
    let keys = operator.get("/dashboard/keys").await.text;
    assert!(keys.contains("have no effect until <code>auth:</code>"), "{keys}");
    let empty = post("/dashboard/vault", &[("do", "set"), ("name", "A"), ("value", "")]).await;
    assert_eq!(empty.status, StatusCode::BAD_REQUEST);
    let odd =
        post("/dashboard/vault", &[("do", "set"), ("name", "a b"), ("value", "canary")]).await;
    assert_eq!(odd.status, StatusCode::BAD_REQUEST);
    assert!(!odd.text.contains("canary"), "{}", odd.text);
    let listed = operator.get("/dashboard/vault").await.text;
    assert!(listed.contains("No secrets"), "{listed}");
}

/// SQLite only: there a test can write to the database.
#[tokio::test]
async fn a_damaged_key_is_shown_until_it_is_revoked() {
    if on_postgres() {
        return;
    }
    let gateway = Gateway::start().await;
    let made = gateway.run(&["keys", "add", "ci", "--json"]).await.json();
    let id = made["id"].as_str().unwrap();
    let database = gateway.folder().join(".powerstrip/powerstrip.db");
    let damage = "UPDATE access_keys SET hash = x'00'";
    let gateway =
        gateway.restart_after(|_| drop(SqliteConnection::execute(&database, damage))).await;
    let operator = Person::signed_in(&gateway).await;
    let keys = operator.get("/dashboard/keys").await.text;
    let note = format!("<code>{id}</code> is damaged: its hash cannot be read");
    assert!(keys.contains(&note), "{keys}");
    let csrf = operator.csrf();
    let fields = [("csrf", csrf.as_str()), ("do", "revoke"), ("key", id)];
    let revoked = operator.post("/dashboard/keys", &fields).await;
    assert_eq!(revoked.status, StatusCode::SEE_OTHER, "{}", revoked.text);
    let keys = operator.get("/dashboard/keys").await.text;
    assert!(!keys.contains(id), "{keys}");
}

/// SQLite only: there a test can write to the database.
#[tokio::test]
async fn damaged_calls_and_secrets_are_named_and_the_others_are_shown() {
    if on_postgres() {
        return;
    }
    let gateway = Gateway::start().await;
    for name in ["CRM_KEY", "OLD_KEY"] {
        gateway.run_with_input(&["secret", "set", name], "a value").await.ok();
    }
    let operator = Person::signed_in(&gateway).await;
    eventually("the changes are listed", || async {
        let calls = operator.get("/dashboard/calls").await.text;
        calls.contains("secret:OLD_KEY").then_some(())
    })
    .await;
    let database = gateway.folder().join(".powerstrip/powerstrip.db");
    for damage in [
        "INSERT INTO audit_rows (trace, at_ms, kind, arguments, duration_us) \
         SELECT x'00', at_ms, kind, arguments, 'long' FROM audit_rows ORDER BY seq DESC LIMIT 1",
        "UPDATE vault SET at_ms = x'00' WHERE server = 'OLD_KEY'",
    ] {
        drop(SqliteConnection::execute(&database, damage));
    }
    let calls = operator.get("/dashboard/calls").await.text;
    assert!(calls.contains("is damaged: its trace cannot be read"), "{calls}");
    assert!(calls.contains("secret:CRM_KEY"), "{calls}");
    let overview = operator.get("/dashboard").await.text;
    assert!(overview.contains("damaged and not counted: 1."), "{overview}");
    let vault = operator.get("/dashboard/vault").await.text;
    assert!(vault.contains("CRM_KEY") && vault.contains("mark bad\">damaged<"), "{vault}");
    let listed = gateway.run(&["secret", "ls"]).await;
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(listed.stdout.contains("CRM_KEY"), "{listed:?}");
    assert!(listed.stderr.contains("OLD_KEY is damaged: its at_ms"), "{listed:?}");
}

#[tokio::test]
async fn changes_of_secrets_are_no_failures_and_have_no_tool_page() {
    let gateway = Gateway::start().await;
    let operator = Person::signed_in(&gateway).await;
    let csrf = operator.csrf();
    let fields =
        [("csrf", csrf.as_str()), ("do", "set"), ("name", "OLD_KEY"), ("value", "a value")];
    assert_eq!(operator.post("/dashboard/vault", &fields).await.status, StatusCode::SEE_OTHER);
    let calls = eventually("the change is recorded", || async {
        let calls = operator.get("/dashboard/calls").await.text;
        calls.contains("secret:OLD_KEY").then_some(calls)
    })
    .await;
    assert!(calls.contains("mark quiet\">set<") && !calls.contains("mark bad"), "{calls}");
    let (before, _) = calls.split_once("secret:OLD_KEY").unwrap();
    let link = before.rsplit_once("href=\"").unwrap().1.split('"').next().unwrap();
    let page = operator.get(link).await;
    assert_eq!(page.status, StatusCode::OK, "{link}");
    assert!(!page.text.contains("/dashboard/tools/secret"), "{}", page.text);
}
