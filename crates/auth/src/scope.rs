//! Scopes, by the names that tokens and keys carry.

pub use operations::scope::{
    APPROVALS_READ, AUDIT_READ, FILES_READ, FILES_WRITE, METRICS_READ, RUNS_ANSWER, RUNS_READ,
};
use proto::Principal;

/// Listing and describing tools.
pub const TOOLS_READ: &str = "tools:read";

/// Calling tools.
pub const TOOLS_CALL: &str = "tools:call";

/// Registering servers.
pub const SERVERS_REGISTER: &str = "servers:register";

/// Deciding about calls that wait for a person. The local user does not have it: a local agent is the local user.
pub const APPROVALS_DECIDE: &str = proto::APPROVALS_DECIDE;

/// Access to the data of all tenants. No token or key can carry it; only the operator has it.
pub const ADMIN: &str = proto::ADMIN;

/// The scopes of the local user.
pub const ALL: [&str; 9] = [
    TOOLS_READ,
    TOOLS_CALL,
    SERVERS_REGISTER,
    METRICS_READ,
    FILES_READ,
    FILES_WRITE,
    APPROVALS_READ,
    RUNS_READ,
    AUDIT_READ,
];

/// The further scopes of the admin token.
pub const OF_ADMIN: [&str; 3] = [APPROVALS_DECIDE, RUNS_ANSWER, ADMIN];

/// The scopes for which the admin token is accepted.
pub(crate) const OF_OPERATORS: [&str; 7] =
    [METRICS_READ, APPROVALS_READ, APPROVALS_DECIDE, RUNS_READ, RUNS_ANSWER, AUDIT_READ, ADMIN];

/// The scopes that no agent may use, whatever its token covers.
pub(crate) const OF_PEOPLE: [&str; 3] = [APPROVALS_DECIDE, RUNS_ANSWER, ADMIN];

/// Whether a caller has the scope.
pub fn covers(principal: &Principal, scope: &str) -> bool {
    principal.holds(scope)
}

/// A text that is no scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a scope; write one like `{TOOLS_CALL}`, without spaces, quotes or backslashes"
)]
pub struct InvalidScope(String);

/// Checks that a text is a valid scope (RFC 6749, section 3.3). `admin` is refused: no token or key makes its bearer the
/// operator.
pub fn check(text: &str) -> Result<(), InvalidScope> {
    let allowed = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    if (1..=100).contains(&text.len()) && text != ADMIN && text.bytes().all(allowed) {
        Ok(())
    } else {
        Err(InvalidScope(text.chars().take(100).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_token_or_key_makes_an_operator() {
        assert!(check(ADMIN).is_err());
        assert!(check(APPROVALS_DECIDE).is_ok());
        assert!(!ALL.contains(&APPROVALS_DECIDE), "a local agent is the local user");
    }
}
