use proto::TenantId;

/// A reference that a server issued, and where that server lets it be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignReference {
    pub tenant: TenantId,
    /// Whom it was given.
    pub subject: String,
    pub agent: Option<String>,
    pub reference: String,
    pub server: String,
    pub uri: Option<String>,
    pub expires_ms: u64,
}
