//! With `POWERSTRIP_FUNCTION_ORDER`, a file that `scripts/order-functions` writes, the linker places the functions that a
//! start and calls run next to each other, so that rarely used code does not share memory pages with them.
//! `scripts/package` builds with it.

#![allow(clippy::print_stdout, reason = "Cargo reads the output of build scripts")]
#![allow(
    clippy::disallowed_methods,
    reason = "build scripts get their input from the environment and may start the linker"
)]

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs};

/// The variable that names the order file.
const ORDER: &str = "POWERSTRIP_FUNCTION_ORDER";

/// Packs the relocations that the loader applies at start into a few bits each instead of 24 bytes. The loader reads
/// all of them, and pages that were read stay in memory.
const PACKED: &str = "-Wl,-z,pack-relative-relocs";

fn main() {
    println!("cargo::rerun-if-env-changed={ORDER}");
    // Also true for `dist`, which inherits from `release`.
    if env::var("PROFILE").as_deref() != Ok("release") {
        return;
    }
    if let Ok(order) = env::var(ORDER)
        && !order.is_empty()
    {
        println!("cargo::rerun-if-changed={order}");
        let ordered = [
            format!("-Wl,--symbol-ordering-file={order}"),
            "-Wl,--no-warn-symbol-ordering".to_owned(),
        ];
        // A linker that does not know these flags would fail the build; they are optional.
        use_if(&ordered, |program| program.is_some());
    }
    // Loaders before glibc 2.36 do not support this, so a linked program must also run.
    use_if(&[PACKED.to_owned()], |program| {
        program.is_some_and(|program| succeeds(&mut Command::new(program)))
    });
}

/// Passes these arguments to the linker if `is_good` accepts a small program that was linked with them.
fn use_if(arguments: &[String], is_good: impl FnOnce(Option<PathBuf>) -> bool) {
    if is_good(linked_with(arguments)) {
        for argument in arguments {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
}

/// Links an empty program with these arguments; `None` if the linker refuses them.
fn linked_with(arguments: &[String]) -> Option<PathBuf> {
    let folder = PathBuf::from(env::var_os("OUT_DIR")?);
    let (source, program) = (folder.join("nothing.rs"), folder.join("nothing"));
    fs::write(&source, "fn main() {}").ok()?;
    let mut rustc = Command::new(env::var_os("RUSTC")?);
    rustc.arg("--target").arg(env::var_os("TARGET")?).arg("-o").arg(&program);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut choice = OsString::from("linker=");
        choice.push(linker);
        rustc.arg("-C").arg(choice);
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    for argument in arguments {
        rustc.arg("-C").arg(format!("link-arg={argument}"));
    }
    succeeds(rustc.arg(source)).then_some(program)
}

fn succeeds(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
