//! How commands end other than by success.

use std::process::ExitCode;

/// The exit code of a command that failed.
pub(crate) const FAILED: ExitCode = ExitCode::FAILURE;

/// An error with its causes. A cause that the message before it has named already is not repeated.
pub(crate) fn describe(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Flags or arguments that do not fit together.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::describe;

    #[test]
    fn causes_are_named_once() {
        let error = std::io::Error::other("no room");
        let error = Err::<(), _>(error).context("cannot write: no room").context("file x");
        assert_eq!(describe(&error.unwrap_err()), "file x: cannot write: no room");
        let error = Err::<(), _>(std::io::Error::other("no room")).context("file x");
        assert_eq!(describe(&error.unwrap_err()), "file x: no room");
    }
}
