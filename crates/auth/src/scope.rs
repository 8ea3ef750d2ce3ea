//! What a caller may do, by the names that tokens and keys carry.

use proto::Principal;

/// Listing and describing what there is.
pub const TOOLS_READ: &str = "tools:read";

/// Calling tools.
pub const TOOLS_CALL: &str = "tools:call";

/// Announcing servers.
pub const SERVERS_REGISTER: &str = "servers:register";

/// Reading the gateway's metrics, which tell of all tenants together.
pub const METRICS_READ: &str = "metrics:read";

/// Reading the files of one's tenant.
pub const FILES_READ: &str = "files:read";

/// Storing and deleting files.
pub const FILES_WRITE: &str = "files:write";

/// All that there is: what the local user may do.
pub const ALL: [&str; 6] =
    [TOOLS_READ, TOOLS_CALL, SERVERS_REGISTER, METRICS_READ, FILES_READ, FILES_WRITE];

/// Whether a caller may do what the scope stands for.
pub fn covers(principal: &Principal, scope: &str) -> bool {
    principal.scopes.iter().any(|held| held == scope)
}

/// A text that is no scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a scope; write one like `{TOOLS_CALL}`, without spaces, quotes or backslashes"
)]
pub struct InvalidScope(String);

/// Makes sure that a text may stand in a token's scope (RFC 6749, section 3.3).
pub fn check(text: &str) -> Result<(), InvalidScope> {
    let allowed = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    if (1..=100).contains(&text.len()) && text.bytes().all(allowed) {
        Ok(())
    } else {
        Err(InvalidScope(text.chars().take(100).collect()))
    }
}
