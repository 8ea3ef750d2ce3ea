use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An error code, the same at every door.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    InvalidInput,
    NotFound,
    RateLimit,
    Timeout,
    Unavailable,
    Internal,
    Nondeterministic,
    Unsupported,
    Denied,
}

struct Row {
    code: Code,
    name: &'static str,
    http: u16,
    retryable: bool,
    blame: Blame,
}

/// One row per code; the only mapping of codes, for every door.
const TABLE: [Row; 9] = [
    row(Code::InvalidInput, "INVALID_INPUT", 400, false, Blame::Caller),
    row(Code::NotFound, "NOT_FOUND", 404, false, Blame::Caller),
    row(Code::RateLimit, "RATE_LIMIT", 429, true, Blame::Caller),
    row(Code::Timeout, "TIMEOUT", 504, true, Blame::Tool),
    row(Code::Unavailable, "UNAVAILABLE", 503, true, Blame::Gateway),
    row(Code::Internal, "INTERNAL", 500, false, Blame::Tool),
    row(Code::Nondeterministic, "NONDETERMINISTIC", 409, false, Blame::Tool),
    row(Code::Unsupported, "UNSUPPORTED", 501, false, Blame::Gateway),
    row(Code::Denied, "DENIED", 403, false, Blame::Caller),
];

const fn row(code: Code, name: &'static str, http: u16, retryable: bool, blame: Blame) -> Row {
    Row { code, name, http, retryable, blame }
}

impl Code {
    /// Every code, in the order of the table.
    pub fn all() -> impl Iterator<Item = Code> {
        TABLE.iter().map(|row| row.code)
    }

    fn row(self) -> &'static Row {
        // The table is in declaration order; `table_is_in_order` keeps it so.
        &TABLE[self as usize]
    }

    /// The name on the wire, such as `INVALID_INPUT`.
    pub fn as_str(self) -> &'static str {
        self.row().name
    }

    /// The HTTP status of an envelope that failed with this code.
    pub fn http_status(self) -> u16 {
        self.row().http
    }

    /// The code for the status with which another server refused a request: the one mapping for tools of kind `http`,
    /// OpenAPI servers, search providers and scraped pages.
    pub fn of_http(status: u16) -> Self {
        match status {
            404 => Self::NotFound,
            408 => Self::Timeout,
            429 => Self::RateLimit,
            400..=499 => Self::InvalidInput,
            500..=599 => Self::Unavailable,
            _ => Self::Internal,
        }
    }

    /// Whether a server that answers with this status, which is none of success, may have done what it was asked: it does
    /// not say that it refused the request, or ran out of time.
    pub fn http_leaves_effect_unknown(status: u16) -> bool {
        !matches!(status, 400..=407 | 409..=499 | 501 | 503)
    }

    /// Whether the same call may succeed later, unless the failure says otherwise.
    pub fn retryable(self) -> bool {
        self.row().retryable
    }

    /// The side that is usually at fault.
    pub fn blame(self) -> Blame {
        self.row().blame
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that is not a code.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not an error code")]
pub struct UnknownCode(String);

impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        TABLE
            .iter()
            .find(|row| row.name == text)
            .map(|row| row.code)
            .ok_or_else(|| UnknownCode(text.to_owned()))
    }
}

/// The party at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Blame {
    Caller,
    Tool,
    Gateway,
}

impl Blame {
    /// Its name in logs and audit rows.
    pub fn as_str(self) -> &'static str {
        match self {
            Blame::Caller => "caller",
            Blame::Tool => "tool",
            Blame::Gateway => "gateway",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_order() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.code as usize, index);
            assert_eq!(row.name.parse::<Code>().ok(), Some(row.code));
            assert_eq!(serde_json::to_value(row.code).ok(), Some(row.name.into()));
        }
    }

    #[test]
    fn statuses_of_other_servers_have_one_code_each() {
        for (status, code) in [
            (404, Code::NotFound),
            (408, Code::Timeout),
            (429, Code::RateLimit),
            (400, Code::InvalidInput),
            (403, Code::InvalidInput),
            (410, Code::InvalidInput),
            (500, Code::Unavailable),
            (503, Code::Unavailable),
            (304, Code::Internal),
        ] {
            assert_eq!(Code::of_http(status), code, "{status}");
        }
    }

    #[test]
    fn unknown_codes_are_refused() {
        assert!("invalid_input".parse::<Code>().is_err());
    }
}
