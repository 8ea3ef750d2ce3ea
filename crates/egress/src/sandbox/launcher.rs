//! The launcher: our own executable, started again as a single-threaded process that prepares
//! one run, waits for its orders and then executes the program.
//!
//! `pre_exec` cannot be used: namespaces, Landlock rules and filters need allocation and several
//! processes, which is undefined behaviour between `fork` and `exec` of a threaded program.

use std::convert::Infallible;
use std::env;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicBool, Ordering};

use super::orders::{Failure, LAUNCH, Preparation, Stdin, Step};

/// Set once `main` has shown that this executable can be its own launcher.
static READY: AtomicBool = AtomicBool::new(false);

/// Becomes the launcher if this process was started as one, and does not return then.
///
/// The binary's `main` calls it before anything else: the launcher relies on being the only thread.
pub fn maybe_run_launcher() {
    if env::args_os().nth(1).as_deref() == Some(OsStr::new(LAUNCH)) {
        launch();
    }
    READY.store(true, Ordering::Relaxed);
}

/// Whether `main` has called [`maybe_run_launcher`], so that this executable can launch children.
pub(crate) fn is_launcher_ready() -> bool {
    READY.load(Ordering::Relaxed)
}

fn launch() -> ! {
    let preparation = match Preparation::read(Stdin) {
        Ok(preparation) => preparation,
        Err(error) => {
            let reason = format!("the launcher received no preparation orders: {error}");
            Failure::at(Step::Session)(reason).report("-")
        }
    };
    let Err(failure) = run(&preparation);
    failure.report(&preparation.token)
}

#[cfg(target_os = "linux")]
fn run(preparation: &Preparation) -> Result<Infallible, Failure> {
    super::supervise::run(preparation)
}

/// Elsewhere the ladder ends at T0: own session and limits, then the program in our place.
#[cfg(not(target_os = "linux"))]
fn run(_: &Preparation) -> Result<Infallible, Failure> {
    use std::os::unix::process::CommandExt;
    use std::process;

    rustix::process::setsid().map_err(Failure::at(Step::Session))?;
    let orders = super::orders::Orders::read(Stdin).map_err(Failure::at(Step::Session))?;
    let Some((orders, program)) = orders else { process::exit(0) };
    if orders.confinement.is_some() {
        return Err(Failure::at(Step::Landlock)("this system has no sandbox"));
    }
    if let Some(folder) = &program.folder {
        env::set_current_dir(folder).map_err(Failure::at(Step::Folder))?;
    }
    orders.limits.apply(false).map_err(Failure::at(Step::Limits))?;
    if orders.probe {
        process::exit(0);
    }
    if let Some(digest) = &orders.digest {
        let opened = crate::process::image::open_with_digest(program.path.as_ref(), digest);
        if opened.map_err(|error| Failure::exec(&error))?.is_none() {
            return Err(Failure::at(Step::Digest)("the program's file has another digest"));
        }
    }
    if orders.moves_pipes {
        move_pipes().map_err(Failure::at(Step::Session))?;
    }
    let mut command = process::Command::new(&program.path);
    command.args(&program.arguments).env_clear().envs(&program.environment);
    Err(Failure::exec(&command.exec()))
}

/// Moves stdin to descriptor 3 and stdout to descriptor 4, if those numbers are free.
#[cfg(not(target_os = "linux"))]
fn move_pipes() -> std::io::Result<()> {
    use std::os::fd::{AsRawFd, IntoRawFd};

    let (input, output) = (rustix::io::dup(std::io::stdin())?, rustix::io::dup(std::io::stdout())?);
    if (input.as_raw_fd(), output.as_raw_fd()) != (3, 4) {
        return Err(std::io::Error::other("descriptors 3 and 4 are in use"));
    }
    // They stay open in the program.
    let _ = (input.into_raw_fd(), output.into_raw_fd());
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(())
}
