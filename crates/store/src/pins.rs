/// Which definition of a server's tool is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    pub server: String,
    /// The server's own name for it.
    pub tool: String,
    /// How the sums were made.
    pub form: u32,
    /// Sums over the parts of the definition.
    pub sums: String,
}

/// A pin and the definition that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedDefinition {
    pub pin: Pin,
    /// The definition as JSON.
    pub definition: String,
}
