//! File descriptors: the limit of this process, and errors for want of them.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More are never needed.
const MOST: u64 = 65_536;

/// The share of descriptors that connections of callers may not take: the rest of the gateway needs them for the
/// database, for files and for the programs it starts.
const RESERVED: usize = 32;

/// Raises the limit of this process as far as it may, and returns how many connections of callers fit below it.
pub fn room_for_connections() -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    let raised = limit.maximum.map_or(MOST, |maximum| maximum.min(MOST));
    if limit.current.is_some_and(|current| current < raised) {
        let expected = Rlimit { current: Some(raised), maximum: limit.maximum };
        match setrlimit(Resource::Nofile, expected) {
            Ok(()) => limit.current = expected.current,
            Err(error) => tracing::debug!(%error, "the limit of open files stays as it is"),
        }
    }
    let open =
        limit.current.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    connections_below(open)
}

fn connections_below(open: usize) -> usize {
    (open.saturating_sub(RESERVED) / 2).max(1)
}

/// Whether something failed because the process, or the machine, has no more of what it takes to start a program.
pub(super) fn is_exhausted(error: &io::Error) -> bool {
    use rustix::io::Errno;

    let exhausted = [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM];
    Errno::from_io_error(error).is_some_and(|error| exhausted.contains(&error))
}

#[cfg(test)]
mod tests {
    use super::connections_below;

    #[test]
    fn connections_leave_descriptors_to_the_rest() {
        assert_eq!(
            [16, 64, 1_024, usize::MAX].map(connections_below),
            [1, 16, 496, usize::MAX / 2 - 16]
        );
    }
}
