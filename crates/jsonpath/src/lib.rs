//! JSONPath (RFC 9535) with a budget: a query that is too expensive ends with an error instead of taking a thread or the
//! memory of the gateway.

mod parse;
mod walk;

use std::time::Duration;

use serde_json::Value;

/// The number of steps that one query may take. A visited node is one step.
const MAX_STEPS: u64 = 5_000_000;

/// The time that one query may take, for steps that are slower than expected.
const MAX_TIME: Duration = Duration::from_secs(2);

/// The memory that the copied matches of one query may take.
const MAX_RESULT_BYTES: usize = 16 << 20;

/// A parsed JSONPath query.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    segments: Vec<Segment>,
}

/// Why a text is not a JSONPath query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at position {position}: {message}")]
pub struct PathFault {
    /// The byte offset in the text, counted from 1.
    pub position: usize,
    pub message: String,
}

/// Which limit a query exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathLimit {
    #[error("the query needs more than {MAX_STEPS} steps; use fewer `..` segments and filters")]
    Steps,
    #[error("the query takes longer than {} seconds; use fewer `..` segments and filters", MAX_TIME.as_secs())]
    Time,
    #[error("the matches take more than {MAX_RESULT_BYTES} bytes; select smaller parts")]
    Size,
}

/// What a query selected.
#[derive(Clone, Debug, PartialEq)]
pub struct Selected {
    /// Copies of the first matches, in document order.
    pub matches: Vec<Value>,
    /// The number of all matches.
    pub total: usize,
}

impl JsonPath {
    /// Parses a query, which begins with `$`.
    pub fn parse(text: &str) -> Result<Self, PathFault> {
        parse::parse(text).map(|segments| Self { segments })
    }

    /// Whether the query consists of names and indices only, so that it matches at most once.
    pub fn is_singular(&self) -> bool {
        is_singular(&self.segments)
    }

    /// Runs the query and copies at most `limit` matches. This computes for up to two seconds: call it on a thread that
    /// may block.
    pub fn select(&self, document: &Value, limit: usize) -> Result<Selected, PathLimit> {
        walk::select(&self.segments, document, limit)
    }
}

fn is_singular(segments: &[Segment]) -> bool {
    segments.iter().all(|segment| {
        !segment.descendants
            && matches!(segment.selectors[..], [Selector::Name(_) | Selector::Index(_)])
    })
}

#[derive(Clone, Debug, PartialEq)]
struct Segment {
    /// Whether the selectors apply to the node and everything below it (`..`).
    descendants: bool,
    selectors: Vec<Selector>,
}

#[derive(Clone, Debug, PartialEq)]
enum Selector {
    Name(String),
    Wildcard,
    Index(i64),
    Slice { start: Option<i64>, end: Option<i64>, step: i64 },
    Filter(Test),
}

/// A condition in a filter.
#[derive(Clone, Debug, PartialEq)]
enum Test {
    Or(Vec<Test>),
    And(Vec<Test>),
    Not(Box<Test>),
    Exists(Query),
    Compare(Operand, Comparison, Operand),
    /// `match` (the whole text) or `search` (any part of it).
    Matches {
        text: Operand,
        pattern: Operand,
        whole: bool,
    },
}

/// A query inside of a filter.
#[derive(Clone, Debug, PartialEq)]
struct Query {
    /// Whether it starts at the root (`$`) or at the current node (`@`).
    from_root: bool,
    segments: Vec<Segment>,
}

/// Something in a filter that has at most one value.
#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Literal(Value),
    /// A singular query.
    Query(Query),
    Length(Box<Operand>),
    Count(Query),
    Value(Query),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[cfg(test)]
mod tests;
