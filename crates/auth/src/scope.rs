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

/// Seeing which calls wait for a person, and what was decided.
pub const APPROVALS_READ: &str = "approvals:read";

/// Deciding about calls that wait for a person. The local user does not have it: a local agent is the local user.
pub const APPROVALS_DECIDE: &str = proto::APPROVALS_DECIDE;

/// Seeing runs, their calls, and what they ask people.
pub const RUNS_READ: &str = "runs:read";

/// Answering what runs ask people. The local user does not have it: an agent does not answer its own questions.
pub const RUNS_ANSWER: &str = "runs:answer";

/// Seeing what belongs to any tenant. No token or key can carry it; who runs the gateway has it.
pub const ADMIN: &str = proto::ADMIN;

/// All that the local user may do.
pub const ALL: [&str; 8] = [
    TOOLS_READ,
    TOOLS_CALL,
    SERVERS_REGISTER,
    METRICS_READ,
    FILES_READ,
    FILES_WRITE,
    APPROVALS_READ,
    RUNS_READ,
];

/// What the bearer of the admin token may do beyond that.
pub const OF_ADMIN: [&str; 3] = [APPROVALS_DECIDE, RUNS_ANSWER, ADMIN];

/// Where the admin token is a credential.
pub(crate) const OF_OPERATORS: [&str; 5] =
    [METRICS_READ, APPROVALS_READ, APPROVALS_DECIDE, RUNS_READ, RUNS_ANSWER];

/// What no agent does, whatever its token covers.
pub(crate) const OF_PEOPLE: [&str; 2] = [APPROVALS_DECIDE, RUNS_ANSWER];

/// Whether a caller may do what the scope stands for.
pub fn covers(principal: &Principal, scope: &str) -> bool {
    principal.holds(scope)
}

/// A text that is no scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a scope; write one like `{TOOLS_CALL}`, without spaces, quotes or backslashes"
)]
pub struct InvalidScope(String);

/// Makes sure that a text may stand in a token's scope (RFC 6749, section 3.3). Neither an identity provider nor a key
/// makes anybody the operator.
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
