//! Why the tools of a server cannot be called, also before they were ever listed.

use std::time::Duration;

use proto::Blame;
use serde_json::json;
use strip::Failure;
use strip::servers::Outages;

use crate::error::{unavailable, without_places};
use crate::status::State;
use crate::upstream::Upstream;
use crate::upstreams::Upstreams;

/// When a call to a server that is being started may be repeated.
const START_RETRY: Duration = Duration::from_secs(1);

impl Outages for Upstreams {
    fn servers(&self) -> Vec<String> {
        self.names()
    }

    fn outage(&self, server: &str) -> Option<Failure> {
        self.get(server)?.outage()
    }
}

impl Upstream {
    /// The failure of a call to a tool that the server does not list; none if its list is current.
    fn outage(&self) -> Option<Failure> {
        let status = self.status();
        let name = &status.name;
        let because = match status.last_error.as_deref().map(without_places) {
            Some(error) if !error.is_empty() => format!(": {error}"),
            _ => String::new(),
        };
        let failure = match status.state {
            State::Ready | State::Degraded | State::Stopped if status.list_age.is_some() => {
                return None;
            }
            State::Ready | State::Stopped | State::Starting if !because.is_empty() => {
                unavailable(format!("server `{name}` has not listed its tools yet{because}"))
            }
            State::Ready | State::Stopped | State::Starting => {
                unavailable(format!("server `{name}` is starting; call again in a moment"))
                    .retry_after(START_RETRY)
            }
            State::Degraded => {
                unavailable(format!("the tools of server `{name}` cannot be listed{because}"))
            }
            State::Disabled if status.disabled => unavailable(format!(
                "server `{name}` is disabled; `powerstrip enable {name}` turns it on"
            ))
            .blame(Blame::Gateway)
            .retryable(false),
            State::Disabled => {
                unavailable(format!("server `{name}` cannot be used as it is configured{because}"))
                    .blame(Blame::Gateway)
                    .retryable(false)
            }
            State::NeedsSignIn => unavailable(format!(
                "server `{name}` wants a person to sign in: `powerstrip login {name}` says how"
            ))
            .retryable(false),
            State::NeedsSecret => {
                let why = status.reason.as_deref().map(without_places);
                let why = why.unwrap_or_else(|| "a secret is missing".into());
                unavailable(format!("server `{name}` is not used: {why}"))
                    .blame(Blame::Gateway)
                    .retryable(false)
            }
            State::Down => {
                let failure = unavailable(format!("server `{name}` is down{because}"));
                match status.retry_in {
                    Some(wait) => failure.retry_after(wait),
                    None => failure,
                }
            }
        };
        Some(failure.details(json!({"server": name, "state": status.state})))
    }
}
