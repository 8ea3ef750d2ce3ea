//! The audited place: the system calls that Rust cannot make safely.
//!
//! All of them run in the launcher only, which is single-threaded from start to end
//! ([`super::maybe_run_launcher`] is called before `main` starts any thread). That is the
//! invariant every `unsafe` block below rests on.
#![expect(unsafe_code, reason = "fork, exec, unshare and close_range have no safe wrapper")]

use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStringExt;
use std::{io, iter, ptr};

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

/// Replaces this process by the program. Not by way of `Command`, whose `exec` would hand a file
/// that the kernel does not know to a shell.
pub(super) fn exec(program: OsString, arguments: Vec<OsString>) -> io::Error {
    let words: Result<Vec<CString>, _> =
        iter::once(program).chain(arguments).map(|word| CString::new(word.into_vec())).collect();
    let words = match words {
        Ok(words) => words,
        Err(error) => return error.into(),
    };
    let mut pointers: Vec<_> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(ptr::null());
    // SAFETY: `pointers` is a null-terminated array of null-terminated strings that live until
    // the call returns, which it does only in failure. The first one is the program. Rust's
    // runtime ignores SIGPIPE, and ignored signals would stay ignored in the program.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::execv(pointers[0], pointers.as_ptr());
    }
    io::Error::last_os_error()
}

/// Ends this process by a signal, if that signal is one that ends processes. Rust's runtime
/// ignores or handles some of them.
pub(super) fn die_by(signal: libc::c_int) {
    // SAFETY: the default action replaces Rust's own handlers, and the process is about to end.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
