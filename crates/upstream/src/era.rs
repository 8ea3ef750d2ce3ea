use std::fmt;

use proto::canonical;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::rpc::{self, RpcError};
use crate::who::Who;

/// The version of the modern era.
pub(crate) const MODERN: &str = "2026-07-28";

/// Versions with a handshake, the newest first.
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Which of the two kinds of MCP a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Era {
    /// 2026-07-28: no handshake, each request stands for itself.
    Modern,
    /// 2025-11-25 and before: `initialize`, sessions.
    Legacy,
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Modern => "modern",
            Self::Legacy => "legacy",
        })
    }
}

/// What a server said about itself when it was first asked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Facts {
    pub(crate) era: Era,
    /// The version that both speak.
    pub(crate) version: &'static str,
    /// Whether it tells when its lists or its resources change.
    pub(crate) tells_changes: bool,
    /// Name and version.
    pub(crate) server: Option<Value>,
    /// What it offers, as it says.
    pub(crate) capabilities: Option<Value>,
}

impl Facts {
    /// All that is known of a server before it was greeted.
    pub(crate) const UNMET: Self = Self {
        era: Era::Legacy,
        version: "",
        tells_changes: false,
        server: None,
        capabilities: None,
    };
}

/// What an answer to `server/discover` means.
#[derive(Debug, PartialEq)]
pub(crate) enum Probed {
    Modern(Facts),
    /// It has to be greeted with `initialize`.
    Legacy,
}

impl Probed {
    pub(crate) fn of_result(result: &RawValue) -> Self {
        let Ok(result) = serde_json::from_str::<Value>(result.get()) else { return Self::Legacy };
        let speaks = result["supportedVersions"]
            .as_array()
            .is_some_and(|versions| versions.iter().any(|version| version == MODERN));
        if !speaks {
            return Self::Legacy;
        }
        Self::Modern(Facts {
            era: Era::Modern,
            version: MODERN,
            tells_changes: tells_changes(&result),
            server: about(&result["_meta"]["io.modelcontextprotocol/serverInfo"]),
            capabilities: capabilities(&result),
        })
    }

    /// Errors of the modern era come from a modern server that minds something else; all others mean a legacy one.
    pub(crate) fn of_error(error: &RpcError) -> Self {
        if !is_modern_error(error.code) {
            return Self::Legacy;
        }
        Self::Modern(Facts {
            era: Era::Modern,
            version: MODERN,
            tells_changes: false,
            server: None,
            capabilities: None,
        })
    }
}

/// Header mismatch and missing capability: codes that only a modern server answers with.
fn is_modern_error(code: i64) -> bool {
    matches!(code, -32020 | -32021)
}

/// Whether an error with HTTP status 400 or 404 is a modern server's answer to this very request.
pub(crate) fn is_modern_answer(error: &RpcError) -> bool {
    is_modern_error(error.code) || matches!(error.code, -32601 | -32602)
}

/// Whether a server says that it does not speak the version it was asked in.
pub(crate) fn is_other_version(error: &RpcError) -> bool {
    matches!(error.code, -32022 | -32020)
}

fn tells_changes(result: &Value) -> bool {
    let stated = &result["capabilities"];
    let changing = ["tools", "prompts", "resources"];
    changing.iter().any(|list| stated[list]["listChanged"] == true)
        || stated["resources"]["subscribe"] == true
}

/// The parameters of `initialize`. The gateway itself promises all that it can pass on, so that a server lists all
/// that it has; in a caller's name it promises what the caller declared.
pub(crate) fn greeting(who: Option<&Who>) -> Map<String, Value> {
    let capabilities = match who {
        Some(who) => who.promises(),
        None => rpc::QUESTIONS.iter().map(|&can| (can.to_owned(), json!({}))).collect(),
    };
    Map::from_iter([
        ("protocolVersion".to_owned(), LEGACY[0].into()),
        ("capabilities".to_owned(), capabilities.into()),
        ("clientInfo".to_owned(), json!(rpc::CLIENT)),
    ])
}

/// Reads the answer to `initialize`; the error says why we cannot talk.
pub(crate) fn greeted(result: &RawValue) -> Result<Facts, String> {
    let result: Value = serde_json::from_str(result.get()).map_err(|why| why.to_string())?;
    let Some(version) = result["protocolVersion"].as_str() else {
        return Err("the answer to `initialize` names no protocol version".to_owned());
    };
    let known = LEGACY.iter().find(|known| **known == version).copied();
    let version = known.ok_or_else(|| {
        let shown: String = version.chars().take(40).collect();
        format!("it answers in protocol version {shown:?}, which the gateway does not speak")
    })?;
    Ok(Facts {
        era: Era::Legacy,
        version,
        tells_changes: tells_changes(&result),
        server: about(&result["serverInfo"]),
        capabilities: capabilities(&result),
    })
}

/// Capabilities of a size that anyone would read.
fn capabilities(result: &Value) -> Option<Value> {
    const MAX_BYTES: usize = 16 * 1024;
    let stated = &result["capabilities"];
    (stated.is_object() && canonical::len(stated) <= MAX_BYTES).then(|| stated.clone())
}

/// Name and version, if they are of a size that anyone would show.
fn about(info: &Value) -> Option<Value> {
    let part =
        |key: &str| info[key].as_str().map(|text| text.chars().take(100).collect::<String>());
    part("name").map(|name| json!({"name": name, "version": part("version")}))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn raw(value: &Value) -> Box<RawValue> {
        serde_json::value::to_raw_value(value).unwrap()
    }

    #[test]
    fn discovery_tells_the_eras_apart() {
        let modern = json!({"supportedVersions": ["2025-11-25", "2026-07-28"],
            "capabilities": {"tools": {"listChanged": true}},
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "n", "version": "2"}}});
        let Probed::Modern(facts) = Probed::of_result(&raw(&modern)) else { panic!("modern") };
        assert!(facts.tells_changes);
        assert_eq!(facts.server, Some(json!({"name": "n", "version": "2"})));
        for legacy in
            [json!({"supportedVersions": ["2025-11-25"]}), json!({}), json!(null), json!("x")]
        {
            assert_eq!(Probed::of_result(&raw(&legacy)), Probed::Legacy, "{legacy}");
        }
        let error = |code| RpcError { code, message: String::new(), data: None };
        for code in [-32601, -32602, -32600, -32000, -32022, 0] {
            assert_eq!(Probed::of_error(&error(code)), Probed::Legacy, "{code}");
        }
        assert!(matches!(Probed::of_error(&error(-32021)), Probed::Modern(_)));
    }

    #[test]
    fn only_versions_that_we_speak_are_agreed_on() {
        let facts = greeted(&raw(&json!({"protocolVersion": "2025-03-26"}))).unwrap();
        assert_eq!((facts.version, facts.tells_changes), ("2025-03-26", false));
        for bad in [json!({}), json!({"protocolVersion": "1999-01-01"}), json!([])] {
            assert!(greeted(&raw(&bad)).is_err(), "{bad}");
        }
    }
}
