//! Tests that a machine cannot run. `scripts/test` installs what they need, so that none of them is skipped in CI.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write as _;

/// Notes that a test cannot run because a program is not installed or a service not started. Fails with `CI=true`,
/// where `scripts/test` provides all of them.
pub fn skip_without(what: impl Display) {
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!in_ci, "no test may be skipped with CI=true, and this one needs {what}");
    note(format_args!("needs {what}"));
}

/// Notes that a test, or a part of one, cannot run because the kernel or the user lacks what no package provides.
pub fn skip_on_this_host(why: impl Display) {
    note(why);
}

/// Says it on standard error, and in the file that `scripts/test` prints at its end: the test runner shows what failed
/// tests print only.
#[expect(clippy::print_stderr, reason = "a skipped test must be visible")]
fn note(why: impl Display) {
    eprintln!("skipped: {why}");
    let Some(path) = std::env::var_os("TEST_SKIPS") else { return };
    let mut file =
        OpenOptions::new().append(true).create(true).open(path).expect("TEST_SKIPS is writable");
    writeln!(file, "{why}").expect("TEST_SKIPS is writable");
}
