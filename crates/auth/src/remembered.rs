//! Bearers whose tokens have been looked at, for a short while: neither a signature nor a question to the issuer is
//! worth repeating for every call of a busy client.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use proto::Digest;

use crate::claims::Bearer;
use crate::fault::TokenFault;

/// More tokens than this in one short while are forgotten again.
const MAX: usize = 10_000;

type Verdict = Result<Bearer, TokenFault>;

/// Verdicts by the hash of the token; the tokens themselves are not kept.
#[derive(Default)]
pub(crate) struct Remembered(Mutex<HashMap<Digest, (Verdict, u64)>>);

impl Remembered {
    /// What was found about a token, if that still holds.
    pub(crate) fn recall(&self, token: Digest, now_ms: u64) -> Option<Verdict> {
        let verdicts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (verdict, until) = verdicts.get(&token)?;
        (now_ms < *until).then(|| verdict.clone())
    }

    /// Keeps a verdict for so long, and never beyond the token's own end.
    pub(crate) fn keep(&self, token: Digest, verdict: Verdict, now_ms: u64, for_ms: u64) {
        let mut until = now_ms.saturating_add(for_ms);
        if let Ok(bearer) = &verdict {
            until = until.min(bearer.until_unix_ms);
        }
        let mut verdicts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if verdicts.len() >= MAX {
            verdicts.retain(|_, (_, until)| now_ms < *until);
            if verdicts.len() >= MAX {
                verdicts.clear();
            }
        }
        verdicts.insert(token, (verdict, until));
    }

    /// Forgets all: what they rested on has changed.
    pub(crate) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
