//! Asks a host for its robots.txt.

use std::time::Duration;

use bytes::Bytes;
use proto::{Blame, Code, Failure};
use serde_json::json;
use url::{Position, Url};

use super::{MOST_BYTES, Rules};
use crate::cache;
use crate::research::Research;
use crate::scrape::PageRequest;
use crate::scrape::fetch::{Deadline, Style, fetch, unreachable};

/// How long a host's rules are used.
const KEPT: Duration = Duration::from_secs(60 * 60);
/// How long a host that could not be asked is left alone.
const KEPT_UNKNOWN: Duration = Duration::from_secs(5 * 60);
/// The most time for the request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Refuses a page that its host's robots.txt forbids, or whose robots.txt cannot be read.
pub(crate) async fn check(
    research: &Research,
    request: &PageRequest,
    deadline: Deadline,
) -> Result<(), Failure> {
    let url = request.url();
    let Ok(address) = url.join("/robots.txt") else { return Ok(()) };
    let key = cache::key("robots", request.tenant(), &json!({"url": address.as_str()}));
    let caches = &research.parts().caches;
    // may fail: what another version cached is fetched again.
    let known = caches.get(&key).await.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let rules: Rules = match known {
        Some(rules) => rules,
        None => {
            let (rules, ttl) = ask(research, &address, deadline).await?;
            if let Ok(bytes) = serde_json::to_vec(&rules) {
                caches.put(&key, Bytes::from(bytes), ttl).await;
            }
            rules
        }
    };
    if let Some(status) = rules.unavailable {
        let message = format!(
            "the site answers requests for its robots.txt with status {status}, so that its pages may not be read by programs",
        );
        return Err(Failure::new(Code::Unavailable, message)
            .blame(Blame::Tool)
            .details(json!({"reason": "robots", "status": status})));
    }
    if rules.allows(&url[Position::BeforePath..Position::AfterQuery]) {
        return Ok(());
    }
    let message = format!(
        "the robots.txt of {} forbids this page; set `research.robots: off` to read it nevertheless",
        request.host()
    );
    Err(Failure::new(Code::Denied, message).blame(Blame::Tool).details(json!({"reason": "robots"})))
}

/// The rules by RFC 9309: a host without the file allows all, one that cannot answer forbids all. Fails if the host cannot
/// be reached, as the page itself would.
async fn ask(
    research: &Research,
    address: &Url,
    deadline: Deadline,
) -> Result<(Rules, Duration), Failure> {
    let time = deadline.within(TIMEOUT);
    let client = &research.parts().client;
    let headers = Style::Download.headers();
    match fetch(client, address.as_str(), headers, time, MOST_BYTES as u64).await {
        Ok(answer) if answer.status.is_success() => Ok((Rules::parse(&answer.body), KEPT)),
        Ok(answer) if answer.status.is_server_error() => {
            Ok((Rules::unavailable(answer.status.as_u16()), KEPT_UNKNOWN))
        }
        Ok(_) => Ok((Rules::default(), KEPT)),
        Err(error) => Err(unreachable(error)),
    }
}
