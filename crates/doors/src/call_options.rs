//! Options of a call in addition to its input. Each door reads them from fields of its protocol; the rules are the same.

use std::sync::Arc;
use std::time::Duration;

use runs::RunOf;
use strip::Request;

/// The longest idempotency key.
const MAX_KEY_LEN: usize = 255;

/// The HTTP header with the name of the run that a call belongs to.
pub(crate) const RUN_HEADER: &str = "powerstrip-run";

/// The longest name of a run.
const MAX_RUN_LEN: usize = 200;

/// What a caller asks for in addition to the input.
#[derive(Debug, Default)]
pub(crate) struct CallOptions {
    verify: bool,
    idempotency_key: Option<String>,
    timeout: Option<Duration>,
    run: Option<Arc<str>>,
}

/// Why an option is not accepted; the message follows the name of the field.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InvalidOption {
    #[error("must be a text of 1 to {MAX_KEY_LEN} characters")]
    Key,
    #[error("must be a text of 1 to {MAX_RUN_LEN} characters without control characters")]
    Run,
    #[error("must be a positive whole number of milliseconds")]
    Timeout,
    #[error("must be `true` or `false`")]
    Verify,
}

impl CallOptions {
    pub(crate) fn verify(&mut self, verify: Option<bool>) -> Result<(), InvalidOption> {
        self.verify |= verify.ok_or(InvalidOption::Verify)?;
        Ok(())
    }

    pub(crate) fn key(&mut self, key: Option<&str>) -> Result<(), InvalidOption> {
        let fits = |key: &&str| (1..=MAX_KEY_LEN).contains(&key.len());
        self.idempotency_key = Some(key.filter(fits).ok_or(InvalidOption::Key)?.to_owned());
        Ok(())
    }

    /// The caller's idempotency key.
    pub(crate) fn into_key(self) -> Option<String> {
        self.idempotency_key
    }

    pub(crate) fn run(&mut self, name: Option<&str>) -> Result<(), InvalidOption> {
        let fits = |name: &&str| {
            (1..=MAX_RUN_LEN).contains(&name.chars().count()) && !name.chars().any(char::is_control)
        };
        self.run = Some(name.filter(fits).ok_or(InvalidOption::Run)?.into());
        Ok(())
    }

    /// The name of the run.
    pub(crate) fn into_run(self) -> Option<Arc<str>> {
        self.run
    }

    pub(crate) fn names_run(&self) -> bool {
        self.run.is_some()
    }

    pub(crate) fn timeout_ms(&mut self, milliseconds: Option<u64>) -> Result<(), InvalidOption> {
        let milliseconds = milliseconds.filter(|ms| *ms > 0).ok_or(InvalidOption::Timeout)?;
        self.timeout = Some(Duration::from_millis(milliseconds));
        Ok(())
    }

    /// Sets the options on a request, which keeps the door's choice of run unless a run is named.
    pub(crate) fn apply(self, request: &mut Request) {
        request.verify = self.verify;
        request.idempotency_key = self.idempotency_key;
        request.timeout = self.timeout;
        if let Some(name) = self.run {
            request.run = RunOf::Named(name);
        }
    }
}
