//! Neither a caller nor a tool may send more than the tool's limits allow.

use proto::{Code, canonical};
use serde_json::{Value, json};

use super::arguments::Arguments;
use crate::Failure;
use crate::catalog::Entry;

#[derive(Debug)]
enum TooLarge {
    Input { size: usize, limit: usize },
    Output { size: usize, limit: usize },
}

pub(crate) fn check_input(entry: &Entry, arguments: &Arguments) -> Result<(), Failure> {
    let (size, limit) = (arguments.size, entry.limits.max_input_bytes);
    if size > limit {
        return Err(TooLarge::Input { size, limit }.into());
    }
    Ok(())
}

/// Returns the size, which the cache needs too.
pub(crate) fn check_output(entry: &Entry, data: &Value) -> Result<usize, Failure> {
    let (size, limit) = (canonical::len(data), entry.limits.max_output_bytes);
    if size > limit {
        return Err(TooLarge::Output { size, limit }.into());
    }
    Ok(size)
}

impl From<TooLarge> for Failure {
    fn from(breach: TooLarge) -> Self {
        match breach {
            TooLarge::Input { size, limit } => Failure::new(
                Code::InvalidInput,
                format!("the input is {size} bytes long; this tool takes at most {limit}"),
            )
            .details(json!({"size": size, "limit": limit})),
            TooLarge::Output { size, limit } => Failure::new(
                Code::Internal,
                format!("the tool answered with {size} bytes; at most {limit} are passed on"),
            )
            .details(json!({"size": size, "limit": limit})),
        }
    }
}
