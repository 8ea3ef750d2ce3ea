//! Options and bytes on their way to confined readers.

use kit::Refused;
use serde::Deserialize;
use serde_json::Value;

pub(crate) fn parse<T: for<'de> Deserialize<'de>>(options: Value) -> Result<T, Refused> {
    serde_json::from_value(options).map_err(|error| Refused::new("options", error.to_string()))
}

/// Several byte strings as one, and the length of each.
pub(crate) fn joined(parts: Vec<Vec<u8>>) -> (Vec<usize>, Vec<u8>) {
    (parts.iter().map(Vec::len).collect(), parts.concat())
}

/// Takes apart what [`joined`] has put together.
pub(crate) fn split(lengths: &[usize], bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, Refused> {
    let mut rest = bytes.as_slice();
    let mut parts = Vec::with_capacity(lengths.len());
    for length in lengths {
        let Some((part, more)) = rest.split_at_checked(*length) else {
            return Err(Refused::new("options", "its lengths are not those of its parts"));
        };
        parts.push(part.to_vec());
        rest = more;
    }
    Ok(parts)
}
