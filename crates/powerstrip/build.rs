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

fn main() {
    println!("cargo::rerun-if-changed={ORDER}");
    // Unoptimised, functions have other names and nobody counts their pages.
    if env::var("PROFILE").as_deref() != Ok("release") {
        return;
    }
    let Some(folder) = env::var_os("CARGO_MANIFEST_DIR") else { return };
    let order = Path::new(&folder).join(ORDER);
    let arguments = [
        format!("-Wl,--symbol-ordering-file={}", order.display()),
        "-Wl,--no-warn-symbol-ordering".to_owned(),
    ];
    // A linker that does not know these would end the build; without them it is only a little less dense.
    if links_with(&arguments).is_some_and(|links| links) {
        for argument in arguments {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
}

/// Whether the linker that will be used takes these arguments.
fn links_with(arguments: &[String]) -> Option<bool> {
    let folder = PathBuf::from(env::var_os("OUT_DIR")?);
    let source = folder.join("nothing.rs");
    fs::write(&source, "fn main() {}").ok()?;
    let mut rustc = Command::new(env::var_os("RUSTC")?);
    rustc.arg("--target").arg(env::var_os("TARGET")?).arg("-o").arg(folder.join("nothing"));
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
    let status = rustc.arg(source).stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    Some(status.success())
}
