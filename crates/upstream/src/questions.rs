//! What a server asks of us while it works. The one place where bridging a question to the person will begin.

use bytes::Bytes;
use serde_json::json;
use serde_json::value::RawValue;

/// Answers a server's request. Only `ping` can be answered without the caller; that they can be asked is promised to
/// no server yet, so that an honest one asks nothing else.
pub(crate) fn reply(id: &RawValue, method: &str) -> Bytes {
    let message = if method == "ping" {
        json!({"jsonrpc": "2.0", "id": id, "result": {}})
    } else {
        json!({"jsonrpc": "2.0", "id": id,
            "error": {"code": -32601, "message": "the gateway does not support this request"}})
    };
    message.to_string().into()
}
