use reqwest::{Client, RequestBuilder, StatusCode, redirect};
use testkit::{Gateway, GatewayBuilder, multipart};

/// A tool that needs approval.
pub(crate) const MAIL: &str = "id: mail.send\nversion: 1.2.0\ndescription: Sends a mail. What was sent cannot be taken back.\n\
    deterministic: false\nannotations: { destructiveHint: true }\ninputSchema: { type: object, properties: \
    { to: { type: string, description: Who gets it. }, subject: { type: string }, body: { type: string } }, required: [to] }\n\
    outputSchema: { type: object }\n\
    execution: { kind: cli, cmd: [python3, -c, \"print('{\\\"sent\\\": true}')\"] }\n";

pub(crate) const ORDER: &str = r#"id: orders.create
version: 2.0.1
description: Creates an order from its lines and an address.
deterministic: false
inputSchema:
  type: object
  properties:
    customer: { type: string, minLength: 2, description: The customer's number., examples: [C-1042] }
    priority: { enum: [low, normal, high] }
    express: { type: boolean, description: Whether it must arrive tomorrow. }
    discount: { type: number, minimum: 0, maximum: 100 }
    address:
      type: object
      properties: { street: { type: string }, city: { type: string } }
      required: [city]
    lines:
      type: array
      minItems: 1
      items:
        type: object
        properties: { sku: { type: string }, count: { type: integer, minimum: 1, default: 1 } }
        required: [sku]
    payment: { oneOf: [{ type: string }, { type: object }], description: A method's name or its details. }
  required: [customer, lines]
outputSchema: { type: object }
execution: { kind: cli, cmd: [python3, -c, "import json, sys; print(json.dumps({'got': json.load(sys.stdin)}))"] }
"#;

/// A stdio server that reads notes from a file. It cannot start without the file.
pub(crate) const NOTES: &str = r#"import json, sys

def say(text):
    print("notes: " + text, file=sys.stderr, flush=True)

try:
    notes = json.load(open("notes.json"))
except OSError as error:
    say("FATAL: cannot read notes.json: " + error.strerror)
    sys.exit(1)
say("read " + str(len(notes)) + " notes")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TOOLS = [
    {"name": "read", "description": "Reads a note.", "annotations": {"readOnlyHint": True},
     "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
    {"name": "draw", "description": "Draws a picture.", "inputSchema": {"type": "object"}},
]
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message:
        continue
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "notes", "version": "1.0.0"}}
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "tools/call" and params["name"] == "draw":
        result = {"content": [{"type": "image", "mimeType": "image/png", "data": PIXEL}]}
    elif method == "tools/call":
        name = params["arguments"]["name"]
        say(name + " was asked for")
        found = name in notes
        text = notes[name] if found else "there is no note `" + name + "`"
        result = {"content": [{"type": "text", "text": text}], "isError": not found}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"],
                          "error": {"code": -32601, "message": "no such method"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

const SKILLS: &str = "skills: { mail: { tools: ['mail.*'], auto_approve: false }, basics: { tools: ['orders.*', 'demo.*'] }, \
    brief: { tools: ['brief.*'], auto_approve: false, approval_timeout: 12s } }\n\
    agents: { assistant: { skills: [mail, basics] } }\n";

const PROMPT_SPEC: &str = "description: Greets a user.\ninputSchema: { type: object, properties: \
    { name: { type: string, description: The name. } }, required: [name] }\n";

const REGISTRY: &str =
    "support/greeting:\n  v1: '5c8a98c0168c350898241b51ee207a19d0ac2aebc1b3d18d4b555f4f64350197'\n";

/// A gateway with tools, a prompt, skills and an agent.
pub(crate) fn gateway() -> GatewayBuilder {
    Gateway::with()
        .file("tools/mail.tool.yaml", MAIL)
        .file("tools/order.tool.yaml", ORDER)
        .file("tools/brief.tool.yaml", &MAIL.replace("mail.send", "brief.send"))
        .file("prompts/packs/support/greeting.spec.yaml", PROMPT_SPEC)
        .file("prompts/packs/support/greeting.v1.md", "Hello {{ name }}!\n")
        .file("prompts/REGISTRY.yaml", REGISTRY)
        .config(SKILLS)
}

/// A user's browser: it sends `Origin` with forms and keeps one cookie.
pub(crate) struct Person<'a> {
    gateway: &'a Gateway,
    client: Client,
    pub(crate) cookie: Option<String>,
    /// The CSRF token that the browser keeps.
    pub(crate) proof: Option<String>,
}

/// A page that was loaded.
pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) text: String,
}

impl Page {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The CSRF token that a page hands out at sign-in.
    pub(crate) fn proof(&self) -> Option<String> {
        let (_, rest) = self.text.split_once("data-proof=\"")?;
        rest.split('"').next().map(str::to_owned)
    }
}

impl<'a> Person<'a> {
    pub(crate) fn new(gateway: &'a Gateway) -> Self {
        let client = Client::builder().redirect(redirect::Policy::none()).build().unwrap();
        Self { gateway, client, cookie: None, proof: None }
    }

    /// A user at another address of this machine.
    pub(crate) fn from(gateway: &'a Gateway, address: std::net::IpAddr) -> Self {
        let client = Client::builder().redirect(redirect::Policy::none()).local_address(address);
        Self { client: client.build().unwrap(), ..Self::new(gateway) }
    }

    pub(crate) async fn signed_in(gateway: &'a Gateway) -> Self {
        Self::with(gateway, &gateway.admin_token()).await
    }

    /// A user who has signed in with this token.
    pub(crate) async fn with(gateway: &'a Gateway, token: &str) -> Self {
        let mut person = Self::new(gateway);
        let page = person.sign_in(token).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.text);
        let cookie = page.header("set-cookie").split(';').next().unwrap().to_owned();
        person.cookie = Some(cookie);
        person.proof = page.proof();
        person
    }

    pub(crate) async fn sign_in(&self, token: &str) -> Page {
        self.post("/dashboard/sign-in", &[("token", token)]).await
    }

    pub(crate) async fn get(&self, path: &str) -> Page {
        self.answered(self.client.get(self.gateway.url(path))).await
    }

    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        self.post_from(path, Some(&self.gateway.url("")), fields).await
    }

    /// Posts a form from a page of another origin or without an origin.
    pub(crate) async fn post_from(
        &self,
        path: &str,
        origin: Option<&str>,
        fields: &[(&str, &str)],
    ) -> Page {
        let pair = |(name, value): &(&str, &str)| format!("{}={}", encoded(name), encoded(value));
        let body: Vec<_> = fields.iter().map(pair).collect();
        let mut request = self
            .client
            .post(self.gateway.url(path))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body.join("&"));
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        self.answered(request).await
    }

    /// Uploads a file by a form, with the CSRF token if given.
    pub(crate) async fn upload(
        &self,
        path: &str,
        csrf: Option<&str>,
        name: &str,
        text: &str,
    ) -> Page {
        let mut parts = vec![("file", Some(name), text.as_bytes())];
        if let Some(csrf) = csrf {
            parts.insert(0, ("csrf", None, csrf.as_bytes()));
        }
        let (kind, body) = multipart(&parts);
        let request = self
            .client
            .post(self.gateway.url(path))
            .header("content-type", kind)
            .header("origin", self.gateway.url(""))
            .body(body);
        self.answered(request).await
    }

    async fn answered(&self, mut request: RequestBuilder) -> Page {
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", cookie);
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        Page { status, headers, text: response.text().await.unwrap() }
    }

    /// The CSRF token of the session.
    pub(crate) fn csrf(&self) -> String {
        self.proof.clone().expect("a signed-in user")
    }
}

pub(crate) fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let step =
        |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(step).collect()
}

/// The session cookie that a page sets, if any.
pub(crate) fn session(page: &Page) -> Option<String> {
    let cookies = page.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap());
    cookies.map(str::to_owned).find(|cookie| cookie.contains("SameSite=Strict"))
}

pub(crate) fn assert_refused(page: &Page, status: u16, part: &str, why: &str) {
    assert_eq!(page.status.as_u16(), status, "{why}: {}", page.text);
    assert!(page.text.contains(part), "{why}: {}", page.text);
    assert_eq!(session(page), None, "{why}: no session is opened");
    assert!(page.header("refresh").is_empty(), "{why}: it leads nowhere by itself");
}
