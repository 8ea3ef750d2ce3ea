use proptest::prelude::{any, proptest};
use serde_json::json;

use super::*;
use crate::rpc::HeaderParam;

#[test]
fn a_modern_call_repeats_in_headers_what_its_body_says() {
    let param = |path: &[&str], header: &'static str| HeaderParam {
        path: path.iter().map(|&part| part.to_owned()).collect(),
        header: HeaderName::from_static(header),
    };
    let arguments = json!({"region": "Zürich", "deep": {"n": 5, "yes": true}, "none": [1]});
    let params = [
        param(&["region"], "mcp-param-region"),
        param(&["deep", "n"], "mcp-param-n"),
        param(&["deep", "yes"], "mcp-param-yes"),
        param(&["none"], "mcp-param-none"),
        param(&["absent"], "mcp-param-absent"),
    ];
    let request = RpcRequest {
        header_params: &params,
        ..RpcRequest::plain("tools/call", Params::Call { name: "t", arguments: &arguments })
    };
    let mut headers = HeaderMap::new();
    modern(&mut headers, &request);
    let mut shown: Vec<_> = headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    shown.sort();
    assert_eq!(
        shown,
        [
            "mcp-method: tools/call",
            "mcp-name: t",
            "mcp-param-n: 5",
            "mcp-param-region: =?base64?WsO8cmljaA==?=",
            "mcp-param-yes: true",
            "mcp-protocol-version: 2026-07-28",
        ]
    );
}

proptest! {
    #[test]
    fn every_text_survives_encoding(text in any::<String>()) {
        let value = encoded(&text).unwrap();
        let sent = value.to_str().unwrap();
        let inner = sent.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
        let back = inner.map_or_else(
            || sent.to_owned(),
            |inner| String::from_utf8(BASE64_STANDARD.decode(inner).unwrap()).unwrap(),
        );
        assert_eq!(back, text);
    }
}
