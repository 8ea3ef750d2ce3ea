//! Scopes, by the names that tokens and keys carry.

pub use operations::scope::{
    APPROVALS_READ, AUDIT_READ, FILES_READ, FILES_WRITE, METRICS_READ, RUNS_ANSWER, RUNS_READ,
    TOOLS_CALL,
};
use proto::Principal;

/// Listing and describing tools.
pub const TOOLS_READ: &str = "tools:read";

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

/// The scopes that a key can have.
pub fn of_keys() -> impl Iterator<Item = &'static str> {
    ALL.into_iter().chain(OF_ADMIN).filter(|scope| *scope != ADMIN)
}

/// A scope that nothing here needs: a typing error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no scope `{}`{}; there are {}",
    .0,
    nearest(.0).map(|scope| format!(": did you mean `{scope}`?")).unwrap_or_default(),
    of_keys().collect::<Vec<_>>().join(", ")
)]
pub struct UnknownScope(String);

/// Checks that a key with this scope could do something with it.
pub fn check_known(text: &str) -> Result<(), UnknownScope> {
    if of_keys().any(|scope| scope == text) {
        Ok(())
    } else {
        Err(UnknownScope(text.chars().take(100).collect()))
    }
}

/// The known scope that is most like a text.
fn nearest(text: &str) -> Option<&'static str> {
    let scored = of_keys().map(|scope| (strsim::jaro_winkler(text, scope), scope));
    let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(score, _)| *score > 0.8).map(|(_, scope)| scope)
}

/// Why a text cannot be a scope of a token or key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidScope {
    #[error(
        "`{0}` is not a scope; write one like `{TOOLS_CALL}`, without spaces, quotes or backslashes"
    )]
    Malformed(String),
    #[error(
        "no key, token or role can have the scope `{ADMIN}`: only the admin token has it, which `powerstrip serve` \
         keeps in the data folder"
    )]
    Admin,
}

/// Checks that a text is a valid scope (RFC 6749, section 3.3). `admin` is refused: no token or key makes its bearer the
/// operator.
pub fn check(text: &str) -> Result<(), InvalidScope> {
    let allowed = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    if text == ADMIN {
        Err(InvalidScope::Admin)
    } else if (1..=100).contains(&text.len()) && text.bytes().all(allowed) {
        Ok(())
    } else {
        Err(InvalidScope::Malformed(text.chars().take(100).collect()))
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
        assert!(check_known(ADMIN).is_err());
    }

    #[test]
    fn a_mistyped_scope_is_refused_with_the_nearest_one() {
        for scope in of_keys() {
            assert_eq!(check_known(scope), Ok(()));
        }
        for (typed, nearest) in [
            ("tool:call", "tools:call"),
            ("tools:reed", "tools:read"),
            ("Audit:read", "audit:read"),
        ] {
            let message = check_known(typed).expect_err("a typing error").to_string();
            assert!(message.contains(&format!("did you mean `{nearest}`?")), "{message}");
        }
        let message = check_known("everything").expect_err("no scope").to_string();
        assert!(!message.contains("did you mean") && message.contains("runs:answer"), "{message}");
    }
}
