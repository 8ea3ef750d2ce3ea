//! Notifies a webhook of each pending approval, with links to approve or reject.

use std::sync::Arc;
use std::time::Duration;

use approvals::{ApprovalRow, ApprovalView, Approvals, EventKind};
use auth::{ApprovalLinks, sign_webhook};
use egress::http::{Client, Limits, Request, Scope};
use http::{HeaderMap, HeaderValue, Method};
use proto::{Clock, Secret};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The delays before each retry.
const RETRY_DELAYS: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(25)];

/// The most concurrent deliveries; others wait.
const MAX_DELIVERIES: usize = 16;

/// A webhook for pending approvals.
pub struct Webhook {
    pub url: String,
    pub secret: Secret,
    /// How long links are valid; at most until the approval's deadline.
    pub link_ttl: Duration,
    /// The URL of this gateway for browsers.
    pub base: String,
    pub links: Arc<ApprovalLinks>,
    pub client: Client,
    pub clock: Clock,
}

impl Webhook {
    /// Sends a message for each new approval, until the process ends.
    pub async fn serve(self, approvals: Arc<Approvals>, ending: CancellationToken) {
        let webhook = Arc::new(self);
        let mut events = approvals.events();
        let mut deliveries = JoinSet::new();
        loop {
            let event = tokio::select! {
                event = events.recv() => event,
                () = ending.cancelled() => return,
            };
            match event {
                Ok(event) if event.kind == EventKind::Created => {
                    while deliveries.len() >= MAX_DELIVERIES {
                        deliveries.join_next().await;
                    }
                    while deliveries.try_join_next().is_some() {}
                    let (webhook, row) = (Arc::clone(&webhook), event.row);
                    deliveries.spawn(async move { webhook.deliver(&row).await });
                }
                Ok(_) => {}
                Err(RecvError::Lagged(missed)) => {
                    tracing::warn!(missed, "the approval webhook missed new approvals");
                }
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn deliver(&self, row: &ApprovalRow) {
        let body = self.body(row).to_string();
        for wait in RETRY_DELAYS.into_iter().map(Some).chain([None]) {
            let why = match self.post(&body).await {
                Ok(()) => return,
                Err(why) => why,
            };
            tracing::warn!(approval = row.id, why, "the approval webhook could not be reached");
            match wait {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return,
            }
        }
    }

    fn body(&self, row: &ApprovalRow) -> Value {
        let ttl = u64::try_from(self.link_ttl.as_millis()).unwrap_or(u64::MAX);
        let until = row.deadline_unix_ms.min(self.clock.unix_ms().saturating_add(ttl));
        let link = |approves| {
            format!("{}/approve/{}", self.base, self.links.token(&row.id, approves, until))
        };
        let mut body = json!({
            "event": "approval.created",
            "approval": ApprovalView::from(row.clone()),
            "links": {"approve": link(true), "reject": link(false), "expiresUnixMs": until},
        });
        proto::time::add_timestamps(&mut body);
        body
    }

    async fn post(&self, body: &str) -> Result<(), String> {
        let now = self.clock.unix_ms();
        let signature = format!("t={now},v1={}", sign_webhook(&self.secret, now, body.as_bytes()));
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        let signature = HeaderValue::from_str(&signature).map_err(|error| error.to_string())?;
        headers.insert("powerstrip-signature", signature);
        let request = Request {
            method: Method::POST,
            url: self.url.clone(),
            headers,
            body: body.to_owned().into(),
        };
        let limits = Limits {
            deadline: Some(Duration::from_secs(10)),
            max_redirects: 0,
            ..Limits::default()
        };
        let answer = self.client.send(request, &limits, &Scope::everything()).await;
        match answer {
            Ok(answer) if answer.status.is_success() => Ok(()),
            Ok(answer) => Err(format!("it answered {}", answer.status)),
            Err(error) => Err(error.to_string()),
        }
    }
}
