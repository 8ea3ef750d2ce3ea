//! The part of the overview that lists problems.

use auth::scope;
use maud::{Markup, html};
use operations::calls::Overview;
use operations::servers::{ServerState, ServerSummary};

use super::tiles::percent;
use crate::viewer::Viewer;
use crate::words::{Tone, count, in_url, mark, short};

/// From this share of failed calls on, the error rate needs attention; few calls say little.
const HIGH_ERROR_RATE: f64 = 0.1;
const FEWEST_CALLS: u64 = 10;

/// How many servers are named.
const MAX_NAMED: usize = 5;

/// What is known about the health of the gateway.
pub(super) struct Status<'a> {
    pub(super) ready: bool,
    /// Servers that an operator has to do something about.
    pub(super) broken: Vec<&'a ServerSummary>,
    /// How many tools are in quarantine.
    pub(super) quarantined: usize,
    pub(super) figures: Option<&'a Overview>,
    /// The time range, as in addresses and in words.
    pub(super) range: &'a str,
    pub(super) period: &'a str,
}

impl Status<'_> {
    fn high_error_rate(&self) -> Option<f64> {
        let figures = self.figures?;
        let high = figures.calls >= FEWEST_CALLS && figures.error_rate >= HIGH_ERROR_RATE;
        high.then_some(figures.error_rate)
    }

    /// The state in a word.
    pub(super) fn mark(&self) -> Markup {
        let down = self.broken.iter().any(|server| server.state == ServerState::Down);
        let attention =
            !self.broken.is_empty() || self.quarantined > 0 || self.high_error_rate().is_some();
        match (self.ready, down, attention) {
            (false, _, _) => mark(Tone::Bad, "not ready"),
            (true, true, _) => mark(Tone::Bad, "needs attention"),
            (true, false, true) => mark(Tone::Doubtful, "needs attention"),
            (true, false, false) => mark(Tone::Good, "healthy"),
        }
    }

    /// One line for each thing that needs attention.
    pub(super) fn show(&self, viewer: &Viewer) -> Markup {
        let rate = self.high_error_rate();
        if self.broken.is_empty() && self.quarantined == 0 && rate.is_none() {
            return html! {};
        }
        html! {
            ul.attention {
                @if !self.broken.is_empty() {
                    li {
                        strong { (count(self.broken.len(), "server", "servers")) " with problems" } ": "
                        @for (at, server) in self.broken.iter().take(MAX_NAMED).enumerate() {
                            @if at > 0 { ", " }
                            @if viewer.may(scope::METRICS_READ) {
                                a href=(format!("/dashboard/servers/{}", in_url(&server.name))) { (short(&server.name, 60)) }
                            } @else { (short(&server.name, 60)) }
                            " (" (server.state.label()) ")"
                        }
                        @if self.broken.len() > MAX_NAMED { " and " (self.broken.len() - MAX_NAMED) " more" }
                    }
                }
                @if self.quarantined > 0 {
                    li {
                        strong { (count(self.quarantined, "tool", "tools")) " in quarantine" } ": "
                        a href="/dashboard/catalog" { "review the changed definitions" }
                    }
                }
                @if let Some(rate) = rate {
                    li {
                        strong { (percent(rate)) " of the calls failed" } " in the " (self.period) ": "
                        a href=(format!("/dashboard/calls?outcome=failed&range={}", self.range)) { "look at the failed calls" }
                    }
                }
            }
        }
    }
}
