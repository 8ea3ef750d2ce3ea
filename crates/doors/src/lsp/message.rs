//! The messages of JSON-RPC 2.0.

use proto::{Discovery, Envelope};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::exact::check_integers;

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Fault {
    code: i32,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

impl Fault {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(super) fn parse_error(message: impl Into<String>) -> Self {
        Self::new(-32700, message)
    }

    pub(super) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(-32600, message)
    }

    pub(super) fn method_not_found(message: impl Into<String>) -> Self {
        Self::new(-32601, message)
    }

    pub(super) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(-32602, message)
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(-32603, message)
    }

    pub(super) fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}

/// A message from the other side.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    Request { id: Value, method: String, params: Value },
    Notification { method: String, params: Value },
}

impl Incoming {
    /// Parses a message; the error has the id under which to refuse it.
    pub(super) fn read(body: &[u8]) -> Result<Self, (Value, Fault)> {
        let body = &*proto::without_lone_surrogates(body);
        let message: Value = serde_json::from_slice(body).map_err(|error| {
            (Value::Null, Fault::parse_error(format!("the message is not JSON: {error}")))
        })?;
        let mut message = match message {
            Value::Object(message) => message,
            Value::Array(_) => {
                let fault = "batches are not supported; send each request in its own frame";
                return Err((Value::Null, Fault::invalid_request(fault)));
            }
            _ => return Err((Value::Null, Fault::invalid_request("a message is an object"))),
        };
        let id = message.remove("id");
        let known = id.clone().filter(is_id).unwrap_or_default();
        if let Err(failure) = check_integers(body) {
            return Err((known, Fault::invalid_request(failure.message)));
        }
        let refuse = |message: &str| (known.clone(), Fault::invalid_request(message));
        if message.get("jsonrpc").is_none_or(|version| version != "2.0") {
            return Err(refuse("a message says `\"jsonrpc\": \"2.0\"`"));
        }
        let Some(Value::String(method)) = message.remove("method") else {
            return Err(refuse("a request names its `method`"));
        };
        let params = message.remove("params").unwrap_or_else(|| Value::Object(Map::new()));
        match id {
            None => Ok(Self::Notification { method, params }),
            Some(id) if is_id(&id) => Ok(Self::Request { id, method, params }),
            Some(_) => Err(refuse("an `id` is a text or a number")),
        }
    }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_number()
}

/// The result of a request.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Outcome {
    Envelope(Box<Envelope>),
    Discovery(Box<Discovery>),
    Json(Value),
}

/// The bytes of an answer.
pub(super) fn response(id: &Value, result: Result<Outcome, Fault>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Response<'a> {
        jsonrpc: &'static str,
        id: &'a Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Outcome>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Fault>,
    }
    let (result, error) = match result {
        Ok(result) => (Some(result), None),
        Err(fault) => (None, Some(fault)),
    };
    // cannot fail: the keys of all maps in our types are texts.
    serde_json::to_vec(&Response { jsonrpc: "2.0", id, result, error }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(body: &str) -> (Value, i32) {
        let (id, fault) = Incoming::read(body.as_bytes()).expect_err("a bad message");
        (id, fault.code)
    }

    #[test]
    fn requests_and_notifications_are_distinguished() {
        let request = Incoming::read(br#"{"jsonrpc":"2.0","id":"a","method":"m","params":[1]}"#);
        assert_eq!(
            request,
            Ok(Incoming::Request { id: json!("a"), method: "m".to_owned(), params: json!([1]) })
        );
        let notification = Incoming::read(br#"{"jsonrpc":"2.0","method":"m"}"#);
        assert_eq!(
            notification,
            Ok(Incoming::Notification { method: "m".to_owned(), params: json!({}) })
        );
    }

    #[test]
    fn bad_messages_are_refused_under_their_id_if_they_have_one() {
        assert_eq!(refused("{"), (Value::Null, -32700));
        assert_eq!(refused("\u{feff}"), (Value::Null, -32700));
        assert_eq!(refused("[]"), (Value::Null, -32600));
        assert_eq!(refused("3"), (Value::Null, -32600));
        assert_eq!(refused(r#"{"id":7,"method":"m"}"#), (json!(7), -32600));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":7}"#), (json!(7), -32600));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#), (Value::Null, -32600));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#), (Value::Null, -32600));
    }
}
