use doors::{Needs, Route};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use testkit::{
    Gateway, GatewayBuilder, GuardedGateway, Issuer, Response, Signer, initialize_message,
    legacy_request, mcp_request_with, send,
};

/// The revisions of MCP that have sessions.
pub(crate) const LEGACY: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];

/// A tool with a different answer each time.
const DICE: &str = "id: dice.roll\nversion: 1.0.0\ndescription: Answers with a new id.\n\
    deterministic: false\ninputSchema: { type: object }\noutputSchema: { type: object }\n\
    execution: { kind: cli, cmd: [python3, -c, \"import json, uuid; print(json.dumps({'id': str(uuid.uuid4())}))\"] }\n";

/// The same tool, with required approval.
fn gated_dice() -> String {
    DICE.replace("dice.roll", "dice.gated")
}

/// Agents that a token may name; both may use all tools.
const AGENTS: &str = "skills:\n  all: { tools: ['*'] }\n\
    \x20 asked: { tools: [dice.gated], auto_approve: false, approval_timeout: 60s }\n\
    agents: { bot: { skills: [all] }, researcher: { skills: [all] } }\n";

/// A gateway and its identity provider.
pub(crate) struct Setup {
    pub(crate) gateway: Gateway,
    pub(crate) issuer: Issuer,
    pub(crate) signer: Signer,
}

impl Setup {
    pub(crate) async fn open() -> Self {
        Self::with("", |gateway| gateway).await
    }

    pub(crate) async fn with(
        more: &str,
        build: impl FnOnce(GatewayBuilder) -> GatewayBuilder,
    ) -> Self {
        let builder = Gateway::with()
            .file("tools/dice.tool.yaml", DICE)
            .file("tools/gated.tool.yaml", &gated_dice())
            .config(AGENTS);
        let GuardedGateway { gateway, issuer, signer } =
            GuardedGateway::start(build(builder), more).await;
        Self { gateway, issuer, signer }
    }

    /// A valid token with these changes to its claims.
    pub(crate) fn token(&self, changes: Value) -> String {
        self.signer.token(&self.issuer.claims(&self.gateway.url(""), changes))
    }

    pub(crate) fn caller(&self, changes: Value) -> Caller<'_> {
        Caller::new(&self.gateway, Some(self.token(changes)))
    }

    /// Every route that the running gateway serves, those of the operations table included: it lists them where there
    /// is none.
    pub(crate) async fn routes(&self) -> Vec<Route> {
        let missing = self.caller(json!({})).get("/no/such/route").await;
        let served = missing.body["errors"][0]["details"]["routes"].as_array().unwrap().clone();
        let mut written: Vec<Route> =
            doors::ROUTES.iter().chain(dashboard::ROUTES).copied().collect();
        for route in served {
            let text = |key: &str| -> &'static str {
                Box::leak(route[key].as_str().unwrap().to_owned().into_boxed_str())
            };
            let (methods, path) = (text("methods"), text("path"));
            if !written.iter().any(|known| (known.methods, known.path) == (methods, path)) {
                // Operations are for callers with a scope; each test says which.
                let (purpose, needs) = (text("purpose"), Needs::Scope("any"));
                written.push(Route { methods, pattern: path, path, purpose, needs });
            }
        }
        written
    }

    pub(crate) fn anonymous(&self) -> Caller<'_> {
        Caller::new(&self.gateway, None)
    }
}

/// A client that sends all requests with the same credential.
pub(crate) struct Caller<'a> {
    gateway: &'a Gateway,
    token: Option<String>,
    client: reqwest::Client,
}

impl<'a> Caller<'a> {
    pub(crate) fn new(gateway: &'a Gateway, token: Option<String>) -> Self {
        // No pool: the gateway closes connections whose request was refused before it was read.
        let client = reqwest::Client::builder()
            .pool_max_idle_per_host(0)
            // Redirects are part of the answer.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self { gateway, token, client }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, self.gateway.url(path));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        send(self.request(Method::GET, path)).await
    }

    pub(crate) async fn call(&self, tool: &str, input: &Value) -> Response {
        send(self.request(Method::POST, &format!("/mcp/tool/{tool}")).json(input)).await
    }

    /// Sends a message of a revision before 2026-07-28, in a session or to open one.
    pub(crate) async fn legacy(&self, version: &str, session: &str, message: &Value) -> Response {
        let post = self.request(Method::POST, "/mcp");
        send(legacy_request(post, version, session, message)).await
    }

    /// Opens a session.
    pub(crate) async fn session(&self, version: &str) -> String {
        let greeted = self.legacy(version, "", &initialize_message(version, json!({}))).await;
        assert_eq!(greeted.status, 200, "{greeted:?}");
        let session = greeted.headers["mcp-session-id"].to_str().unwrap().to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.legacy(version, &session, &ready).await.status, 202);
        session
    }

    /// Calls a tool as a client that supports elicitation.
    pub(crate) async fn call_with_elicitation(&self, tool: &str) -> Response {
        let params = json!({"name": tool, "arguments": {}});
        self.modern_with("tools/call", params, json!({"elicitation": {}})).await
    }

    /// Sends a request of MCP 2026-07-28.
    pub(crate) async fn modern(&self, method: &str, params: Value) -> Response {
        self.modern_with(method, params, json!({})).await
    }

    async fn modern_with(&self, method: &str, params: Value, capabilities: Value) -> Response {
        let post = self.request(Method::POST, "/mcp");
        send(mcp_request_with(post, method, params, capabilities)).await
    }
}

/// A message that calls a tool.
pub(crate) fn call_message(tool: &str) -> Value {
    let arguments = json!({"message": "hi"});
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

/// The `WWW-Authenticate` header of an answer.
pub(crate) fn challenge(response: &Response) -> &str {
    response.headers.get("www-authenticate").map_or("", |value| value.to_str().unwrap())
}

/// Runs a command with the gateway's config; returns its exit code and output, or its standard error if it failed.
pub(crate) async fn command(
    gateway: &Gateway,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> (Option<i32>, String) {
    let output = gateway.run_with(arguments, environment).await;
    let text = if output.code == Some(0) { output.stdout } else { output.stderr };
    (output.code, text)
}
