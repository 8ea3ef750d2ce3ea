//! Why the tools of a server cannot be called, also before they were ever listed.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use proto::{Blame, Failure, Principal};
use serde_json::json;
use strip::servers::Outages;
use tokio::time::timeout;

use crate::error::{down, unavailable, without_places};
use crate::status::State;
use crate::upstream::Upstream;
use crate::upstreams::Upstreams;

/// When a call to a server that is being started may be repeated.
const START_RETRY: Duration = Duration::from_secs(1);

/// How long a server may take to say where a person logs in.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(5);

#[async_trait]
impl Outages for Upstreams {
    fn servers(&self) -> Vec<String> {
        self.names()
    }

    async fn wait_for_first_list(&self, server: &str, limit: Duration) {
        if let Some(upstream) = self.get(server) {
            upstream.wait_for_first_list(limit).await;
        }
    }

    async fn outage(&self, server: &str, principal: &Arc<Principal>) -> Option<Failure> {
        self.get(server)?.outage(principal).await
    }
}

impl Upstream {
    /// The failure of a call to a tool that the server does not list; none if its list is current.
    async fn outage(&self, principal: &Arc<Principal>) -> Option<Failure> {
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
            State::Invalid => {
                let faults = self.faults_for_callers();
                let message = format!(
                    "server `{name}` is not used, because its entry in the config file is wrong: {faults} \
                     (`powerstrip check` says where)"
                );
                unavailable(message).blame(Blame::Gateway).retryable(false)
            }
            State::NeedsSignIn => return Some(self.sign_in_failure(principal).await),
            State::NeedsSecret => {
                let why = status.reason.as_deref().map(without_places);
                let why = why.unwrap_or_else(|| "a secret is missing".into());
                unavailable(format!("server `{name}` is not used: {why}"))
                    .blame(Blame::Gateway)
                    .retryable(false)
            }
            State::Down => down(name, &because, status.retry_in),
            // The operator chose that it is not used.
            state => {
                let ends =
                    state.ended_by().map(|command| format!("; `{command} {name}` turns it on"));
                let (is, ends) = (state.label(), ends.unwrap_or_default());
                unavailable(format!("server `{name}` is {is}{ends}"))
                    .blame(Blame::Gateway)
                    .retryable(false)
            }
        };
        Some(failure.details(json!({"server": name, "state": status.state})))
    }

    /// The failure of a call to a server that no person has signed in to yet, with the link for this caller.
    async fn sign_in_failure(&self, principal: &Arc<Principal>) -> Failure {
        let name = self.name();
        let link = match timeout(LOGIN_TIMEOUT, self.login(principal)).await {
            Ok(Ok(None)) => {
                // The caller has signed in a moment ago.
                self.request_listing();
                let message = format!("server `{name}` is starting; call again in a moment");
                return unavailable(message)
                    .retry_after(START_RETRY)
                    .details(json!({"server": name, "state": State::Starting}));
            }
            Ok(Ok(link)) => link,
            Ok(Err(_)) | Err(_) => None,
        };
        let command = format!("powerstrip login {name}");
        let how = match &link {
            Some(link) => format!("open {link} in a browser, or run `{command}`, and call again"),
            None => format!("run `{command}` where the gateway runs, and call again"),
        };
        let details = json!({
            "server": name, "state": State::NeedsSignIn, "login": link, "command": command,
        });
        unavailable(format!("server `{name}` wants a person to sign in: {how}"))
            .retryable(false)
            .details(details)
    }
}
