use crate::Failure;

/// Knows the state of configured servers, also of those that have never listed their tools.
pub trait Outages: Send + Sync + 'static {
    /// The names of all servers.
    fn servers(&self) -> Vec<String>;

    /// The failure of a call to a tool that a server does not list, if that is because the server cannot be used.
    fn outage(&self, server: &str) -> Option<Failure>;
}
