//! The audited place: the system calls that Rust cannot make safely.
//!
//! All of them run in the launcher only, which is single-threaded from start to end
//! ([`super::maybe_run_launcher`] is called before `main` starts any thread). That is the
//! invariant every `unsafe` block below rests on.
#![expect(
    unsafe_code,
    reason = "fork, exec, dup2, unshare, close_range and mount_setattr have no safe wrapper"
)]

use std::ffi::{CStr, CString, OsString};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::{io, iter, mem, ptr};

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

use super::orders::Program;

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

/// Sets and clears attributes (`MOUNT_ATTR_*`) of the mount at `path`, and with `AT_RECURSIVE` of all mounts below it.
pub(super) fn set_mount_attributes(
    path: &CStr,
    flags: libc::c_int,
    set: u64,
    clear: u64,
) -> io::Result<()> {
    // The kernel's `struct mount_attr`: set, clear, propagation, user namespace.
    let attributes: [u64; 4] = [set, clear, 0, 0];
    // SAFETY: the path ends with a zero byte, and the kernel reads exactly the size that it is given.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            attributes.as_ptr(),
            size_of_val(&attributes),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Closes everything but the standard streams, in case the gateway inherited a descriptor that
/// is not closed when a program starts.
pub(super) fn close_inherited() {
    // SAFETY: called as the launcher's first step, when it has opened nothing itself, so no
    // owner of a descriptor is left with a closed one. A kernel before 5.9 refuses, and then the
    // descriptors of the gateway itself are still closed by the flag that std gave them.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0);
    }
}

/// Duplicates stdin as descriptor 3 and stdout as descriptor 4, which stay open in the program.
pub(super) fn duplicate_pipes() -> io::Result<()> {
    // SAFETY: called in the process that becomes the program, after all that is read from its own pipes. An object that
    // owned one of the numbers is a copy from before the fork, which is neither used nor dropped before the program starts.
    let done = unsafe {
        libc::dup2(libc::STDIN_FILENO, 3) == 3 && libc::dup2(libc::STDOUT_FILENO, 4) == 4
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Replaces this process by the program: by the open file where there is one, by its path otherwise. Not by way of `Command`, whose `exec` would hand a file
/// that the kernel does not know to a shell.
pub(super) fn exec(program: Program, image: Option<File>) -> io::Error {
    let variables = program.environment.into_iter().map(|(mut name, value)| {
        name.push("=");
        name.push(value);
        name
    });
    let words = strings(iter::once(program.path).chain(program.arguments));
    let (words, variables) = match (words, strings(variables)) {
        (Ok(words), Ok(variables)) => (words, variables),
        (Err(error), _) | (_, Err(error)) => return error,
    };
    let (words, variables) = (pointers(&words), pointers(&variables));
    // SAFETY: both are null-terminated arrays of null-terminated strings that live until the
    // call returns, which it does only in failure, and so does the open file. The first word is
    // the program. Rust's runtime ignores SIGPIPE, and ignored signals would stay ignored in the
    // program.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        match &image {
            Some(file) => {
                libc::syscall(
                    libc::SYS_execveat,
                    file.as_raw_fd(),
                    c"".as_ptr(),
                    words.as_ptr(),
                    variables.as_ptr(),
                    libc::AT_EMPTY_PATH,
                );
            }
            None => {
                libc::execve(words[0], words.as_ptr(), variables.as_ptr());
            }
        }
    }
    io::Error::last_os_error()
}

fn strings(words: impl Iterator<Item = OsString>) -> io::Result<Vec<CString>> {
    words.map(|word| CString::new(word.into_vec()).map_err(Into::into)).collect()
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|string| string.as_ptr()).chain(iter::once(ptr::null())).collect()
}

/// Blocks SIGCHLD and SIGTERM, so that [`next_signal`] can take them one by one and none is lost
/// between two looks at the children.
pub(super) fn block_signals() -> io::Result<()> {
    let set = awaited_signals();
    // SAFETY: `set` is an initialised signal set. The default action of SIGCHLD replaces an inherited
    // SIG_IGN, under which the kernel would send no signal and keep no status of a child.
    let blocked = unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut())
    };
    if blocked == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Undoes [`block_signals`]: a blocked signal would stay blocked in the program.
pub(super) fn unblock_signals() {
    let set = awaited_signals();
    // SAFETY: `set` is an initialised signal set.
    unsafe {
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, ptr::null_mut());
    }
}

/// Waits for SIGCHLD or SIGTERM and returns which one came, or nothing when the wait was interrupted.
pub(super) fn next_signal() -> Option<libc::c_int> {
    let set = awaited_signals();
    // SAFETY: `set` is an initialised signal set, and no information about the signal is asked for.
    let signal = unsafe { libc::sigwaitinfo(&raw const set, ptr::null_mut()) };
    (signal > 0).then_some(signal)
}

fn awaited_signals() -> libc::sigset_t {
    // SAFETY: `sigemptyset` initialises the set, which is plain data, before it is read.
    unsafe {
        let mut set = mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigaddset(&raw mut set, libc::SIGTERM);
        set
    }
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
