use serde_json::Value;
use testkit::Gateway;

use crate::commands::owner::run;
use crate::commands::project::Project;

#[test]
fn keys_are_made_listed_and_revoked() {
    let project = Project::new();
    assert!(project.run(&["keys", "list"]).ok().contains("no keys"));
    let made = project.run(&[
        "keys",
        "add",
        "ci",
        "--scope",
        "tools:read",
        "--tenant",
        "acme",
        "--agent",
        "bot",
    ]);
    let secret = made.ok().trim();
    assert!(secret.starts_with("ps_") && !secret.contains(char::is_whitespace), "{made:?}");
    assert!(made.stderr.contains("only once"), "{made:?}");
    assert!(made.stderr.contains("the config has no agent `bot`"), "{made:?}");
    let listed = project.run(&["keys", "list", "--json"]);
    assert!(!listed.ok().contains(secret) && !listed.ok().contains("hash"), "{listed:?}");
    let listed = listed.json_of(0);
    let key = &listed[0];
    for (field, expected) in [
        ("name", "ci"),
        ("kind", "api"),
        ("tenant", "acme"),
        ("subject", "key:ci"),
        ("agent", "bot"),
    ] {
        assert_eq!(key[field], expected, "{key}");
    }
    assert_eq!(key["scopes"], serde_json::json!(["tools:read"]));
    let table = project.run(&["keys", "ls"]);
    assert!(table.ok().starts_with("NAME  ID"), "{table:?}");
    assert!(table.ok().contains("good   never  acme/key:ci as bot  tools:read"), "{table:?}");
    assert_eq!(project.run(&["keys"]).ok(), table.ok(), "`ls` may be left out");
    assert!(
        key["created_at"].as_str().unwrap().ends_with('Z') && key["used_at"].is_null(),
        "{key}"
    );

    assert!(project.run(&["keys", "add", "ci"]).failed(1).contains("revoke it first"));
    assert!(project.run(&["keys", "revoke", "ci"]).ok().contains("revoked"));
    assert!(project.run(&["keys", "revoke", "ci"]).failed(1).contains("keys list"));
    assert!(project.run(&["keys", "list"]).ok().contains("revoked"));
    let server = project
        .run(&["keys", "add", "weather", "--registration", "--expires", "90d", "--json"])
        .json_of(0);
    assert_eq!(server["kind"], "registration");
    assert_eq!(server["scopes"], serde_json::json!(["servers:register"]));
    let lifetime = |key: &Value| {
        key["expiresUnixMs"].as_u64().unwrap() - key["createdUnixMs"].as_u64().unwrap()
    };
    assert_eq!(lifetime(&server), 90 * 86_400_000);
}

#[test]
fn invalid_key_arguments_are_refused() {
    let project = Project::new();
    for (arguments, code, said) in [
        (&["keys", "add", "a b"][..], 1, "name"),
        (&["keys", "add", "x", "--scope", "a b"], 1, "scope"),
        (&["keys", "add", "x", "--scope", "tool:call"], 1, "did you mean `tools:call`?"),
        (&["keys", "add", "x", "--scope", "everything"], 1, "approvals:decide"),
        (&["keys", "add", "x", "--scope", "admin"], 1, "only the admin token has it"),
        (&["keys", "add", "x", "--tenant", ""], 1, "tenant"),
        (&["keys", "add", "x", "--expires", "soon"], 2, "90d"),
        (&["keys", "add"], 2, "NAME"),
    ] {
        assert!(project.run(arguments).failed(code).contains(said), "{arguments:?}");
    }
}

#[tokio::test]
async fn key_commands_go_through_a_running_server() {
    let gateway = Gateway::start().await;
    run(gateway.folder(), &["keys", "add", "ci"]).await.ok();
    let listed = run(gateway.folder(), &["keys", "list", "--json"]).await.json_of(0);
    assert_eq!(listed[0]["name"], "ci");
    assert!(run(gateway.folder(), &["keys", "revoke", "ci"]).await.ok().contains("revoked"));
    assert!(run(gateway.folder(), &["keys", "add", "-x"]).await.code != Some(0));
    assert_eq!(gateway.stop().await, Some(0));
}

#[test]
fn a_key_without_auth_is_said_to_have_no_effect() {
    let project = Project::new();
    let made = project.run(&["keys", "add", "laptop"]);
    made.ok();
    assert!(made.stderr.contains("no effect until `auth:`"), "{made:?}");
    project.write("powerstrip.yaml", "auth: {}\n");
    let made = project.run(&["keys", "add", "desktop"]);
    made.ok();
    assert!(!made.stderr.contains("no effect"), "{made:?}");
}
