//! The parts of the protocol's messages that we read.

use std::collections::HashMap;

use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct TargetCreated {
    #[serde(rename = "targetInfo")]
    pub(super) target: TargetInfo,
}

#[derive(Deserialize)]
pub(super) struct TargetInfo {
    #[serde(rename = "targetId")]
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(rename = "openerId")]
    pub(super) opener: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct ContextCreated {
    #[serde(rename = "browserContextId")]
    pub(super) context: String,
}

#[derive(Deserialize)]
pub(super) struct TargetId {
    #[serde(rename = "targetId")]
    pub(super) target: String,
}

#[derive(Deserialize)]
pub(super) struct Attached {
    #[serde(rename = "sessionId")]
    pub(super) session: String,
}

#[derive(Deserialize)]
pub(super) struct Nothing {}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Navigated {
    pub(super) error_text: Option<String>,
    #[serde(default)]
    pub(super) is_download: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IsolatedWorld {
    pub(super) execution_context_id: i64,
}

#[derive(Deserialize)]
#[serde(bound = "T: serde::de::DeserializeOwned")]
pub(super) struct Evaluated<T> {
    pub(super) result: RemoteValue<T>,
}

#[derive(Deserialize)]
#[serde(bound = "T: serde::de::DeserializeOwned")]
pub(super) struct RemoteValue<T> {
    pub(super) value: Option<T>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestPaused {
    pub(super) request_id: String,
    pub(super) request: Request,
}

#[derive(Deserialize)]
pub(super) struct Request {
    pub(super) url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuthRequired {
    pub(super) request_id: String,
    pub(super) auth_challenge: AuthChallenge,
}

#[derive(Deserialize)]
pub(super) struct AuthChallenge {
    pub(super) source: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestWillBeSent {
    pub(super) request_id: String,
    pub(super) request: Request,
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    pub(super) frame_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResponseReceived {
    pub(super) request_id: String,
    pub(super) loader_id: String,
    pub(super) response: Response,
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    pub(super) frame_id: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Response {
    pub(super) url: String,
    pub(super) status: u16,
    #[serde(default)]
    pub(super) headers: HashMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OfRequest {
    pub(super) request_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResponseBody {
    pub(super) body: String,
    pub(super) base64_encoded: bool,
}

#[derive(Deserialize)]
pub(super) struct FrameNavigated {
    pub(super) frame: Frame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Frame {
    pub(super) id: String,
    pub(super) loader_id: String,
    pub(super) url: String,
    pub(super) unreachable_url: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NavigatedWithinDocument {
    pub(super) frame_id: String,
    pub(super) url: String,
}

#[derive(Deserialize)]
pub(super) struct DialogOpening {
    #[serde(rename = "type")]
    pub(super) kind: String,
}
