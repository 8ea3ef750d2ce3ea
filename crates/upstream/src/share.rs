//! How the sessions or processes of one server are shared among callers: no caller takes them all, and an idle one makes
//! room for a caller who has none.

use tokio::time::Instant;

use crate::broken::Broken;
use crate::who::Who;

/// The bounds of one server's sessions or processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// All of them.
    pub(crate) all: usize,
    /// Those of one person or program, whatever agents, capabilities and sessions it comes with.
    pub(crate) of_caller: usize,
    /// The last free ones, which only a tenant without any may take.
    pub(crate) reserved: usize,
}

/// A session or process that is held: for whom, and since when it is idle, if it is.
pub(crate) type Held<'a> = (&'a Who, Option<Instant>);

impl Share {
    /// Decides whether a caller may have one more. `Ok(Some(_))` names the idle one, least recently used, that has to
    /// be ended for it.
    pub(crate) fn make_room<'a>(
        self,
        who: &Who,
        held: impl Iterator<Item = Held<'a>> + Clone,
    ) -> Result<Option<&'a Who>, Broken> {
        let of_caller = held.clone().filter(|(other, _)| other.is_same_person(who));
        if of_caller.clone().count() >= self.of_caller {
            let oldest = least_recently_used(of_caller);
            return oldest.map(Some).ok_or(Broken::ShareUsed(self.of_caller));
        }
        let is_known = held.clone().any(|(other, _)| other.is_same_tenant(who));
        let kept_free = if is_known { self.reserved } else { 0 };
        if held.clone().count() + kept_free < self.all {
            return Ok(None);
        }
        least_recently_used(held).map(Some).ok_or(Broken::Crowded(self.all))
    }
}

fn least_recently_used<'a>(held: impl Iterator<Item = Held<'a>>) -> Option<&'a Who> {
    let idle = held.filter_map(|(who, since)| Some((who, since?)));
    idle.min_by_key(|(_, since)| *since).map(|(who, _)| who)
}

#[cfg(test)]
mod tests;
