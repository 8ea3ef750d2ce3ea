//! URLs at which a server may register itself: those that the egress policy allows, and this machine where the gateway
//! serves only this machine.

use egress::http::{AddressPolicy, Class, Refusal, Target};

/// Why a URL cannot be called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    #[error("{0}")]
    Url(Refusal),
    #[error("{0}; an operator can name the host in `egress.allow`")]
    Closed(Refusal),
}

/// Checks a URL and returns its normal form. The addresses of a host name are checked when it is called.
pub(super) fn admit(
    url: &str,
    policy: &AddressPolicy,
    loopback: bool,
) -> Result<String, AddressFault> {
    let target = Target::parse(url).map_err(AddressFault::Url)?;
    match policy.check_literal(&target) {
        Ok(()) => {}
        Err(Refusal::Address { class: Class::Loopback, .. }) if loopback => {}
        Err(closed @ Refusal::Address { .. }) => return Err(AddressFault::Closed(closed)),
        Err(other) => return Err(AddressFault::Url(other)),
    }
    Ok(target.url().to_string())
}
