//! The first exchange with a server: which era it speaks, and what it says about itself.

use proto::canonical;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::caller::Caller;
use crate::era::{Era, MODERN};
use crate::rpc::{self, RpcError};

/// Versions with a handshake, the newest first.
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// What a server says about itself in the handshake.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServerInfo {
    pub(crate) era: Era,
    /// Whether it may accept `initialize`: a modern server does not say, and is taken to until it has refused.
    pub(crate) may_speak_legacy: bool,
    /// The version that both speak.
    pub(crate) version: &'static str,
    /// Whether it sends notifications when its lists or its resources change.
    pub(crate) notifies_changes: bool,
    /// Name and version.
    pub(crate) server: Option<Value>,
    /// Its capabilities, as it states them.
    pub(crate) capabilities: Option<Value>,
}

impl ServerInfo {
    /// The assumptions about a server before the handshake.
    pub(crate) const UNKNOWN: Self = Self {
        era: Era::Legacy,
        may_speak_legacy: true,
        version: "",
        notifies_changes: false,
        server: None,
        capabilities: None,
    };
}

/// What an answer to `server/discover` means.
#[derive(Debug, PartialEq)]
pub(crate) enum ProbeResult {
    Modern(ServerInfo),
    /// It needs an `initialize` request.
    Legacy,
}

impl ProbeResult {
    pub(crate) fn of_result(result: &RawValue) -> Self {
        let Ok(result) = serde_json::from_str::<Value>(result.get()) else { return Self::Legacy };
        let versions =
            result["supportedVersions"].as_array().map(Vec::as_slice).unwrap_or_default();
        if !versions.iter().any(|version| version == MODERN) {
            return Self::Legacy;
        }
        Self::Modern(ServerInfo {
            era: Era::Modern,
            may_speak_legacy: true,
            version: MODERN,
            notifies_changes: notifies_changes(&result),
            server: about(&result["_meta"]["io.modelcontextprotocol/serverInfo"]),
            capabilities: capabilities(&result),
        })
    }

    /// An error code of the modern era means a modern server that rejects something else; all others a legacy one.
    pub(crate) fn of_error(error: &RpcError) -> Self {
        if !is_modern_error(error.code) && !lists_modern(error) {
            return Self::Legacy;
        }
        Self::Modern(ServerInfo {
            era: Era::Modern,
            may_speak_legacy: true,
            version: MODERN,
            notifies_changes: false,
            server: None,
            capabilities: None,
        })
    }
}

/// Header mismatch and missing capability: codes that only a modern server answers with.
fn is_modern_error(code: i64) -> bool {
    matches!(code, -32020 | -32021)
}

/// Whether a server that refuses a version lists the modern one among those that it speaks.
fn lists_modern(error: &RpcError) -> bool {
    let listed = error.data.as_ref().and_then(|data| data["supported"].as_array());
    error.code == -32022
        && listed.is_some_and(|versions| versions.iter().any(|version| version == MODERN))
}

/// Whether an error with HTTP status 400 or 404 is a modern server's answer to the request.
pub(crate) fn is_modern_answer(error: &RpcError) -> bool {
    is_modern_error(error.code) || matches!(error.code, -32601 | -32602)
}

/// Whether a server says that it does not speak the version it was asked in.
pub(crate) fn is_other_version(error: &RpcError) -> bool {
    matches!(error.code, -32022 | -32020)
}

/// Whether a server of both eras says that a request needs the modern one.
pub(crate) fn needs_modern(error: &RpcError) -> bool {
    error.code == -32600 && error.message.contains(MODERN)
}

fn notifies_changes(result: &Value) -> bool {
    let stated = &result["capabilities"];
    let changing = ["tools", "prompts", "resources"];
    changing.iter().any(|list| stated[list]["listChanged"] == true)
        || stated["resources"]["subscribe"] == true
}

/// The parameters of `initialize`. For its own session the gateway declares every capability that it can forward, so
/// that a server lists everything; for a caller's session it declares what the caller declared.
pub(crate) fn initialize_params(caller: Option<&Caller>) -> Map<String, Value> {
    let capabilities = match caller {
        Some(caller) => caller.capabilities(),
        None => {
            let questions =
                rpc::QUESTION_CAPABILITIES.iter().map(|&can| (can.to_owned(), json!({})));
            questions.chain(rpc::apps_capability()).collect()
        }
    };
    Map::from_iter([
        ("protocolVersion".to_owned(), LEGACY[0].into()),
        ("capabilities".to_owned(), capabilities.into()),
        ("clientInfo".to_owned(), json!(rpc::CLIENT)),
    ])
}

/// Reads the answer to `initialize`; the error says why the two share no version.
pub(crate) fn read_initialize(result: &RawValue) -> Result<ServerInfo, String> {
    let result: Value = serde_json::from_str(result.get()).map_err(|why| why.to_string())?;
    let Some(version) = result["protocolVersion"].as_str() else {
        return Err("the answer to `initialize` names no protocol version".to_owned());
    };
    let known = LEGACY.iter().find(|known| **known == version).copied();
    let version = known.ok_or_else(|| {
        let shown: String = version.chars().take(40).collect();
        format!("it answers in protocol version {shown:?}, which the gateway does not speak")
    })?;
    Ok(ServerInfo {
        era: Era::Legacy,
        may_speak_legacy: true,
        version,
        notifies_changes: notifies_changes(&result),
        server: about(&result["serverInfo"]),
        capabilities: capabilities(&result),
    })
}

/// The stated capabilities, unless they are implausibly large.
fn capabilities(result: &Value) -> Option<Value> {
    const MAX_BYTES: usize = 16 * 1024;
    let stated = &result["capabilities"];
    (stated.is_object() && canonical::len(stated) <= MAX_BYTES).then(|| stated.clone())
}

/// Name and version, shortened.
fn about(info: &Value) -> Option<Value> {
    let part =
        |key: &str| info[key].as_str().map(|text| text.chars().take(100).collect::<String>());
    part("name").map(|name| json!({"name": name, "version": part("version")}))
}

#[cfg(test)]
mod tests;
