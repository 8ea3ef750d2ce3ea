//! Text to YAML under a small budget: what a pack's author writes, and what a stranger could drop beside it.

use serde::de::DeserializeOwned;
use serde_saphyr::options::AliasLimits;
use serde_saphyr::{
    DuplicateKeyPolicy, Error, MergeKeyPolicy, NonFiniteFloatPolicy, Options, UserMessageFormatter,
};

use crate::Fault;

/// The largest pack or schema file that is read at all.
pub(crate) const MAX_FILE_BYTES: usize = 256 * 1024;

/// Reads one YAML document, or says in which line it is not what it should be.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    check_size(text.len())?;
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| fault(&error))
}

/// Refuses a file that is too large before anything else looks at it.
fn check_size(bytes: usize) -> Result<(), Fault> {
    if bytes > MAX_FILE_BYTES {
        return Err(Fault::new(format!(
            "the file has {bytes} bytes; {MAX_FILE_BYTES} are allowed"
        )));
    }
    Ok(())
}

fn options() -> Options {
    let mut alias_limits = AliasLimits::default();
    alias_limits.max_total_replayed_events = 2_000;
    alias_limits.max_replay_stack_depth = 8;
    alias_limits.max_alias_expansions_per_anchor = 100;
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 20_000,
            max_aliases: 200,
            max_anchors: 100,
            max_recorded_anchor_events: 20_000,
            max_recorded_anchor_bytes: MAX_FILE_BYTES,
            max_depth: 48,
            flow_nesting_limit: 48,
            max_documents: 1,
            max_nodes: 10_000,
            max_total_scalar_bytes: MAX_FILE_BYTES,
            max_merge_keys: 50,
        },
        alias_limits: alias_limits,
        emit_comments: false,
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Merge,
        // `NO` is a country and not a falsehood.
        strict_booleans: true,
        reject_unsupported_tags: true,
        non_finite_float_policy: NonFiniteFloatPolicy::Reject,
        with_snippet: false,
    }
}

fn fault(error: &Error) -> Fault {
    let error = error.without_snippet();
    let line = error.location().map(|at| usize::try_from(at.line()).unwrap_or(usize::MAX));
    let message = match error {
        Error::SerdeUnknownField { field, expected, .. } => unknown("field", field, expected),
        Error::SerdeUnknownVariant { variant, expected, .. } => unknown("value", variant, expected),
        Error::SerdeMissingField { field, .. } => format!("the field `{field}` is missing"),
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("`{key}` stands here twice")
        }
        other => without_location(other.render_with_formatter(&UserMessageFormatter)),
    };
    Fault { line: line.filter(|line| *line > 0), ..Fault::new(message) }
}

/// The line is told by the fault itself; the library's text would say it a second time.
fn without_location(message: String) -> String {
    match message.rfind(" at line ") {
        Some(at) => message[..at].to_owned(),
        None => message,
    }
}

fn unknown(what: &str, found: &str, known: &[&str]) -> String {
    let shown: String = found.chars().take(80).collect();
    match nearest(&shown, known.iter().copied()) {
        Some(nearest) => format!("unknown {what} `{shown}`; did you mean `{nearest}`?"),
        None => format!("unknown {what} `{shown}`; known are {}", listed(known)),
    }
}

/// The known name that a misspelt one most likely stands for.
pub(crate) fn nearest<'a>(
    found: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let found = found.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&found, &name.to_lowercase()), name))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// Names for a sentence: "`a`, `b`".
pub(crate) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}
