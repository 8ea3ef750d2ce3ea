//! The launcher's processes on Linux.
//!
//! ```text
//! gateway ─ supervisor ─ program            T0, T1
//! gateway ─ supervisor ─ init ─ program     T2, init is process 1 of its own namespace
//! ```
//! The supervisor stays outside the sandbox, so that the program can neither see nor signal it.
//! It is the reaper of everything the program leaves behind, and ends the way the program ended.
//!
//! All of them are started before the orders come. The last one waits for the orders and becomes the program.

use std::convert::Infallible;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::Duration;
use std::{env, fs, io, process, thread};

use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus};
use rustix::thread::UnshareFlags;

use super::orders::{FAILED, Failure, Orders, Preparation, Program, Stdin, Step};
use super::raw::{self, Fork};
use super::{Network, confine, mounts};
use crate::process::{Sha256, image, tree};

/// Runs one program under supervision; returns only if it could not be started.
pub(super) fn run(preparation: &Preparation) -> Result<Infallible, Failure> {
    raw::close_inherited();
    // The supervisor re-raises the program's fatal signal and must not leave a second core.
    rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })
        .map_err(Failure::at(Step::Session))?;
    rustix::process::setsid().map_err(Failure::at(Step::Session))?;
    die_with_parent().map_err(Failure::at(Step::Session))?;
    if parent() != preparation.parent {
        return Err(Failure::at(Step::Session)("the gateway ended before the launch"));
    }
    match preparation.isolation {
        Some(network) => supervise_namespace(network),
        None => supervise_tree(),
    }
}

/// T0 and T1: the program is our child, and whatever it leaves behind becomes ours. The supervisor
/// outlives a gateway that is killed: it gets SIGTERM then, which it takes as the order to kill the
/// whole tree. From any other sender SIGTERM means the same.
fn supervise_tree() -> Result<Infallible, Failure> {
    let me = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(me)).map_err(Failure::at(Step::Session))?;
    raw::block_signals().map_err(Failure::at(Step::Session))?;
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM))
        .map_err(Failure::at(Step::Session))?;
    match raw::fork().map_err(Failure::at(Step::Session))? {
        Fork::Child => {
            raw::unblock_signals();
            let orphaned = || Failure::at(Step::Session)("the supervisor ended before the launch");
            die_with_parent().map_err(Failure::at(Step::Session))?;
            if rustix::process::getppid() != Some(me) {
                return Err(orphaned());
            }
            start(None)
        }
        Fork::Parent(child) => {
            let _ = leave_pipes();
            let ending = wait_for_tree(child);
            sweep(me);
            // A signal that ended the program must be able to end the supervisor, too.
            raw::unblock_signals();
            end_like(ending)
        }
    }
}

/// T2: the program lives in namespaces whose first process is our child; when that one ends,
/// the kernel kills everything in them.
fn supervise_namespace(network: Network) -> Result<Infallible, Failure> {
    enter_namespaces(network).map_err(Failure::at(Step::Namespaces))?;
    let (alive, keep_alive) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)
        .map_err(Failure::at(Step::Session))?;
    let (mut verdict, mut judge) = io::pipe().map_err(Failure::at(Step::Session))?;

    match raw::fork().map_err(Failure::at(Step::Namespaces))? {
        Fork::Child => {
            drop((keep_alive, verdict));
            die_with_parent().map_err(Failure::at(Step::Session))?;
            // Our parent's id means nothing inside the namespace; its end of the pipe does.
            if rustix::io::read(&alive, &mut [0; 1]) != Err(Errno::AGAIN) {
                return Err(Failure::at(Step::Session)("the supervisor ended before the launch"));
            }
            be_init(network, &mut judge)
        }
        Fork::Parent(init) => {
            drop((judge, alive));
            let _ = leave_pipes();
            let status = wait_for(init);
            let mut signal = [0; 1];
            let ending = match verdict.read_exact(&mut signal) {
                Ok(()) => Some(Ending::Signal(i32::from(signal[0]))),
                Err(_) => status.and_then(Ending::of),
            };
            drop(keep_alive);
            end_like(ending)
        }
    }
}

/// Process 1 of the namespace: starts the program, reaps, and ends with it. The program is not
/// process 1 itself because the kernel ignores most signals to that one, even its own.
fn be_init(network: Network, judge: &mut io::PipeWriter) -> Result<Infallible, Failure> {
    match raw::fork().map_err(Failure::at(Step::Namespaces))? {
        Fork::Child => start(Some(network)),
        Fork::Parent(child) => {
            let _ = leave_pipes();
            match wait_for(child).and_then(Ending::of) {
                Some(Ending::Code(code)) => process::exit(code),
                // Process 1 cannot kill itself by a signal, so it reports the number in its exit code.
                Some(Ending::Signal(signal)) => {
                    let _ = judge.write_all(&[signal.to_le_bytes()[0]]);
                    process::exit(FAILED)
                }
                None => process::exit(FAILED),
            }
        }
    }
}

/// Waits for the orders and carries them out, in the process that becomes the program.
fn start(isolation: Option<Network>) -> Result<Infallible, Failure> {
    let orders = Orders::read(Stdin).map_err(Failure::at(Step::Session))?;
    let Some((orders, program)) = orders else { process::exit(0) };
    if orders.isolation() != isolation {
        return Err(Failure::at(Step::Namespaces)("the orders need another preparation"));
    }
    if orders.confinement.is_some() {
        // When memory runs out, the kernel ends tools before the gateway. Best effort: some hosts forbid it.
        let _ = fs::write("/proc/self/oom_score_adj", "1000");
    }
    let own = match (isolation, &orders.confinement) {
        (Some(_), Some(confinement)) => {
            let limit = orders.limits.private_folder;
            mounts::arrange(confinement, limit).map_err(Failure::at(Step::Namespaces))?
        }
        _ => Vec::new(),
    };
    // After the mounts, or the program would start in the folder below its private one.
    if let Some(folder) = &program.folder {
        env::set_current_dir(folder).map_err(Failure::at(Step::Folder))?;
    }
    // Before any file is opened that is still in use when the program starts: it could have one of the numbers.
    if orders.moves_pipes {
        move_pipes().map_err(Failure::at(Step::Session))?;
    }
    let image = match &orders.digest {
        Some(digest) => open_image(&program, digest)?,
        None => None,
    };
    orders.limits.apply(isolation.is_some()).map_err(Failure::at(Step::Limits))?;
    let landlock_abi = match &orders.confinement {
        Some(confinement) => confine::confine(confinement, &own)?,
        None => 0,
    };
    if orders.probe {
        let _ = write!(io::stdout(), "{landlock_abi}");
        process::exit(0);
    }
    Err(Failure::exec(&raw::exec(program, image)))
}

/// Opens the program's file if its content has this digest, so that the very file that was read is executed. None for a
/// script, which its interpreter opens by its path.
fn open_image(program: &Program, digest: &Sha256) -> Result<Option<fs::File>, Failure> {
    let opened = image::open_with_digest(Path::new(&program.path), digest);
    let file = opened.map_err(|error| Failure::exec(&error))?;
    let Some(mut file) = file else {
        return Err(Failure::at(Step::Digest)("the program's file has another digest"));
    };
    let mut start = [0; 2];
    let is_script = file.rewind().and_then(|()| file.read_exact(&mut start)).is_ok();
    Ok((!is_script || start != *b"#!").then_some(file))
}

/// Enters all namespaces but the one of mounts, which would keep the mounts of today while a
/// launcher waits for its orders.
fn enter_namespaces(network: Network) -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let mut flags =
        UnshareFlags::NEWUSER | UnshareFlags::NEWPID | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS;
    if network == Network::Denied {
        flags |= UnshareFlags::NEWNET;
    }
    raw::unshare(flags)?;
    // The ids of user and group are the same inside, so that files keep their owners.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
    fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))
}

fn die_with_parent() -> rustix::io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
}

fn parent() -> u32 {
    rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs())
}

/// Lets go of the program's pipes, so that the gateway sees them close when the program closes them.
fn leave_pipes() -> io::Result<()> {
    let null = fs::File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}

/// Moves stdin to descriptor 3 and stdout to descriptor 4.
fn move_pipes() -> io::Result<()> {
    raw::duplicate_pipes()?;
    let null = fs::File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(())
}

/// Waits until `child` ends, reaping every other process that became ours meanwhile.
fn wait_for(child: Pid) -> Option<WaitStatus> {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == child => return Some(status),
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Waits until `child` ends or SIGTERM arrives, reaping every other process that became ours meanwhile.
fn wait_for_tree(child: Pid) -> Option<Ending> {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == child => return Ending::of(status),
            Ok(Some(_)) | Err(Errno::INTR) => continue,
            Ok(None) => {}
            Err(_) => return None,
        }
        let term = Signal::TERM.as_raw();
        if raw::next_signal() == Some(term) {
            return Some(Ending::Signal(term));
        }
    }
}

/// Kills and reaps all that the program left behind. As subreaper we have every one of them
/// below us, whatever session or group it made for itself.
fn sweep(me: Pid) {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => {
                tree::signal(&tree::descendants(me), Signal::KILL);
                thread::sleep(Duration::from_millis(1));
            }
            Err(_) => return,
        }
    }
}

enum Ending {
    Code(i32),
    Signal(i32),
}

impl Ending {
    fn of(status: WaitStatus) -> Option<Self> {
        let code = status.exit_status().map(Self::Code);
        code.or_else(|| status.terminating_signal().map(Self::Signal))
    }
}

/// Ends the supervisor the way the program ended.
fn end_like(ending: Option<Ending>) -> ! {
    match ending {
        Some(Ending::Code(code)) => process::exit(code),
        Some(Ending::Signal(number)) => {
            raw::die_by(number);
            // Not a signal that ends a process after all: say it the way shells do.
            process::exit(128 + number)
        }
        None => process::exit(FAILED),
    }
}
