//! Calls that need approval, at every door of a real gateway.

use std::time::Duration;

use auth::sign_webhook;
use proto::Secret;
use serde_json::{Value, json};
use testkit::{
    Door, Gateway, Response, SqliteConnection, StdioSession, eventually, mcp_call, on_postgres,
    send,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::servers::peer::{LegacyPeer, Peer};
use crate::servers::support::{command, over_stdio, wait_until_listed};

/// A toolpack that counts its runs in a file.
const PACK: &str = "id: pack.note\nversion: 1.0.0\ndescription: Writes a note down.\ndeterministic: false\n\
    inputSchema: { type: object }\noutputSchema: { type: object }\n\
    execution: { kind: cli, cmd: [python3, -c, \"print('{}')\"] }\n";

const GATED: &str = "skills:
  asked: { tools: ['demo.echo', 'near:greet', 'pack.*'], auto_approve: false, approval_timeout: 60s }
agents:
  bot: { skills: [asked] }
";

pub(crate) async fn setup(more: &str) -> Gateway {
    let config = format!("servers:\n{}{GATED}{more}", over_stdio("near"));
    let setup = Gateway::with().file("tools/note.tool.yaml", PACK).config(&config);
    let gateway = setup.env("HOOK_SECRET", "a secret of the hook").start().await;
    wait_until_listed(&gateway, "near__greet").await;
    wait_until_listed(&gateway, "pack_note").await;
    gateway
}

/// A reviewer with the admin token.
pub(crate) struct Reviewer<'a> {
    pub(crate) gateway: &'a Gateway,
    token: String,
}

impl<'a> Reviewer<'a> {
    pub(crate) fn of(gateway: &'a Gateway) -> Self {
        Self { gateway, token: gateway.admin_token() }
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        send(reqwest::Client::new().get(self.gateway.url(path)).bearer_auth(&self.token)).await
    }

    /// Waits for a new pending approval.
    pub(crate) async fn waiting(&self) -> Value {
        eventually("a call waits", || async {
            self.get("/v1/approvals").await.body["approvals"].get(0).cloned()
        })
        .await
    }

    pub(crate) async fn decide(&self, id: &str, decision: &Value) -> Response {
        let url = self.gateway.url(&format!("/v1/approvals/{id}"));
        send(reqwest::Client::new().post(url).bearer_auth(&self.token).json(decision)).await
    }

    /// Decides about the next pending approval.
    pub(crate) async fn decide_next(&self, decision: &str) -> Value {
        let row = self.waiting().await;
        let words = json!({"decision": decision, "reason": "as reviewed"});
        let decided = self.decide(row["id"].as_str().unwrap(), &words).await;
        assert_eq!(decided.status, 200, "{decided:?}");
        row
    }
}

#[tokio::test]
async fn approval_is_required_at_every_door_for_every_kind_of_tool() {
    let gateway = setup("").await;
    let reviewer = Reviewer::of(&gateway);
    let mut n = 0;
    for door in Door::ALL {
        for (tool, field) in
            [("pack.note", "text"), ("demo.echo", "message"), ("near:greet", "name")]
        {
            for (decision, ok, code) in
                [("approve", true, Value::Null), ("reject", false, json!("DENIED"))]
            {
                n += 1;
                // All calls differ, so that none can use the decision of another.
                let input = json!({field: format!("call {n}")});
                let (answer, row) =
                    tokio::join!(door.call(&gateway, tool, &input), reviewer.decide_next(decision));
                assert_eq!(
                    (&answer["ok"], &answer["code"]),
                    (&json!(ok), &code),
                    "{door:?} {tool}: {answer}"
                );
                assert_eq!(row["tool"], tool);
                let shown: Value = serde_json::from_str(row["shown"].as_str().unwrap()).unwrap();
                assert_eq!(shown, input, "{door:?} {tool}");
            }
        }
    }
    // An agent's endpoint, and the tool that calls other tools.
    let url = gateway.url("/agents/bot/mcp/tool/demo.echo");
    let call = send(reqwest::Client::new().post(url).json(&json!({"message": "as a bot"})));
    let (answer, row) = tokio::join!(call, reviewer.decide_next("reject"));
    assert_eq!((answer.status, &row["agent"]), (403, &json!("bot")), "{answer:?}");
    let words = answer.body["errors"][0]["message"].as_str().unwrap();
    assert!(words.contains("as reviewed"), "the reviewer's words: {words}");
    let input = json!({"id": "demo.echo", "arguments": {"message": "passed on"}});
    let call = gateway.call("powerstrip:call_tool", &input);
    let (answer, row) = tokio::join!(call, reviewer.decide_next("reject"));
    assert_eq!((answer.status, &row["tool"]), (403, &json!("demo.echo")), "{answer:?}");
    let batch = json!({"calls": [{"tool": "demo.echo", "arguments": {"message": "in a batch"}}]});
    let call = send(reqwest::Client::new().post(gateway.url("/v1/calls")).json(&batch));
    let (answer, row) = tokio::join!(call, reviewer.decide_next("reject"));
    assert_eq!(row["tool"], "demo.echo");
    assert!(answer.body.to_string().contains("DENIED"), "{answer:?}");
    let url = gateway.url("/agents/bot/mcp");
    let call = mcp_call(&url, "pack_note", json!({"text": "by MCP"}));
    let (answer, _) = tokio::join!(call, reviewer.decide_next("reject"));
    assert_eq!(answer["isError"], true, "{answer}");
    assert!(answer.to_string().contains("DENIED"), "{answer}");
    let mut stdio = StdioSession::start_with(&gateway, &["--agent", "bot"]);
    stdio.mcp_initialize().await;
    let params = json!({"name": "pack_note", "arguments": {"text": "by stdio"}});
    let (answer, row) =
        tokio::join!(stdio.mcp("tools/call", &params), reviewer.decide_next("approve"));
    assert_eq!(
        (&answer["result"]["isError"], &row["agent"]),
        (&json!(false), &json!("bot")),
        "{answer}"
    );
}

#[tokio::test]
async fn only_the_operator_decides_where_callers_are_the_local_user() {
    let gateway = setup("").await;
    let reviewer = Reviewer::of(&gateway);
    let call = tokio::spawn({
        let url = gateway.url("/mcp/tool/pack.note");
        async move { send(reqwest::Client::new().post(url).json(&json!({"text": "x"}))).await }
    });
    let row = reviewer.waiting().await;
    let path = format!("/v1/approvals/{}", row["id"].as_str().unwrap());
    let post = |token: Option<&str>| {
        let request = reqwest::Client::new().post(gateway.url(&path));
        let request = match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        send(request.json(&json!({"decision": "approve"})))
    };
    assert_eq!(post(None).await.status, 403, "a local agent acts as the local user");
    assert_eq!(post(Some("psa_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")).await.status, 401);
    assert_eq!(post(Some("whatever")).await.status, 403);
    assert_eq!(gateway.get(&path).await.status, 200, "reading is allowed");
    let foreign = reqwest::Client::new().post(gateway.url(&path)).bearer_auth(&reviewer.token);
    let foreign =
        foreign.header("origin", "https://evil.example").json(&json!({"decision": "approve"}));
    assert_eq!(send(foreign).await.status, 403, "a page of another site cannot decide");
    for bad in [json!({}), json!({"decision": "maybe"}), json!({"decision": "approve", "more": 1})]
    {
        assert_eq!(reviewer.decide(row["id"].as_str().unwrap(), &bad).await.status, 400, "{bad}");
    }
    assert_eq!(reviewer.decide("no-such", &json!({"decision": "approve"})).await.status, 404);
    assert!(!call.is_finished());
    let approved = post(Some(&reviewer.token)).await;
    assert_eq!((approved.status, &approved.body["decidedBy"]), (200, &json!("admin")));
    assert_eq!(call.await.unwrap().status, 200);
    let late = post(Some(&reviewer.token)).await;
    assert_eq!(
        (late.status, &late.body["errors"][0]["details"]["state"]),
        (409, &json!("consumed"))
    );
}

#[tokio::test]
async fn pending_approvals_survive_a_restart_and_the_repeated_call_uses_them() {
    let gateway = setup("").await;
    let input = json!({"text": "before"});
    let row = {
        let reviewer = Reviewer::of(&gateway);
        let call = gateway.call("pack.note", &input);
        tokio::select! {
            answer = call => panic!("the call did not wait for approval: {answer:?}"),
            row = reviewer.waiting() => row,
        }
    };
    let gateway = gateway.restart().await;
    wait_until_listed(&gateway, "pack_note").await;
    let reviewer = Reviewer::of(&gateway);
    assert_eq!(reviewer.waiting().await["id"], row["id"]);
    let decided =
        reviewer.decide(row["id"].as_str().unwrap(), &json!({"decision": "approve"})).await;
    assert_eq!(decided.status, 200, "{decided:?}");
    let answer = gateway.call("pack.note", &input).await;
    assert_eq!(answer.status, 200, "the next identical call uses the approval: {answer:?}");
    let path = format!("/v1/approvals/{}", row["id"].as_str().unwrap());
    assert_eq!(reviewer.get(&path).await.body["state"], "consumed");
    let again = gateway.call("pack.note", &input);
    let (answer, _) = tokio::join!(again, reviewer.decide_next("reject"));
    assert_eq!(answer.status, 403, "single use: {answer:?}");
}

#[tokio::test]
async fn shutdown_releases_waiting_callers_and_keeps_their_approvals() {
    let gateway = setup("").await;
    let url = gateway.url("/mcp/tool/pack.note");
    let call = tokio::spawn(async move {
        send(reqwest::Client::new().post(url).json(&json!({"text": "x"}))).await
    });
    Reviewer::of(&gateway).waiting().await;
    let began = std::time::Instant::now();
    let gateway = gateway.restart().await;
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!(call.await.unwrap().body["errors"][0]["code"], "UNAVAILABLE");
    Reviewer::of(&gateway).waiting().await;
}

#[tokio::test]
async fn a_waiting_client_is_notified_with_the_approval_link() {
    let gateway = setup("").await;
    let reviewer = Reviewer::of(&gateway);
    let mut peer = Peer::modern(&gateway);
    let mut call = peer.begin("pack_note", json!({"text": "x"}), json!({"progressToken": 7})).await;
    let notice = call.next("notifications/progress").await;
    let row = reviewer.decide_next("approve").await;
    let message = notice["params"]["message"].as_str().unwrap();
    assert!(
        message.contains("pack.note") && message.contains(row["id"].as_str().unwrap()),
        "{message}"
    );
    assert!(message.contains("/dashboard/approvals/"), "{message}");
    let answer = call.answer().await;
    assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
}

fn accepts(decision: &str) -> Value {
    json!({"action": "accept", "content": {"decision": decision, "reason": "by elicitation"}})
}

#[tokio::test]
async fn a_modern_client_asks_its_user_and_repeats_the_call() {
    let gateway = setup("").await;
    let reviewer = Reviewer::of(&gateway);
    let mut peer = Peer::modern(&gateway);
    peer.capabilities = json!({"elicitation": {}});
    let input = json!({"text": "<b>\u{202e}x"});
    for (answer, ok) in [
        (accepts("approve"), true),
        (accepts("reject"), false),
        (accepts("hm"), false),
        (json!({"action": "decline"}), false),
    ] {
        let asked = peer.call("pack_note", input.clone(), json!({})).await.answer;
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        let question = &asked["result"]["inputRequests"]["powerstrip.approval"];
        let message = question["params"]["message"].as_str().unwrap();
        assert!(message.contains("\\u202e") && !message.contains('\u{202e}'), "{message}");
        let responses = json!({"powerstrip.approval": answer});
        let params = json!({"name": "pack_note", "arguments": input, "inputResponses": responses});
        let done = peer.ask("tools/call", params).await.answer;
        assert_eq!(done["result"]["isError"] == json!(false), ok, "{done}");
        assert_eq!(reviewer.get("/v1/approvals").await.body["approvals"], json!([]));
    }
    // The user closes the dialog: the approval stays pending, and the user is not asked again.
    peer.call("pack_note", json!({"text": "closed"}), json!({})).await;
    let responses = json!({"powerstrip.approval": {"action": "cancel"}});
    let params =
        json!({"name": "pack_note", "arguments": {"text": "closed"}, "inputResponses": responses});
    let (done, _) = tokio::join!(peer.ask("tools/call", params), reviewer.decide_next("approve"));
    assert_eq!(done.answer["result"]["isError"], json!(false), "{done:?}");
    // An answer to a question that was never asked is ignored.
    let responses = json!({"powerstrip.approval": accepts("approve")});
    let params =
        json!({"name": "pack_note", "arguments": {"text": "unasked"}, "inputResponses": responses});
    let unasked = peer.ask("tools/call", params).await.answer;
    assert_eq!(unasked["result"]["resultType"], "input_required", "{unasked}");
}

#[tokio::test]
async fn a_legacy_client_asks_its_user_and_the_first_decision_wins() {
    let gateway = setup("").await;
    let reviewer = Reviewer::of(&gateway);
    let peer = LegacyPeer::open(&gateway, json!({"elicitation": {}})).await;
    let (asked, answer) =
        peer.call("pack_note", json!({"text": "1"}), |_| accepts("approve")).await;
    assert_eq!((asked, &answer["result"]["isError"]), (1, &json!(false)), "{answer}");
    let (asked, answer) = peer.call("pack_note", json!({"text": "2"}), |_| accepts("reject")).await;
    assert_eq!((asked, &answer["result"]["isError"]), (1, &json!(true)), "{answer}");
    assert!(answer.to_string().contains("by elicitation"), "{answer}");
    // The reviewer waits until the user was asked; an earlier decision would prevent the question.
    let seen = tokio::sync::Notify::new();
    let cancel = |_: &Value| (seen.notify_one(), json!({"action": "cancel"})).1;
    let cancels = peer.call("pack_note", json!({"text": "3"}), cancel);
    let decides = async { (seen.notified().await, reviewer.decide_next("reject").await) };
    let ((asked, answer), _) = tokio::join!(cancels, decides);
    assert_eq!((asked, &answer["result"]["isError"]), (1, &json!(true)), "{answer}");
}

#[tokio::test]
async fn elicitation_of_approvals_can_be_turned_off() {
    let gateway = setup("approvals: { elicitation: off }\n").await;
    let reviewer = Reviewer::of(&gateway);
    let peer = LegacyPeer::open(&gateway, json!({"elicitation": {}})).await;
    let call = peer.call("pack_note", json!({"text": "1"}), |_| accepts("approve"));
    let ((asked, answer), _) = tokio::join!(call, reviewer.decide_next("reject"));
    assert_eq!((asked, &answer["result"]["isError"]), (0, &json!(true)), "{answer}");
}

/// Arguments that try to hide, to control a terminal, and to be too long for it.
fn hostile() -> Value {
    json!({
        "text": "pay\u{202e}moc.live\u{2066}",
        "ansi": "\u{1b}[2J\u{1b}]0;gone\u{7}\u{9b}31m",
        "hidden": "a\u{200b}b\u{e0041}c\u{2028}d",
        "page": "</pre><script>alert(1)</script><form action=//evil.example>",
        "big": "x".repeat(63 * 1024),
    })
}

fn unsafe_character(shown: &str) -> Option<char> {
    let hides = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}');
    shown.chars().find(|c| (c.is_control() && *c != '\n') || hides(*c))
}

#[tokio::test]
async fn approvals_command_shows_hostile_arguments_inert_and_decides() {
    let gateway = setup("").await;
    let reviewer = Reviewer::of(&gateway);
    let (url, input, sent) = (gateway.url("/mcp/tool/pack.note"), hostile(), hostile());
    let call =
        tokio::spawn(async move { send(reqwest::Client::new().post(url).json(&sent)).await });
    let id = reviewer.waiting().await["id"].as_str().unwrap().to_owned();
    let show = async |arguments: &[&str]| {
        gateway.run(&[&["approvals"], arguments].concat()).await.ok().to_owned()
    };
    let listed = show(&["ls"]).await;
    assert!(listed.contains(&id) && listed.contains("pack.note"), "{listed}");
    assert_eq!(unsafe_character(&listed), None);
    let shown = show(&["show", &id[..8]]).await;
    assert_eq!(unsafe_character(&shown), None);
    let at = shown.find("\n{").expect("the arguments");
    let whole: Value = serde_json::from_str(&shown[at..]).expect("the arguments, whole");
    assert_eq!(whole, input);
    let decided =
        command(&gateway, &["approvals", "reject", &id, "--reason", "hides things"]).await;
    assert_eq!((&decided["state"], &decided["decidedVia"]), (&json!("rejected"), &json!("cli")));
    let answer = call.await.unwrap();
    assert!(answer.body["errors"][0]["message"].as_str().unwrap().contains("hides things"));
}

#[tokio::test]
async fn standing_rules_are_made_listed_and_removed_by_commands() {
    let gateway = setup("").await;
    let input = json!({"text": "often"});
    let call = gateway.call("pack.note", &input);
    let (answer, ()) = tokio::join!(call, async {
        let id = Reviewer::of(&gateway).waiting().await["id"].as_str().unwrap().to_owned();
        command(&gateway, &["approvals", "approve", &id, "--standing", "--for", "1h"]).await;
    });
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(gateway.call("pack.note", &json!({"text": "often"})).await.status, 200, "unasked");
    let rules = command(&gateway, &["approvals", "rules"]).await;
    assert_eq!((rules[0]["uses"].as_u64(), &rules[0]["createdBy"]), (Some(1), &json!("operator")));
    command(&gateway, &["approvals", "rules", "rm", rules[0]["id"].as_str().unwrap()]).await;
    let reviewer = Reviewer::of(&gateway);
    let again = gateway.call("pack.note", &input);
    let (answer, _) = tokio::join!(again, reviewer.decide_next("reject"));
    assert_eq!(answer.status, 403, "{answer:?}");
}

#[tokio::test]
async fn events_report_new_approvals_and_decisions() {
    let gateway = setup("").await;
    let reviewer = Reviewer::of(&gateway);
    let url = gateway.url("/v1/approvals/events");
    let mut stream =
        reqwest::Client::new().get(url).bearer_auth(&reviewer.token).send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let mut text = String::from_utf8(stream.chunk().await.unwrap().unwrap().to_vec()).unwrap();
    let input = json!({"text": "x"});
    let call = gateway.call("pack.note", &input);
    let (answer, row) = tokio::join!(call, reviewer.decide_next("approve"));
    assert_eq!(answer.status, 200);
    let line = |event: &str| format!("event: {event}\nid: {}\n", row["id"].as_str().unwrap());
    while !["decided", "consumed"].iter().all(|event| text.contains(&line(event))) {
        text.push_str(&String::from_utf8_lossy(&stream.chunk().await.unwrap().unwrap()));
    }
    let at = |event: &str| text.find(&line(event));
    let (created, decided, consumed) = (at("created"), at("decided"), at("consumed"));
    assert!(created.is_some() && created < decided && decided.is_some(), "{text}");
    assert!(created < consumed, "{text}");
}

/// Reads one HTTP request and answers it; returns head and body.
async fn receive_webhook(listener: &TcpListener) -> (String, String) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut bytes = Vec::new();
    loop {
        let mut some = [0; 65_536];
        let count = stream.read(&mut some).await.unwrap();
        assert!(count > 0, "the request broke off");
        bytes.extend_from_slice(&some[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>())
        });
        if body.len() >= length.unwrap().unwrap() {
            stream
                .write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
                .await
                .unwrap();
            return (head.to_owned(), body.to_owned());
        }
    }
}

#[tokio::test]
async fn webhook_links_are_signed_show_the_call_and_decide_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hook = listener.local_addr().unwrap();
    let gateway = setup(&format!(
        "egress: {{ allow: ['{hook}'] }}\napprovals: {{ webhook: {{ url: 'http://{hook}/hook', secret: {{ env: HOOK_SECRET }} }} }}\n"
    ))
    .await;
    let (url, input, sent) = (gateway.url("/mcp/tool/pack.note"), hostile(), hostile());
    let call =
        tokio::spawn(async move { send(reqwest::Client::new().post(url).json(&sent)).await });
    let (head, body) = receive_webhook(&listener).await;
    let signature =
        head.lines().find_map(|line| line.strip_prefix("powerstrip-signature: ")).unwrap();
    let (at, sum) = signature.strip_prefix("t=").unwrap().split_once(",v1=").unwrap();
    let secret = Secret::new("a secret of the hook");
    assert_eq!(sum, sign_webhook(&secret, at.parse().unwrap(), body.as_bytes()));
    let message: Value = serde_json::from_str(&body).unwrap();
    let (approve, reject) = (
        message["links"]["approve"].as_str().unwrap(),
        message["links"]["reject"].as_str().unwrap(),
    );

    // Link previews that open a link do not decide.
    for link in [approve, reject, approve] {
        let page = reqwest::get(link).await.unwrap();
        let policy = page.headers()["content-security-policy"].to_str().unwrap();
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        let text = page.text().await.unwrap();
        assert_eq!(unsafe_character(&text), None, "the text is shown inert");
        assert!(!text.contains("<script") && text.matches("<form").count() == 1, "one form, ours");
        let pre = text.split("<pre dir=\"ltr\">").nth(1).unwrap().split("</pre>").next().unwrap();
        let plain = pre.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        let plain = plain.replace("&#39;", "'").replace("&amp;", "&");
        assert_eq!(serde_json::from_str::<Value>(&plain).unwrap(), input, "whole");
    }
    assert!(!call.is_finished());
    for forged in
        [approve.replace(".approve.", ".reject."), format!("{approve}x"), gateway.url("/approve/x")]
    {
        let refused = send(reqwest::Client::new().post(forged)).await;
        assert_eq!(refused.status, 404, "{refused:?}");
    }
    let foreign = reqwest::Client::new().post(approve).header("origin", "https://evil.example");
    assert_eq!(send(foreign).await.status, 403, "a form of another site cannot decide");
    let form = |link: &str, body: &'static str| {
        let request = reqwest::Client::new().post(link);
        send(request.header("content-type", "application/x-www-form-urlencoded").body(body))
    };
    assert_eq!(form(reject, "reason=not+by+mail").await.status, 200);
    let answer = call.await.unwrap();
    assert_eq!(answer.status, 403);
    let why = answer.body["errors"][0]["message"].as_str().unwrap();
    assert!(why.contains("not by mail"), "{answer:?}");
    assert_eq!(form(approve, "").await.status, 409, "decided once");
    assert_eq!(form(reject, "").await.status, 409);
    if !on_postgres() {
        let database = gateway.folder().join(".powerstrip/powerstrip.db");
        let rename = "ALTER TABLE approvals RENAME TO approvals_away";
        drop(SqliteConnection::execute(&database, rename));
        let away = send(reqwest::Client::new().get(approve)).await;
        assert_eq!(away.status, 503, "the link itself is good: {away:?}");
        assert!(gateway.log().contains("the approval of a link cannot be read"));
    }
}
