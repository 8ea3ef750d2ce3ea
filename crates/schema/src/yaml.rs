//! The one YAML reader: untrusted files cost bounded time and memory, and errors name their line.

mod outline;
mod tree;

use serde::de::DeserializeOwned;
use serde_saphyr::options::AliasLimits;
use serde_saphyr::{
    DuplicateKeyPolicy, Error, MergeKeyPolicy, NonFiniteFloatPolicy, Options, UserMessageFormatter,
};

pub use outline::{Field, Outline, Shape};
pub use serde_saphyr::{Location, Spanned, to_string};
pub use tree::{Content, Entry, Node, Step, show_path};

/// The longest name that is compared with others.
const MAX_COMPARED_BYTES: usize = 128;

/// How deep a document may be nested.
const MAX_DEPTH: usize = 64;

/// Parser events that a document of any size may take.
const MIN_EVENTS: usize = 20_000;

/// Beyond [`MIN_EVENTS`], one parser event per this many bytes.
const BYTES_PER_EVENT: usize = 8;

const MAX_ERROR_CHARS: usize = 300;

/// How one kind of file is read.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub max_bytes: usize,
    /// Whether `<<: *base` merges a mapping; otherwise it is an error.
    pub merge_keys: bool,
    /// Whether tags such as `!Sub` are ignored; otherwise they are an error.
    pub custom_tags: bool,
}

/// Why a text is not the YAML that was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct YamlError {
    /// Counted from 1.
    pub line: Option<usize>,
    pub message: String,
}

/// Reads one document. Only `true` and `false` are booleans, and a repeated key is an error.
pub fn parse<T: DeserializeOwned>(text: &str, limits: Limits) -> Result<T, YamlError> {
    let Limits { max_bytes, .. } = limits;
    if text.len() > max_bytes {
        let message = format!("the file has {} bytes; {max_bytes} are allowed", text.len());
        return Err(YamlError { line: None, message });
    }
    serde_saphyr::from_str_with_options(text, options(limits)).map_err(|error| describe(&error))
}

fn options(limits: Limits) -> Options {
    let events = (limits.max_bytes / BYTES_PER_EVENT).max(MIN_EVENTS);
    let mut alias_limits = AliasLimits::default();
    alias_limits.max_total_replayed_events = events / 10;
    alias_limits.max_replay_stack_depth = 8;
    alias_limits.max_alias_expansions_per_anchor = events / 200;
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: events,
            max_nodes: events / 2,
            max_aliases: events / 100,
            max_anchors: events / 200,
            max_recorded_anchor_events: events,
            max_recorded_anchor_bytes: limits.max_bytes,
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_documents: 1,
            max_total_scalar_bytes: 2 * limits.max_bytes,
            max_merge_keys: events / 400,
        },
        alias_limits: alias_limits,
        emit_comments: false,
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: if limits.merge_keys { MergeKeyPolicy::Merge } else { MergeKeyPolicy::Error },
        strict_booleans: true,
        reject_unsupported_tags: !limits.custom_tags,
        non_finite_float_policy: NonFiniteFloatPolicy::Reject,
        with_snippet: false,
    }
}

fn describe(error: &Error) -> YamlError {
    let error = error.without_snippet();
    let line = error.location().and_then(|at| usize::try_from(at.line()).ok());
    let message = match error {
        Error::SerdeUnknownField { field, expected, .. } => unknown("field", field, expected),
        Error::SerdeUnknownVariant { variant, expected, .. } => unknown("value", variant, expected),
        Error::SerdeMissingField { field, .. } => format!("the field `{field}` is missing"),
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("duplicate mapping key: {key}")
        }
        other => first_line(&other.render_with_formatter(&UserMessageFormatter)),
    };
    let message = message.chars().take(MAX_ERROR_CHARS).collect();
    YamlError { line: line.filter(|line| *line > 0), message }
}

/// The library's message without the location, which the error has in a field.
fn first_line(message: &str) -> String {
    let first = message.lines().next().unwrap_or_default();
    first.rsplit_once(" at line ").map_or(first, |(text, _)| text).to_owned()
}

fn unknown(what: &str, found: &str, known: &[&str]) -> String {
    let shown: String = found.chars().take(80).collect();
    match nearest(&shown, known.iter().copied()) {
        Some(nearest) => format!("unknown {what} `{shown}`; did you mean `{nearest}`?"),
        None => format!("unknown {what} `{shown}`; known are {}", list_names(known)),
    }
}

/// The known name that is most similar to a misspelt one, if any is similar. Names that are too long to be misspelt are not
/// compared: that takes time by the product of both lengths.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_COMPARED_BYTES {
        return None;
    }
    let name = name.to_lowercase();
    known
        .into_iter()
        .filter(|known| known.len() <= MAX_COMPARED_BYTES)
        .map(|known| (strsim::jaro_winkler(&name, &known.to_lowercase()), known))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}

/// Names for a sentence: "`a`, `b`".
fn list_names<S: AsRef<str>>(names: &[S]) -> String {
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
