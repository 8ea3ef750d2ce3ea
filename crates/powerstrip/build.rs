//! Lets the linker put those functions side by side that a start and calls run (`scripts/order-functions` finds them).
//! Most of the program is for what few people use; spread among it, what all use would draw it into memory with it.

#![allow(clippy::print_stdout, reason = "this is how Cargo is told")]
#![allow(
    clippy::disallowed_methods,
    reason = "Cargo tells by the environment, and the linker is no tool of anybody's"
)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

const ORDER: &str = "functions.order";

/// Addresses that the loader sets at the start of the program, written in a few bits each instead of 24 bytes.
/// It reads all of them, and what was read stays in memory.
const PACKED: &str = "-Wl,-z,pack-relative-relocs";

fn main() {
    println!("cargo::rerun-if-changed={ORDER}");
    // Unoptimised, functions have other names and nobody counts their pages.
    if env::var("PROFILE").as_deref() != Ok("release") {
        return;
    }
    let Some(folder) = env::var_os("CARGO_MANIFEST_DIR") else { return };
    let order = Path::new(&folder).join(ORDER);
    let ordered = [
        format!("-Wl,--symbol-ordering-file={}", order.display()),
        "-Wl,--no-warn-symbol-ordering".to_owned(),
    ];
    // A linker that does not know these would end the build; without them it is only a little less dense.
    use_if(&ordered, |program| program.is_some());
    // Loaders before glibc 2.36 do not know it, so that it must also have been seen to run.
    use_if(&[PACKED.to_owned()], |program| {
        program.is_some_and(|program| succeeds(&mut Command::new(program)))
    });
}

/// Gives the linker these arguments if what became of a small program with them is good.
fn use_if(arguments: &[String], is_good: impl FnOnce(Option<PathBuf>) -> bool) {
    if is_good(linked_with(arguments)) {
        for argument in arguments {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
}

/// A program that does nothing, if the linker that will be used takes these arguments.
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
