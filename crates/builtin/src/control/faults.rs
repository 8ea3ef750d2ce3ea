use proto::{Code, Failure};
use serde_json::json;

/// Fails with everything that is wrong with an input.
pub(super) fn check(faults: &[String]) -> Result<(), Failure> {
    match faults {
        [] => Ok(()),
        faults => {
            Err(Failure::new(Code::InvalidInput, faults.join("; "))
                .details(json!({"faults": faults})))
        }
    }
}
