//! Limits the rate of a principal's calls, of all tools and of each. Off unless the operator sets it.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use proto::{Code, Failure, Principal, TenantId, ToolId};
use serde_json::json;

use crate::catalog::Entry;

/// A number of calls per time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub count: NonZeroU32,
    pub per: Duration,
}

/// The operator's rate limits; what is absent is unlimited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateRules {
    /// For all calls of one principal together.
    pub principal: Option<Rate>,
    /// For the calls of one principal to any one tool.
    pub tool: Option<Rate>,
    /// Instead of `tool`, for tools named here.
    pub tools: BTreeMap<String, Rate>,
}

type Caller = (TenantId, String);

/// Beyond this many callers, those that have not called recently are forgotten.
const REMEMBERED_CALLERS: usize = 10_000;

struct Limiter<K: std::hash::Hash + Eq + Clone> {
    rate: Rate,
    state: DefaultKeyedRateLimiter<K>,
}

#[derive(Default)]
pub(crate) struct RateGuard {
    principal: Option<Limiter<Caller>>,
    tool: Option<Limiter<(Caller, ToolId)>>,
    tools: HashMap<String, Limiter<Caller>>,
}

#[derive(Debug)]
struct TooOften {
    rate: Rate,
    what: &'static str,
    wait: Duration,
}

impl RateGuard {
    pub(crate) fn new(rules: &RateRules) -> Self {
        Self {
            principal: rules.principal.map(Limiter::new),
            tool: rules.tool.map(Limiter::new),
            tools: rules.tools.iter().map(|(id, rate)| (id.clone(), Limiter::new(*rate))).collect(),
        }
    }

    /// Counts a call or request of a principal, also one for a tool that does not exist.
    pub(crate) fn check_caller(&self, principal: &Principal) -> Result<(), Failure> {
        if let Some(limiter) = &self.principal {
            limiter.check(&caller(principal), "this caller")?;
        }
        Ok(())
    }

    /// Counts a call of a tool by a principal.
    pub(crate) fn check_tool(&self, principal: &Principal, entry: &Entry) -> Result<(), Failure> {
        if self.tool.is_none() && self.tools.is_empty() {
            return Ok(());
        }
        let id = &entry.descriptor.id;
        if let Some(limiter) = self.tools.get(id.as_str()) {
            limiter.check(&caller(principal), "this tool")?;
        } else if let Some(limiter) = &self.tool {
            limiter.check(&(caller(principal), id.clone()), "this tool")?;
        }
        Ok(())
    }
}

fn caller(principal: &Principal) -> Caller {
    (principal.tenant.clone(), principal.subject.clone())
}

impl<K: std::hash::Hash + Eq + Clone> Limiter<K> {
    fn new(rate: Rate) -> Self {
        // The whole allowance may be spent at once; it then refills evenly.
        let refill = (rate.per / rate.count.get()).max(Duration::from_nanos(1));
        let quota = Quota::with_period(refill)
            .unwrap_or_else(|| Quota::per_second(rate.count))
            .allow_burst(rate.count);
        Self { rate, state: RateLimiter::keyed(quota) }
    }

    fn check(&self, key: &K, what: &'static str) -> Result<(), TooOften> {
        if self.state.len() > REMEMBERED_CALLERS {
            self.state.retain_recent();
        }
        self.state.check_key(key).map_err(|not_until| TooOften {
            rate: self.rate,
            what,
            wait: not_until.wait_time_from(DefaultClock::default().now()),
        })
    }
}

impl From<TooOften> for Failure {
    fn from(breach: TooOften) -> Self {
        let wait_ms = u64::try_from(breach.wait.as_millis()).unwrap_or(u64::MAX).max(1);
        Failure::new(
            Code::RateLimit,
            format!(
                "{} is limited to {} calls in {} s; try again in {:.1} s",
                breach.what,
                breach.rate.count,
                breach.rate.per.as_secs_f64(),
                breach.wait.as_secs_f64()
            ),
        )
        .details(json!({"retryAfterMs": wait_ms}))
        .retry_after(breach.wait)
    }
}
