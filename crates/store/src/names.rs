/// A name of a server that registered itself, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerNameRow {
    pub name: String,
    pub tenant: String,
    /// The subject of the registration key.
    pub owner: String,
    /// When it was registered first, in milliseconds since 1970.
    pub held_unix_ms: u64,
}
