//! Answers and notices that are too large for one event: the Python SDK closes streams with events of more than 1 MiB.

use serde_json::{Value, json};
use testkit::{Gateway, initialize_message, legacy_request, mcp_request_with};

use crate::servers::peer::LEGACY;
use crate::servers::support::wait_until_listed;

/// The most bytes of one event.
const MAX_EVENT: usize = 1_000_000;

/// A legacy server with tools that send a notice and then images, a prompt and a resource of 3 MB.
const SERVER: &str = r#"
import base64, json, sys
def send(message):
    print(json.dumps({'jsonrpc': '2.0', **message}), flush=True)
def answer(method, params):
    if method == 'initialize':
        return {'protocolVersion': '2025-11-25', 'serverInfo': {'name': 'big', 'version': '1'},
                'capabilities': {'tools': {}, 'prompts': {}, 'resources': {}, 'logging': {}}}
    if method == 'tools/list':
        tool = {'name': 'tell', 'description': 'Says much.', 'inputSchema': {'type': 'object'}}
        return {'tools': [tool]}
    if method == 'prompts/list':
        return {'prompts': [{'name': 'long'}]}
    if method == 'prompts/get':
        return {'messages': [{'role': 'user', 'content': {'type': 'text', 'text': 'p' * 3_000_000}}]}
    if method == 'resources/list':
        return {'resources': [{'uri': 'big://long', 'name': 'long'}]}
    if method == 'resources/read':
        return {'contents': [{'uri': 'big://long', 'text': 'r' * 3_000_000}]}
    if method != 'tools/call':
        return {}
    given, token = params['arguments'], params.get('_meta', {}).get('progressToken')
    if 'progress' in given and token is not None:
        send({'method': 'notifications/progress', 'params': {
            'progressToken': token, 'progress': 1, 'message': 'm' * given['progress']}})
    if 'log' in given:
        send({'method': 'notifications/message', 'params': {'level': 'error', 'data': 'l' * given['log']}})
    image = {'type': 'image', 'mimeType': 'image/png', 'data': base64.b64encode(bytes(690_000)).decode()}
    return {'content': [image] * given.get('images', 0) + [{'type': 'text', 'text': 'said'}]}
for line in sys.stdin:
    ask = json.loads(line)
    if 'id' in ask and 'method' in ask:
        if ask['method'] == 'server/discover':
            send({'id': ask['id'], 'error': {'code': -32601, 'message': 'unknown'}})
        else:
            send({'id': ask['id'], 'result': answer(ask['method'], ask.get('params') or {})})
"#;

/// The body of a response and whether it is JSON.
struct Body {
    is_json: bool,
    text: String,
}

impl Body {
    async fn of(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.expect("a response");
        let is_json =
            response.headers()["content-type"].as_bytes().starts_with(b"application/json");
        Self { is_json, text: response.text().await.expect("a body") }
    }

    /// The messages, each of which fits into an event.
    fn messages(&self) -> Vec<Value> {
        if self.is_json {
            return vec![serde_json::from_str(&self.text).expect("JSON")];
        }
        for event in self.text.split("\n\n") {
            assert!(event.len() <= MAX_EVENT, "{} bytes: {}", event.len(), &event[..200]);
        }
        let data = self.text.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
    }
}

struct Setup {
    gateway: Gateway,
    client: reqwest::Client,
    session: String,
}

impl Setup {
    async fn open() -> Self {
        let config = "servers:\n  big: { command: python3, args: [big.py] }\n";
        let gateway = Gateway::with().config(config).file("big.py", SERVER).start().await;
        wait_until_listed(&gateway, "big__tell").await;
        let mut setup = Self { gateway, client: reqwest::Client::new(), session: String::new() };
        let greeted = setup.legacy(&initialize_message(LEGACY, json!({}))).send().await;
        let greeted = greeted.expect("a greeting");
        setup.session = greeted.headers()["mcp-session-id"].to_str().expect("an id").to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        setup.legacy(&ready).send().await.expect("it is accepted");
        setup.ask_legacy("logging/setLevel", json!({"level": "info"})).await;
        setup
    }

    fn legacy(&self, message: &Value) -> reqwest::RequestBuilder {
        let post = self.client.post(self.gateway.url("/mcp"));
        legacy_request(post, LEGACY, &self.session, message)
    }

    async fn ask_legacy(&self, method: &str, params: Value) -> Body {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        Body::of(self.legacy(&message)).await
    }

    async fn ask_modern(&self, method: &str, params: Value) -> Body {
        let post = self.client.post(self.gateway.url("/mcp"));
        Body::of(mcp_request_with(post, method, params, json!({}))).await
    }

    /// Calls the tool in both eras.
    async fn tell(&self, input: Value) -> [Vec<Value>; 2] {
        let params = |level: Value| {
            let mut meta = json!({"progressToken": 7});
            if !level.is_null() {
                meta["io.modelcontextprotocol/logLevel"] = level;
            }
            json!({"name": "big__tell", "arguments": input.clone(), "_meta": meta})
        };
        [
            self.ask_legacy("tools/call", params(Value::Null)).await.messages(),
            self.ask_modern("tools/call", params(json!("info"))).await.messages(),
        ]
    }
}

fn blocks(messages: &[Value], kind: &str) -> usize {
    let answer = messages.last().expect("an answer");
    let blocks = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
    blocks.iter().filter(|block| block["type"] == kind).count()
}

#[tokio::test]
async fn the_texts_of_notices_are_cut_and_the_answer_arrives() {
    let setup = Setup::open().await;
    for (input, field) in [
        (json!({"progress": 2_000_000}), "/params/message"),
        (json!({"log": 2_000_000}), "/params/data"),
    ] {
        for messages in setup.tell(input.clone()).await {
            assert_eq!(blocks(&messages, "text"), 1, "{input}");
            let notice = messages.iter().find_map(|message| message.pointer(field)?.as_str());
            let notice = notice.unwrap_or_else(|| panic!("no notice: {input}"));
            assert!(notice.len() < 66_000 && notice.ends_with("… (2000000 bytes)"), "{input}");
        }
    }
}

#[tokio::test]
async fn an_answer_after_a_notice_fits_into_an_event_in_either_era() {
    let setup = Setup::open().await;
    for messages in setup.tell(json!({"progress": 5, "images": 3})).await {
        assert!(messages.len() > 1, "the notice comes first");
        assert_eq!(blocks(&messages, "image"), 1, "the others are references");
    }
    let [_, modern] = setup.tell(json!({"images": 3})).await;
    assert_eq!((modern.len(), blocks(&modern, "image")), (1, 3), "nothing was streamed");
}

#[tokio::test]
async fn a_large_prompt_or_resource_is_one_json_document() {
    let setup = Setup::open().await;
    for (method, params, pointer) in [
        ("resources/read", json!({"uri": "big://long"}), "/result/contents/0/text"),
        ("prompts/get", json!({"name": "big__long"}), "/result/messages/0/content/text"),
    ] {
        let bodies = [
            setup.ask_legacy(method, params.clone()).await,
            setup.ask_modern(method, params).await,
        ];
        for body in bodies {
            assert!(body.is_json, "{method}: {}", &body.text[..200]);
            let text = body.messages().remove(0).pointer(pointer).map(|text| text.to_string());
            assert_eq!(text.map(|text| text.len()), Some(3_000_002), "{method}");
        }
    }
    let listed = setup.ask_legacy("resources/list", json!({})).await;
    assert!(!listed.is_json, "small answers stay events: {}", listed.text);
}
