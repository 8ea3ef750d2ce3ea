//! Neither a caller nor a tool may send more than the tool's limits allow.

use files::{InlineLimits, encoded};
use proto::{Code, Failure, canonical};
use serde_json::{Value, json};

use super::arguments::Arguments;
use crate::Output;
use crate::catalog::Entry;

/// The largest result of a request that is no tool call: a resource may be a whole document.
const MAX_RESULT_BYTES: usize = 8 * 1024 * 1024;

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

/// Checks the parameters of a request to a server that is no tool call.
pub(crate) fn check_params(arguments: &Arguments, limit: usize) -> Result<(), Failure> {
    let size = arguments.size;
    if size <= limit {
        return Ok(());
    }
    let message = format!("the request has {size} bytes; {limit} are allowed");
    Err(Failure::new(Code::InvalidInput, message))
}

/// Checks the result of such a request.
pub(crate) fn check_result(output: &Output) -> Result<(), Failure> {
    if canonical::len(&output.data) <= MAX_RESULT_BYTES {
        return Ok(());
    }
    let message = format!("the result has more than {MAX_RESULT_BYTES} bytes");
    Err(Failure::new(Code::Internal, message))
}

/// Returns the size, which the cache needs too. Images and audio that may stay in an answer have limits of their own.
pub(crate) fn check_output(
    entry: &Entry,
    output: &Output,
    inline: InlineLimits,
) -> Result<usize, Failure> {
    let (size, limit) = (canonical::len(&output.data), entry.limits.max_output_bytes);
    if size > limit {
        let counted = size.saturating_sub(inline_media(output, inline));
        if counted > limit {
            return Err(TooLarge::Output { size: counted, limit }.into());
        }
    }
    Ok(size)
}

/// The length of the image and audio blocks of a server's result that are within the limits.
fn inline_media(output: &Output, inline: InlineLimits) -> usize {
    if output.native.is_none() {
        return 0;
    }
    let blocks = output.data.get("content").and_then(Value::as_array);
    let media = blocks.into_iter().flatten().filter(|block| {
        matches!(block.get("type").and_then(Value::as_str), Some("image" | "audio"))
    });
    let lengths = media.filter_map(|block| Some(block.get("data")?.as_str()?.len()));
    let total: usize = lengths.filter(|length| *length <= encoded(inline.media)).sum();
    total.min(inline.media_of_answer())
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
