/// Where something sealed lies, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VaultPlace {
    /// What it is, such as `token`.
    pub kind: &'static str,
    pub server: String,
    /// Empty, as the owner, for what is the gateway's own.
    pub tenant: String,
    pub owner: String,
    /// Who gave it out.
    pub issuer: String,
}

/// One sealed row; the database never sees what is inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultRow {
    pub place: VaultPlace,
    pub sealed: Vec<u8>,
    /// When it was stored, in milliseconds since 1970.
    pub at_ms: u64,
}
