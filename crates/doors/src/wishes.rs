//! What a caller may ask for beside the input. Each door has its own place for it and the same rules.

use std::sync::Arc;
use std::time::Duration;

use strip::Request;
use strip::runs::RunOf;

/// A key is a name for a call, not a place to store things.
const MAX_KEY_LEN: usize = 255;

/// Names the run that a call over HTTP belongs to.
pub(crate) const RUN_HEADER: &str = "powerstrip-run";

/// The longest name of a run.
const MAX_RUN_LEN: usize = 200;

/// What a caller asks for beside the input.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    verify: bool,
    idempotency_key: Option<String>,
    timeout: Option<Duration>,
    run: Option<Arc<str>>,
}

/// Why a wish cannot be granted; reads on after the name of its place.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unclear {
    #[error("is a text of 1 to {MAX_KEY_LEN} characters")]
    Key,
    #[error("is a text of 1 to {MAX_RUN_LEN} characters, none of them a control character")]
    Run,
    #[error("is a positive whole number of milliseconds")]
    Patience,
    #[error("is `true` or `false`")]
    Verify,
}

impl Wishes {
    pub(crate) fn verify(&mut self, verify: Option<bool>) -> Result<(), Unclear> {
        self.verify |= verify.ok_or(Unclear::Verify)?;
        Ok(())
    }

    pub(crate) fn key(&mut self, key: Option<&str>) -> Result<(), Unclear> {
        let key = key.filter(|key| (1..=MAX_KEY_LEN).contains(&key.len())).ok_or(Unclear::Key)?;
        self.idempotency_key = Some(key.to_owned());
        Ok(())
    }

    pub(crate) fn run(&mut self, name: Option<&str>) -> Result<(), Unclear> {
        let fits = |name: &&str| {
            (1..=MAX_RUN_LEN).contains(&name.chars().count()) && !name.chars().any(char::is_control)
        };
        self.run = Some(name.filter(fits).ok_or(Unclear::Run)?.into());
        Ok(())
    }

    pub(crate) fn names_run(&self) -> bool {
        self.run.is_some()
    }

    pub(crate) fn timeout_ms(&mut self, milliseconds: Option<u64>) -> Result<(), Unclear> {
        let milliseconds = milliseconds.filter(|ms| *ms > 0).ok_or(Unclear::Patience)?;
        self.timeout = Some(Duration::from_millis(milliseconds));
        Ok(())
    }

    pub(crate) fn grant(self, call: &mut Request) {
        call.verify = self.verify;
        call.idempotency_key = self.idempotency_key;
        call.timeout = self.timeout;
        // Without a name, the run is what the door takes it for.
        if let Some(name) = self.run {
            call.run = RunOf::Named(name);
        }
    }
}
