//! What a caller may ask for beside the input. Each door has its own place for it and the same rules.

use std::time::Duration;

use strip::Call;

/// A key is a name for a call, not a place to store things.
const MAX_KEY_LEN: usize = 255;

/// What a caller asks for beside the input.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    verify: bool,
    idempotency_key: Option<String>,
    patience: Option<Duration>,
}

/// Why a wish cannot be granted; reads on after the name of its place.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unclear {
    #[error("is a text of 1 to {MAX_KEY_LEN} characters")]
    Key,
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

    pub(crate) fn patience_ms(&mut self, milliseconds: Option<u64>) -> Result<(), Unclear> {
        let milliseconds = milliseconds.filter(|ms| *ms > 0).ok_or(Unclear::Patience)?;
        self.patience = Some(Duration::from_millis(milliseconds));
        Ok(())
    }

    pub(crate) fn grant(self, call: &mut Call) {
        call.verify = self.verify;
        call.idempotency_key = self.idempotency_key;
        call.patience = self.patience;
    }
}
