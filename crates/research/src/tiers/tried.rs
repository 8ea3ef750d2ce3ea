//! What the tiers have shown, for the answer when none of them has the page.

use proto::{Blame, Code, Failure};
use serde_json::{Value, json};

use crate::scrape::read::RawPage;

/// The tiers that were tried.
#[derive(Default)]
pub(super) struct Tried {
    tiers: Vec<(u8, String)>,
    /// The best text that was too short or broke off.
    best: Option<RawPage>,
    /// The status of a challenge.
    status: Option<u16>,
    challenged: bool,
    /// The last tier that timed out.
    timed_out: Option<u8>,
    /// Whether the browser is off or missing.
    pub(super) has_no_browser: bool,
    /// What the caller should know even if another tier had the page.
    pub(super) warnings: Vec<String>,
}

impl Tried {
    /// A tier gave nothing.
    pub(super) fn note(&mut self, tier: u8, why: impl Into<String>) {
        self.tiers.push((tier, why.into()));
    }

    /// A tier gave too little, which is better than nothing.
    pub(super) fn keep(&mut self, tier: u8, why: impl Into<String>, found: RawPage) {
        self.note(tier, why);
        let better = self.best.as_ref().is_none_or(|best| best.text.len() < found.text.len());
        if better && !found.text.trim().is_empty() {
            self.best = Some(found);
        }
    }

    /// A tier gave a page that asks for proof of a person.
    pub(super) fn challenge(&mut self, tier: u8, status: Option<u16>) {
        let with = status.map(|status| format!(" with status {status}")).unwrap_or_default();
        self.note(tier, format!("a challenge page{with}"));
        self.status = status.or(self.status);
        self.challenged = true;
        // Earlier content may be a part of the challenge.
        self.best = None;
    }

    pub(super) fn timed_out(&mut self, tier: u8) {
        self.note(tier, "timed out");
        self.timed_out = Some(tier);
    }

    pub(super) fn skip_browser(&mut self, why: &str) {
        self.has_no_browser = true;
        self.note(4, format!("skipped: {why}"));
        self.warnings.push(format!("The browser was not used: {why}."));
    }

    /// The page as far as it was found, or why there is none.
    pub(super) fn conclude(&mut self) -> Result<RawPage, Failure> {
        let (last, why) = self.tiers.last().map_or((0, ""), |(tier, why)| (*tier, why.as_str()));
        if let Some(mut found) = self.best.take() {
            // This may be the shell of a page whose text is made by scripts.
            found.passing = true;
            let late = self.timed_out == Some(last);
            found.incomplete |= late;
            let cause = match last {
                _ if self.has_no_browser && !late => "some pages need a browser".to_owned(),
                4 => format!("the browser failed ({why})"),
                _ => format!("the last request failed ({why})"),
            };
            found.warnings.push(format!("This may not be the whole page: {cause}."));
            return Ok(found);
        }
        let tiers: Vec<Value> =
            self.tiers.iter().map(|(tier, why)| json!({"tier": tier, "why": why})).collect();
        let mut details = json!({"tiers": tiers});
        if let Some(status) = self.status {
            details["status"] = status.into();
        }
        let failure = match (self.challenged, self.timed_out.is_some()) {
            (true, _) => Failure::new(
                Code::Unavailable,
                format!("the site asks visitors to prove that they are people, and the page was not read ({why})"),
            )
            .retryable(false),
            (false, true) => Failure::new(Code::Timeout, "the page did not arrive in time"),
            (false, false) => {
                Failure::new(Code::Unavailable, format!("the page has no readable content ({why})")).retryable(false)
            }
        };
        Err(failure.blame(Blame::Tool).details(details))
    }
}

#[cfg(test)]
mod tests;
