use proto::Digest;
use serde::Serialize;

/// A key that the gateway gave out, as it is kept: whose it is and what it opens, never the secret itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyRow {
    /// Stands in the key's own text; tells which row to compare with.
    pub id: String,
    #[serde(skip)]
    pub hash: Digest,
    pub name: String,
    /// `api` or `registration`.
    pub kind: String,
    pub tenant: String,
    pub subject: String,
    pub agent: Option<String>,
    pub scopes: Vec<String>,
    pub created_unix_ms: u64,
    pub expires_unix_ms: Option<u64>,
    pub revoked_unix_ms: Option<u64>,
    /// To the minute.
    pub used_unix_ms: Option<u64>,
}
