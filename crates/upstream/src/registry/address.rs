//! Where a server that announces itself may stand: nowhere that the gateway could not go anyway, but for this machine
//! where the gateway serves this machine only.

use egress::http::{AddressPolicy, Class, Refusal, Target};

/// Why a URL cannot be called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    #[error("{0}")]
    Url(Refusal),
    #[error("{0}; an operator can name the host in `egress.allow`")]
    Closed(Refusal),
}

/// Checks a URL and gives its normal form. A name is looked up when it is called, and its addresses are checked then.
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
