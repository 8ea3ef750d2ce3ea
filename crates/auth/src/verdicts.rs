//! A short-lived cache of checked tokens, so that a busy client does not cost a signature check or a request to the issuer
//! per call.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use proto::Digest;

use crate::claims::Bearer;
use crate::fault::TokenFault;

/// The most cached tokens; when the cache is full of valid ones it is cleared.
const MAX: usize = 10_000;

type Verdict = Result<Bearer, TokenFault>;

/// Verdicts by the hash of the token; the tokens themselves are not stored.
#[derive(Default)]
pub(crate) struct Verdicts(Mutex<HashMap<Digest, (Verdict, u64)>>);

impl Verdicts {
    /// The cached verdict about a token, if it has not expired.
    pub(crate) fn get(&self, token: Digest, now_ms: u64) -> Option<Verdict> {
        let verdicts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (verdict, until) = verdicts.get(&token)?;
        (now_ms < *until).then(|| verdict.clone())
    }

    /// Caches a verdict for this time, and never beyond the token's own expiry.
    pub(crate) fn insert(&self, token: Digest, verdict: Verdict, now_ms: u64, for_ms: u64) {
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

    /// Clears the cache, because the issuer's keys have changed.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
