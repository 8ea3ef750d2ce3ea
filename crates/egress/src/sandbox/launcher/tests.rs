#![allow(clippy::unwrap_used, reason = "tests")]

use super::{Failure, Step};

#[test]
fn a_failure_is_found_only_under_its_token() {
    let line = "noise\n__launch abc {\"step\":\"Exec\",\"not_found\":true,\"reason\":\"gone\"}\n";
    let failure = Failure::find(line.as_bytes(), "abc").unwrap();
    assert_eq!(failure.step, Step::Exec);
    assert!(failure.not_found);
    assert!(Failure::find(line.as_bytes(), "other").is_none());
    assert!(Failure::find(b"", "abc").is_none());
    assert!(Failure::find(b"__launch abc {broken", "abc").is_none());
}
