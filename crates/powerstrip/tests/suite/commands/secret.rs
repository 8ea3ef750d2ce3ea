//! Secrets: a missing one stops only what needs it, and no value is shown.

use testkit::{Gateway, eventually};

use crate::commands::project::Project;

const CANARY: &str = "c4nary-0123456789";

/// A server that lists one tool and echoes a digest of its variable.
const SERVER: &str = r#"
import hashlib, json, os, sys
def say(id, result):
    print(json.dumps({'jsonrpc': '2.0', 'id': id, 'result': result}), flush=True)
for line in sys.stdin:
    ask = json.loads(line)
    if 'id' not in ask:
        continue
    if ask['method'] == 'server/discover':
        say(ask['id'], {'resultType': 'complete', 'supportedVersions': ['2026-07-28'], 'capabilities': {'tools': {}}, 'ttlMs': 0, 'cacheScope': 'private', '_meta': {'io.modelcontextprotocol/serverInfo': {'name': 's', 'version': '1'}}})
    elif ask['method'] == 'tools/list':
        say(ask['id'], {'tools': [{'name': 'key', 'description': 'Says its key.', 'inputSchema': {'type': 'object'}}], 'resultType': 'complete'})
    else:
        data = {'digest': hashlib.sha256(os.environ.get('KEY', '').encode()).hexdigest()}
        say(ask['id'], {'content': [{'type': 'text', 'text': json.dumps(data)}], 'structuredContent': data, 'resultType': 'complete'})
"#;

fn digest(value: &str) -> String {
    let text = proto::digest(value.as_bytes()).to_string();
    text.rsplit(':').next().unwrap().to_owned()
}

const ONE_MISSING: &str = "servers:\n  \
    crm: { command: python3, args: [server.py], env: { KEY: { env: CRM_KEY_OF_TEST } } }\n  \
    good: { command: python3, args: [server.py] }\n";

#[test]
fn one_unset_secret_stops_no_command() {
    let project = Project::new();
    project.write("powerstrip.yaml", ONE_MISSING).write("server.py", SERVER);
    let tools = project.run(&["tools"]);
    assert!(tools.ok().contains("good:key") && !tools.stdout.contains("crm:key"), "{tools:?}");
    project.run(&["call", "good:key"]).ok();
    let refused = project.run(&["call", "crm:key"]);
    let said = format!("{}{}", refused.stdout, refused.stderr);
    assert!(refused.code == Some(1) && said.contains("UNAVAILABLE"), "{refused:?}");
    assert!(said.contains("`CRM_KEY_OF_TEST` is not set"), "{said}");
    let servers = project.run(&["servers", "--json"]).json_of(0);
    let servers = servers.as_array().or_else(|| servers["servers"].as_array()).unwrap().clone();
    let crm = servers.iter().find(|server| server["name"] == "crm").unwrap();
    assert_eq!(crm["state"], "needs_secret", "{crm}");
    assert!(crm["reason"].as_str().unwrap().contains(".env"), "{crm}");
    let checked = project.run(&["check", "--strict"]);
    assert!(checked.ok().contains("advice: servers.crm.env.KEY: "), "{checked:?}");
    project.run(&["config", "show"]).ok();
    project.run(&["doctor"]).ok();
    // The `.env` file next to the config provides it.
    project.write(".env", &format!("CRM_KEY_OF_TEST='{CANARY}'\n"));
    let called = project.run(&["call", "crm:key"]);
    assert!(called.ok().contains(&digest(CANARY)), "{called:?}");
}

#[tokio::test]
async fn a_gateway_starts_without_a_secret_and_takes_it_without_a_restart() {
    let config = format!(
        "{ONE_MISSING}  own: {{ command: python3, args: [server.py], env: {{ KEY: {{ secret: own }} }} }}\n"
    );
    let gateway = Gateway::with().config(&config).file("server.py", SERVER).start().await;
    let log = gateway.log();
    assert!(log.contains("servers.own.env.KEY: the vault has no secret `own`"), "{log}");
    assert!(log.contains("`powerstrip secret set own`"), "{log}");
    eventually("the good server is there", || async {
        let found = gateway.get("/mcp/discover").await.body.to_string();
        found.contains("good:key").then_some(())
    })
    .await;
    let stored = gateway.run_with_input(&["secret", "set", "own"], &format!("{CANARY}\n")).await;
    assert_eq!(stored.ok().trim(), "own is stored");
    let used = eventually("the server has its secret", || async {
        let answer = gateway.call("own:key", &serde_json::json!({})).await;
        answer.body["data"]["digest"].as_str().map(str::to_owned)
    })
    .await;
    assert_eq!(used, digest(CANARY));
    gateway.write(".env", &format!("CRM_KEY_OF_TEST={CANARY}\n"));
    eventually("the .env file is read", || async {
        let answer = gateway.call("crm:key", &serde_json::json!({})).await;
        (answer.body["data"]["digest"] == digest(CANARY)).then_some(())
    })
    .await;
    let listed = gateway.run(&["secret", "ls"]).await;
    assert!(listed.ok().contains("own") && !listed.stdout.contains(CANARY), "{listed:?}");
    gateway.run(&["secret", "rm", "own"]).await.ok();
    eventually("the server is off again", || async {
        let servers = gateway.run(&["servers", "--json"]).await.stdout;
        servers.contains("`powerstrip secret set own`").then_some(())
    })
    .await;
    let log = gateway.log();
    assert!(!log.contains(CANARY), "{log}");
    let ignored = std::fs::read_to_string(gateway.folder().join(".powerstrip/.gitignore"));
    assert_eq!(ignored.unwrap(), "*\n");
}

#[test]
fn a_missing_secret_of_auth_is_refused_at_start() {
    let project = Project::new();
    project.write(
        "powerstrip.yaml",
        "listen: 127.0.0.1:0\nauth:\n  issuer: https://id.example\n  sign_in: { client_id: a, client_secret: { secret: oidc } }\n",
    );
    let ended = project.run(&["serve"]);
    let said = ended.failed(2);
    assert!(said.contains("auth.sign_in.client_secret: the vault has no secret `oidc`"), "{said}");
    assert!(said.contains("`powerstrip secret set oidc`"), "{said}");
    project.run(&["tools"]).ok();
}

#[test]
fn secrets_are_stored_listed_and_removed_without_a_gateway() {
    let project = Project::new();
    project.write(
        "powerstrip.yaml",
        "servers: { a: { command: x, disabled: true, env: { K: { secret: b } } } }\n",
    );
    project.run_with(&["secret", "set", "a"], CANARY, &[]).ok();
    let listed = project.run(&["secret", "ls", "--json"]);
    let rows = listed.json_of(0);
    assert_eq!((rows[0]["name"].as_str(), rows[0]["used"].as_bool()), (Some("a"), Some(false)));
    assert_eq!((rows[1]["name"].as_str(), rows[1]["used"].as_bool()), (Some("b"), Some(true)));
    assert!(rows[0]["stored_at"].is_string() && rows[1]["stored_unix_ms"].is_null(), "{rows}");
    assert!(!listed.stdout.contains(CANARY));
    project.run(&["secret", "rm", "a"]).ok();
    assert!(project.run(&["secret", "rm", "a"]).failed(1).contains("there is no secret `a`"));
    assert!(project.run(&["secret", "set", "a"]).failed(2).contains("the value is empty"));
    let bad = project.run_with(&["secret", "set", "a b"], CANARY, &[]);
    assert!(bad.failed(1).contains("is not the name of a secret"), "{bad:?}");
    // A value is never an argument, which other processes could read.
    project.run(&["secret", "set", "a", CANARY]).failed(2);
    let own = project.run_with(&["secret", "set", "--mine", "a"], CANARY, &[]);
    assert!(own.failed(1).contains("no server asks for a personal secret `a`"), "{own:?}");
}

#[test]
fn literal_variables_are_warned_about_and_literal_secrets_masked() {
    let project = Project::new();
    project.write(
        "powerstrip.yaml",
        &format!(
            "servers:\n  a: {{ command: x, disabled: true, env: {{ K: '${{TOKEN}}', API_KEY: {CANARY}, LOG_LEVEL: debug }} }}\n  \
             b: {{ url: 'https://x.example/mcp?token={CANARY}', disabled: true, headers: {{ Authorization: 'Bearer {CANARY}' }} }}\n"
        ),
    );
    let checked = project.run(&["check"]);
    let said = checked.ok();
    assert!(said.contains("powerstrip.yaml:2: warning: servers.a.env.K: "), "{said}");
    assert!(said.contains("write `{env: TOKEN}`"), "{said}");
    for shown in [&["config", "show"][..], &["config", "show", "--json"]] {
        let shown = project.run(shown);
        assert!(!shown.ok().contains(CANARY), "{shown:?}");
        assert!(shown.stdout.contains("debug") && shown.stdout.contains("****"), "{shown:?}");
    }
}
