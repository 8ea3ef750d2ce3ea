//! What the dashboard shows while the database cannot be read. SQLite only: there a test can take its tables away.

use reqwest::{Client, StatusCode};
use serde_json::json;
use testkit::{SqliteConnection, eventually, on_postgres, send};

use crate::dashboard::servers::with_servers;
use crate::dashboard::support::{MAIL, Person};

/// A call that waits for a person, and a server.
const SKILLS: &str =
    "skills: { mail: { tools: ['mail.*'], auto_approve: false, approval_timeout: 60s } }\n";

#[tokio::test]
async fn data_that_cannot_be_read_is_not_shown_as_none() {
    if on_postgres() {
        return;
    }
    let gateway = with_servers().file("tools/mail.tool.yaml", MAIL).config(SKILLS).start().await;
    let person = Person::signed_in(&gateway).await;
    let url = gateway.url("/mcp/tool/mail.send");
    let call =
        tokio::spawn(async move { send(Client::new().post(url).json(&json!({"to": "b"}))).await });
    let approval = eventually("a call waits", || async {
        let listed = gateway.get("/v1/approvals").await.body;
        listed["approvals"][0]["id"].as_str().map(|id| format!("/dashboard/approvals/{id}"))
    })
    .await;
    let trace =
        send(Client::new().post(gateway.url("/mcp/tool/demo.echo")).json(&json!({"message": "a"})));
    let trace = trace.await.body["meta"]["traceId"].as_str().unwrap().to_owned();
    eventually("the call is in the trail", || async {
        let shown = person.get(&format!("/dashboard/calls/{trace}")).await;
        (shown.status == StatusCode::OK).then_some(())
    })
    .await;

    let database = gateway.folder().join(".powerstrip/powerstrip.db");
    for statement in [
        "ALTER TABLE approvals RENAME TO approvals_away",
        "ALTER TABLE runs RENAME TO runs_away",
        // The view of the audit trail, which would follow its renamed tables.
        "DROP VIEW audit",
    ] {
        drop(SqliteConnection::execute(&database, statement));
    }
    for page in ["/dashboard/approvals", &approval] {
        let page = person.get(page).await;
        assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(page.text.contains("The approvals could not be read"), "{}", page.text);
    }
    for page in ["/dashboard/runs", "/dashboard/servers/crm", &format!("/dashboard/calls/{trace}")]
    {
        let shown = person.get(page).await;
        assert_eq!(shown.status, StatusCode::SERVICE_UNAVAILABLE, "{page}: {}", shown.text);
        assert!(!shown.text.contains("Not found"), "{page}: {}", shown.text);
    }
    let overview = person.get("/dashboard").await.text;
    assert!(overview.contains("The approvals could not be read"), "{overview}");
    assert!(overview.contains("the audit trail cannot be read"), "{overview}");
    assert!(!overview.contains("No calls yet"), "{overview}");
    assert_eq!(overview.matches("class=\"number\">?<").count(), 2, "{overview}");
    assert!(overview.contains("class=\"badge\">?<"), "{overview}");
    call.abort();
}
