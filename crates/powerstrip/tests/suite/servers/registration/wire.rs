//! Registration requests: accepted and refused ones, and the messages.

use serde_json::{Value, json};
use testkit::{Gateway, eventually, mcp};

use crate::servers::support::{HttpFixture, command, listed, over_http, wait_until_listed};

/// A client that sends registration requests with one token.
struct Registrar<'a> {
    gateway: &'a Gateway,
    token: String,
}

impl<'a> Registrar<'a> {
    fn of(gateway: &'a Gateway) -> Self {
        Self { gateway, token: gateway.registration_token() }
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        lease: Option<&str>,
        body: String,
    ) -> (u16, Value) {
        let method = reqwest::Method::from_bytes(method.as_bytes()).expect("a method");
        let mut request = reqwest::Client::new().request(method, self.gateway.url(path)).body(body);
        if !self.token.is_empty() {
            request = request.bearer_auth(&self.token);
        }
        if let Some(lease) = lease {
            request = request.header("powerstrip-lease", lease);
        }
        let response = request.send().await.expect("the gateway answers");
        let status = response.status().as_u16();
        let text = response.text().await.expect("the answer can be read");
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    async fn register(&self, body: Value) -> (u16, Value) {
        self.send("POST", "/v1/servers", None, body.to_string()).await
    }
}

fn announcement(name: &str, url: &str) -> Value {
    json!({"name": name, "url": url, "version": "1.0.0"})
}

const NOWHERE: &str = "http://127.0.0.1:9/mcp";

#[tokio::test]
async fn no_server_can_register_a_command() {
    let gateway = Gateway::start().await;
    let asked = Registrar::of(&gateway);
    for key in ["command", "args", "env", "cwd", "headers", "sandbox", "shared"] {
        let mut body = announcement("evil", NOWHERE);
        body[key] = json!("/bin/sh");
        let (status, answer) = asked.register(body).await;
        assert_eq!(status, 400, "{key}: {answer}");
        let message = answer["errors"][0]["message"].as_str().expect("a message");
        assert!(message.contains(&format!("unknown field `{key}`")), "{message}");
    }
    let (status, _) =
        asked.register(json!({"name": "evil", "command": "sh", "version": "1"})).await;
    assert_eq!(status, 400);
    assert_eq!(command(&gateway, &["servers"]).await, json!([]));
}

#[tokio::test]
async fn invalid_registrations_are_refused_with_a_reason() {
    let far = HttpFixture::start().await;
    let servers = format!("servers:\n{}", over_http("far", &far.url));
    let gateway = Gateway::with().config(&servers).start().await;
    let asked = Registrar::of(&gateway);
    let own = gateway.url("/mcp");
    for (name, url, status, said) in [
        ("a__b", NOWHERE, 400, "__"),
        ("a b", NOWHERE, 400, "character"),
        ("a:b", NOWHERE, 400, ":"),
        ("", NOWHERE, 400, "empty"),
        ("powerstrip", NOWHERE, 409, "reserved for the gateway"),
        ("built-in", NOWHERE, 409, "reserved for the gateway"),
        ("agentcards", NOWHERE, 409, "reserved for the gateway"),
        ("Power-Strip", NOWHERE, 409, "looks like `powerstrip`"),
        ("far", NOWHERE, 409, "config file"),
        ("FAR", NOWHERE, 409, "looks like the name of server `far`"),
        ("words", "words", 400, "url"),
        ("words", "ftp://127.0.0.1/mcp", 400, "ftp"),
        ("words", "file:///etc/passwd", 400, "file"),
        ("words", "http://me:secret@127.0.0.1:9/mcp", 400, "url"),
        ("words", "http://10.1.2.3/mcp", 400, "egress.allow"),
        ("words", "http://169.254.169.254/latest", 400, "egress.allow"),
        ("words", "http://[fd00::1]/mcp", 400, "egress.allow"),
        ("words", "http://0.0.0.0:9/mcp", 400, "url"),
        ("words", own.as_str(), 400, "url"),
    ] {
        let (got, answer) = asked.register(announcement(name, url)).await;
        let message = answer["errors"][0]["message"].as_str().unwrap_or_default();
        assert_eq!(got, status, "{name} {url}: {answer}");
        assert!(message.contains(said), "{name} {url}: {message}");
        assert!(!message.contains("secret"), "{message}");
    }
    for body in [
        json!({"name": "words", "url": NOWHERE, "version": ""}),
        json!({"name": "words", "url": NOWHERE, "version": "1\n2"}),
        json!({"name": "words", "url": NOWHERE, "version": "v".repeat(65)}),
        json!({"name": "words", "url": NOWHERE}),
        json!({"name": "words", "url": NOWHERE, "version": "1", "tools": [{}]}),
        json!({"name": "words", "url": NOWHERE, "version": "1", "tools": "all"}),
        json!(["words"]),
        json!(null),
    ] {
        let (status, answer) = asked.register(body.clone()).await;
        assert_eq!((status, &answer["ok"]), (400, &json!(false)), "{body}: {answer}");
    }
    let (status, answer) = asked.send("POST", "/v1/servers", None, "{".to_owned()).await;
    assert_eq!((status, &answer["errors"][0]["code"]), (400, &json!("INVALID_INPUT")));
    let large = "x".repeat(600 * 1024);
    let (status, _) =
        asked.register(json!({"name": "words", "url": NOWHERE, "version": large})).await;
    assert_eq!(status, 400, "a body above the limit");
    assert_eq!(asked.send("PUT", "/v1/servers/words", None, String::new()).await.0, 405);
    assert_eq!(command(&gateway, &["servers"]).await.as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn only_registration_tokens_can_register() {
    let gateway = Gateway::start().await;
    let mut asked = Registrar::of(&gateway);
    let real = asked.token.clone();
    let api = command(&gateway, &["keys", "add", "reader"]).await;
    let api = api["secret"].as_str().expect("a key").to_owned();
    for token in ["", "wrong", &real[1..], &api] {
        token.clone_into(&mut asked.token);
        for (method, path) in [
            ("POST", "/v1/servers"),
            ("POST", "/v1/servers/words/heartbeat"),
            ("DELETE", "/v1/servers/words"),
        ] {
            let body = announcement("words", NOWHERE).to_string();
            let (status, answer) = asked.send(method, path, Some("x"), body).await;
            assert_eq!(status, 401, "{method} {path} {token}: {answer}");
            assert_eq!(answer["errors"][0]["code"], json!("DENIED"), "{answer}");
        }
    }
    assert_eq!(command(&gateway, &["servers"]).await, json!([]));
}

#[tokio::test]
async fn a_name_belongs_to_the_token_that_registered_it() {
    let gateway = Gateway::start().await;
    let first = Registrar::of(&gateway);
    let key = command(&gateway, &["keys", "add", "other", "--registration"]).await;
    let other =
        Registrar { gateway: &gateway, token: key["secret"].as_str().expect("a key").to_owned() };

    let (status, lease) = first.register(announcement("words", NOWHERE)).await;
    assert_eq!(status, 201, "{lease}");
    let id = lease["leaseId"].as_str().expect("a lease");
    assert_eq!(
        (&lease["expiresInMs"], &lease["heartbeatEveryMs"]),
        (&json!(30_000), &json!(10_000))
    );

    let beat = "/v1/servers/words/heartbeat";
    assert_eq!(other.register(announcement("words", NOWHERE)).await.0, 409);
    assert_eq!(other.send("POST", beat, Some(id), String::new()).await.0, 404);
    assert_eq!(other.send("DELETE", "/v1/servers/words", Some(id), String::new()).await.0, 404);
    assert_eq!(other.register(announcement("others", NOWHERE)).await.0, 201);

    let (status, renewed) = first.send("POST", beat, Some(id), String::new()).await;
    assert_eq!((status, &renewed["leaseId"]), (200, &lease["leaseId"]));
    assert_eq!(first.send("POST", beat, None, String::new()).await.0, 400, "which lease?");
    assert_eq!(first.send("POST", beat, Some("made-up"), String::new()).await.0, 404);

    // Registering another URL with the same token moves the server and ends the first lease.
    let (status, moved) = first.register(announcement("words", "http://localhost:9/mcp")).await;
    assert_eq!((status, &moved["replicas"]), (201, &json!(1)));
    assert_eq!(first.send("POST", beat, Some(id), String::new()).await.0, 404);
    assert_eq!(first.send("DELETE", "/v1/servers/words", Some(id), String::new()).await.0, 404);
    assert_eq!(first.send("DELETE", "/v1/servers/words", None, String::new()).await.0, 204);
    let left = command(&gateway, &["servers"]).await;
    assert_eq!(left.as_array().map(Vec::len), Some(1), "{left}");

    let revoked = command(&gateway, &["keys", "revoke", "other"]).await;
    assert_eq!(other.register(announcement("others", NOWHERE)).await.0, 401, "{revoked}");
}

#[tokio::test]
async fn declared_tools_are_offered_before_the_server_is_contacted() {
    let gateway = Gateway::start().await;
    let asked = Registrar::of(&gateway);
    let mut body = announcement("words", NOWHERE);
    body["tools"] =
        json!([{"name": "count", "description": "Counts.", "inputSchema": {"type": "object"}}]);
    assert_eq!(asked.register(body).await.0, 201);
    wait_until_listed(&gateway, "words__count").await;
    let answer = gateway.call("words:count", &json!({})).await;
    assert_eq!(answer.body["errors"][0]["code"], json!("UNAVAILABLE"), "{answer:?}");
    assert_eq!(asked.send("DELETE", "/v1/servers/words", None, String::new()).await.0, 204);
    assert!(!listed(&gateway).await.contains(&"words__count".to_owned()));
}

#[tokio::test]
async fn a_configured_server_replaces_a_registered_one() {
    let far = HttpFixture::start().await;
    let gateway = Gateway::start().await;
    let asked = Registrar::of(&gateway);
    let (status, lease) = asked.register(announcement("far", &far.url)).await;
    assert_eq!(status, 201, "{lease}");
    wait_until_listed(&gateway, "far__greet").await;

    // A config change that does not name the server does not affect it.
    gateway.write("powerstrip.yaml", "listen: 127.0.0.1:0\nlimits: { timeout: 20s }\n");
    eventually("the config is reloaded", || async {
        gateway.log().contains("the config is reloaded").then_some(())
    })
    .await;
    assert!(listed(&gateway).await.contains(&"far__greet".to_owned()));
    let beat = "/v1/servers/far/heartbeat";
    let id = lease["leaseId"].as_str();
    assert_eq!(asked.send("POST", beat, id, String::new()).await.0, 200);

    let named = format!("listen: 127.0.0.1:0\nservers:\n{}", over_http("far", &far.url));
    gateway.write("powerstrip.yaml", &named);
    eventually("the lease has ended", || async {
        (asked.send("POST", beat, id, String::new()).await.0 == 404).then_some(())
    })
    .await;
    assert_eq!(asked.register(announcement("far", &far.url)).await.0, 409);
    wait_until_listed(&gateway, "far__greet").await;
}

#[tokio::test]
async fn with_auth_only_registration_keys_can_register() {
    let gateway = Gateway::with().config("auth: {}\negress: { allow: [127.0.0.1] }").start().await;
    let key = command(&gateway, &["keys", "add", "words", "--registration"]).await;
    let key = key["secret"].as_str().expect("a key").to_owned();
    assert!(
        !gateway.folder().join(".powerstrip/registration-token").exists(),
        "no token without a key"
    );
    let mut asked = Registrar { gateway: &gateway, token: key };
    let (status, lease) = asked.register(announcement("words", NOWHERE)).await;
    assert_eq!(status, 201, "{lease}");
    assert_eq!(asked.send("GET", "/v1/servers", None, String::new()).await.0, 401);
    assert_eq!(asked.send("GET", "/mcp/discover", None, String::new()).await.0, 401);
    asked.token = String::new();
    assert_eq!(asked.register(announcement("more", NOWHERE)).await.0, 401);
}

/// Behind a proxy, all requests seem to come from this machine.
#[tokio::test]
async fn with_auth_local_addresses_need_an_allow_entry() {
    let gateway = Gateway::with().config("auth: {}").start().await;
    let key = command(&gateway, &["keys", "add", "words", "--registration"]).await;
    let token = key["secret"].as_str().expect("a key").to_owned();
    let asked = Registrar { gateway: &gateway, token };
    let (status, refused) = asked.register(announcement("words", NOWHERE)).await;
    assert_eq!(status, 400, "{refused}");
}

impl<'a> Registrar<'a> {
    /// With a new registration key of this name.
    async fn with_key(gateway: &'a Gateway, name: &str) -> Self {
        let key = command(gateway, &["keys", "add", name, "--registration"]).await;
        Self { gateway, token: key["secret"].as_str().expect("a key").to_owned() }
    }

    /// The message that refuses a name that another token holds.
    async fn refused(&self, name: &str) -> String {
        let (status, answer) = self.register(announcement(name, NOWHERE)).await;
        assert_eq!((status, &answer["errors"][0]["code"]), (409, &json!("DENIED")), "{answer}");
        answer["errors"][0]["message"].as_str().expect("a message").to_owned()
    }
}

/// Agents trust a name, so another token must not get it while its server is away.
#[tokio::test]
async fn a_name_stays_with_its_token_until_the_operator_releases_it() {
    let gateway = Gateway::start().await;
    let first = Registrar::with_key(&gateway, "first").await;
    let (key, second) = (first.token.clone(), Registrar::with_key(&gateway, "second").await.token);
    assert_eq!(first.register(announcement("words", NOWHERE)).await.0, 201);
    assert_eq!(first.send("DELETE", "/v1/servers/words", None, String::new()).await.0, 204);
    let other = Registrar { gateway: &gateway, token: second.clone() };
    let said = other.refused("words").await;
    assert!(said.contains("powerstrip servers release words"), "{said}");

    let gateway = gateway.restart().await;
    let first = Registrar { gateway: &gateway, token: key };
    let other = Registrar { gateway: &gateway, token: second };
    other.refused("words").await;
    let held = json!({"name": "words", "tenant": "local", "owner": "key:first", "served": false});
    assert_eq!(command(&gateway, &["servers", "names"]).await, json!([held]));
    assert_eq!(
        first.register(announcement("words", NOWHERE)).await.0,
        201,
        "the first key still holds the name"
    );

    // Releasing the name of a registered server removes the server.
    let released = command(&gateway, &["servers", "release", "words"]).await;
    assert_eq!(released["owner"], json!("key:first"), "{released}");
    assert_eq!(command(&gateway, &["servers"]).await, json!([]));
    assert_eq!(other.register(announcement("words", NOWHERE)).await.0, 201);
    first.refused("words").await;
    let gateway = gateway.restart().await;
    let held = command(&gateway, &["servers", "names"]).await;
    assert_eq!(held[0]["owner"], json!("key:second"), "{held}");
}

#[tokio::test]
async fn a_name_stays_with_its_token_after_its_lease_expires() {
    let gateway = Gateway::with().config("registration: { lease: 1s }\n").start().await;
    let (first, other) = (Registrar::of(&gateway), Registrar::with_key(&gateway, "other").await);
    assert_eq!(first.register(announcement("words", NOWHERE)).await.0, 201);
    eventually("the lease has run out", || async {
        (command(&gateway, &["servers"]).await == json!([])).then_some(())
    })
    .await;
    other.refused("words").await;
}

/// One key cannot fill the database with new tools under new names.
#[tokio::test]
async fn registered_servers_share_a_limit_of_tools() {
    let far = HttpFixture::start().await;
    let servers = over_http("far", &far.url);
    let terms = "registration: { max_tools: 3, lease: 10m }\n";
    let config = format!("{terms}servers:\n{servers}");
    let gateway = Gateway::with().config(&config).start().await;
    let asked = Registrar::of(&gateway);
    let bringing = |name: &str, tools: [&str; 2]| {
        let schema = json!({"type": "object"});
        let tool = |name| json!({"name": name, "description": "Counts.", "inputSchema": schema});
        let mut body = announcement(name, NOWHERE);
        body["tools"] = json!(tools.map(tool));
        body
    };
    assert_eq!(asked.register(bringing("one", ["a", "b"])).await.0, 201);
    wait_until_listed(&gateway, "one__b").await;
    assert_eq!(asked.register(bringing("two", ["c", "d"])).await.0, 201);
    wait_until_listed(&gateway, "two__c").await;
    let two = eventually("the last tool is refused", || async {
        let servers = command(&gateway, &["servers"]).await;
        let two = servers.as_array()?.iter().find(|server| server["name"] == json!("two"))?.clone();
        two["faults"][0].is_object().then_some(two)
    })
    .await;
    let fault = &two["faults"][0];
    assert_eq!(fault["tool"], json!("two:d"), "{two}");
    assert!(fault["reason"].as_str().is_some_and(|why| why.contains("registration.max_tools")));
    assert!(!listed(&gateway).await.contains(&"two__d".to_owned()));
    wait_until_listed(&gateway, "far__greet").await;

    // Tools of removed servers count as well, because they stay stored; also after a restart.
    assert_eq!(asked.send("DELETE", "/v1/servers/one", None, String::new()).await.0, 204);
    let gateway = gateway.restart().await;
    let asked = Registrar::of(&gateway);
    assert_eq!(asked.register(bringing("three", ["e", "f"])).await.0, 201);
    assert_eq!(asked.register(bringing("two", ["c", "d"])).await.0, 201);
    wait_until_listed(&gateway, "two__c").await;
    let names = listed(&gateway).await;
    assert!(!names.iter().any(|name| name.starts_with("three__")), "{names:?}");
}

#[tokio::test]
async fn prompts_and_resources_leave_with_their_server() {
    let far = HttpFixture::start().await;
    let gateway = Gateway::start().await;
    let asked = Registrar::of(&gateway);
    assert_eq!(asked.register(announcement("far", &far.url)).await.0, 201);
    wait_until_listed(&gateway, "far__greet").await;
    let url = gateway.url("/mcp");
    let shown = async || {
        let mut all = String::new();
        for list in ["prompts/list", "resources/list", "resources/templates/list"] {
            all += &mcp(&url, list, json!({})).await.to_string();
        }
        all
    };
    let names = ["far__test_simple_prompt", "test://static-text", "test://template/{id}/data"];
    let before = shown().await;
    assert!(names.iter().all(|name| before.contains(name)), "{before}");
    assert_eq!(asked.send("DELETE", "/v1/servers/far", None, String::new()).await.0, 204);
    let after = shown().await;
    assert!(!names.iter().any(|name| after.contains(name)), "{after}");
    let read = mcp(&url, "resources/read", json!({"uri": "test://static-text"}));
    assert!(read.await["result"].is_null(), "resources of a removed server cannot be read");
}
