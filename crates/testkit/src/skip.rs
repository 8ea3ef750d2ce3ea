//! Tests that a machine cannot run. `scripts/test` installs what they need, so that none of them is skipped in CI.

use std::fmt::Display;

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

#[expect(clippy::print_stderr, reason = "a skipped test must be visible")]
fn note(why: impl Display) {
    eprintln!("skipped: {why}");
}
