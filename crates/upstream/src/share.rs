//! Shares the sessions or processes of one server among callers: no caller takes them all, and an idle one is ended for
//! a caller that has none.

use tokio::time::Instant;

use crate::caller::Caller;
use crate::error::TransportError;

/// Limits for the sessions or processes of one server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// The total.
    pub(crate) all: usize,
    /// The limit for one person or program, over all its agents, capabilities and sessions.
    pub(crate) of_caller: usize,
    /// How many are kept for tenants that have none.
    pub(crate) reserved: usize,
}

/// A session or process in use: its caller, and since when it is idle, if it is.
pub(crate) type Allocation<'a> = (&'a Caller, Option<Instant>);

impl Share {
    /// Decides whether a caller may have one more. `Ok(Some(_))` names the least recently used idle one that has to be
    /// ended first.
    pub(crate) fn make_room<'a>(
        self,
        caller: &Caller,
        held: impl Iterator<Item = Allocation<'a>> + Clone,
    ) -> Result<Option<&'a Caller>, TransportError> {
        let of_caller = held.clone().filter(|(other, _)| other.is_same_person(caller));
        if of_caller.clone().count() >= self.of_caller {
            let oldest = least_recently_used(of_caller);
            return oldest.map(Some).ok_or(TransportError::CallerLimit(self.of_caller));
        }
        let is_known = held.clone().any(|(other, _)| other.is_same_tenant(caller));
        let kept_free = if is_known { self.reserved } else { 0 };
        if held.clone().count() + kept_free < self.all {
            return Ok(None);
        }
        least_recently_used(held).map(Some).ok_or(TransportError::AllBusy(self.all))
    }
}

fn least_recently_used<'a>(held: impl Iterator<Item = Allocation<'a>>) -> Option<&'a Caller> {
    let idle = held.filter_map(|(caller, since)| Some((caller, since?)));
    idle.min_by_key(|(_, since)| *since).map(|(caller, _)| caller)
}

#[cfg(test)]
mod tests;
