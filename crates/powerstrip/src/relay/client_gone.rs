//! Notices that nothing reads the standard output of this process any more: its client has ended.

use std::io;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

/// A token that is cancelled once the reader of standard output is gone.
pub(crate) fn client_gone() -> io::Result<CancellationToken> {
    let gone = CancellationToken::new();
    let notice = gone.clone();
    // A thread of its own, because tokio watches pipes only if they do not block, which the client would share.
    thread::Builder::new().name("client-gone".to_owned()).spawn(move || {
        let stdout = io::stdout();
        // Without any event to wait for, only errors and hang-ups are reported.
        let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
        while poll(&mut watched, None) == Err(Errno::INTR) {}
        notice.cancel();
    })?;
    Ok(gone)
}
