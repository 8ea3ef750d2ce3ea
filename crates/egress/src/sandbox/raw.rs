//! The audited place: three system calls that Rust cannot call safely.
//!
//! All of them run in the launcher only, which is single-threaded from start to end
//! ([`super::maybe_run_launcher`] is called before `main` starts any thread). That is the
//! invariant every `unsafe` block below rests on.
#![expect(unsafe_code, reason = "fork, unshare and close_range have no safe wrapper")]

use std::io;

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// Which side of a fork we are on.
pub(super) enum Fork {
    Child,
    Parent(Pid),
}

/// Splits the launcher in two.
pub(super) fn fork() -> io::Result<Fork> {
    // SAFETY: the launcher has one thread, so no lock of another thread can be left held in the
    // child, and the child may run any code.
    let pid = unsafe { libc::fork() };
    match Pid::from_raw(pid) {
        None => Ok(Fork::Child),
        Some(_) if pid < 0 => Err(io::Error::last_os_error()),
        Some(pid) => Ok(Fork::Parent(pid)),
    }
}

/// Leaves the namespaces named by `flags`.
pub(super) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: unsafe only for `UnshareFlags::FILES` in a program with several threads; the
    // launcher has one and asks for namespaces.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(Into::into)
}

/// Marks everything but the standard streams to be closed when the program starts, in case the
/// gateway inherited a descriptor that was not.
pub(super) fn seal_descriptors() {
    // SAFETY: only a flag of descriptors changes, none is closed here. A kernel before 5.11
    // refuses, and then the descriptors keep the flag that std gave them.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
}
