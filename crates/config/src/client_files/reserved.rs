//! Names of the gateway's own tools, which imported servers must not take over unnoticed.

use proto::{OWN_SERVER, RefusedServerName, check_server_name};

/// A name for a server whose own name belongs to tools of the gateway, or looks as if it did. There is none for the name
/// of the gateway itself: such an entry most likely leads back to it.
pub(super) fn other_name(name: &str) -> Option<String> {
    let own = match check_server_name(name) {
        Err(RefusedServerName::Reserved(reserved)) => reserved == OWN_SERVER,
        Err(RefusedServerName::LooksReserved { reserved, .. }) => reserved == OWN_SERVER,
        Err(RefusedServerName::LooksLike { .. }) | Ok(()) => return None,
    };
    (!own).then(|| format!("{name}-server"))
}

#[cfg(test)]
mod tests {
    use super::other_name;

    #[test]
    fn servers_named_like_built_in_tools_get_another_name() {
        assert_eq!(other_name("web-research").as_deref(), Some("web-research-server"));
        assert_eq!(other_name("AgentCards").as_deref(), Some("AgentCards-server"));
        for name in ["web-research-server", "research", "mcp-files", "powerstrip", "Powerstrip"] {
            assert_eq!(other_name(name), None, "{name}");
        }
    }
}
