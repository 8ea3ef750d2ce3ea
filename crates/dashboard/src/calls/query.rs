//! The filters of the list of calls, as the address has them.

use operations::calls::{CallOrder, CallQuery};
use proto::time::Time;
use serde::Deserialize;

use crate::time;
use crate::words::in_url;

const PAGE_ROWS: u32 = 50;

const DAY_MS: u64 = 86_400_000;

/// The times to choose from: the value and its name.
pub(super) const RANGES: [(&str, &str); 5] = [
    ("", "any time"),
    ("15m", "last 15 min"),
    ("1h", "last hour"),
    ("24h", "last 24 hours"),
    ("7d", "last 7 days"),
];

/// The orders to choose from.
pub(super) const ORDERS: [(&str, &str); 3] =
    [("", "newest first"), ("oldest", "oldest first"), ("slowest", "slowest first")];

/// The filters of the list; empty ones are not applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    pub(super) q: String,
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) outcome: String,
    pub(super) caller: String,
    pub(super) range: String,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) order: String,
    pub(super) after: String,
    /// `off` if the list is not redrawn.
    pub(super) live: String,
}

impl Params {
    pub(super) fn query(&self) -> CallQuery {
        let filter = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let known = RANGES.iter().any(|(value, _)| *value == self.range);
        let range = filter(&self.range).filter(|_| known);
        CallQuery {
            since_at: time::of_date(&self.from).filter(|_| range.is_none()).map(Time::from_unix_ms),
            until_at: time::of_date(&self.to).map(|day| Time::from_unix_ms(day + DAY_MS)),
            range,
            server: filter(&self.server),
            tool: filter(&self.tool),
            code: filter(&self.outcome),
            caller: filter(&self.caller),
            text: filter(&self.q),
            order: match self.order.as_str() {
                "oldest" => CallOrder::Oldest,
                "slowest" => CallOrder::Slowest,
                _ => CallOrder::Newest,
            },
            limit: Some(PAGE_ROWS),
            cursor: filter(&self.after),
            ..CallQuery::default()
        }
    }

    /// Whether any filter is applied.
    pub(super) fn narrows(&self) -> bool {
        [&self.q, &self.server, &self.tool, &self.outcome, &self.caller]
            .into_iter()
            .chain([&self.range, &self.from, &self.to])
            .any(|filter| !filter.is_empty())
    }

    /// Whether the list shows calls as they end: the first page, newest first, unless it is paused.
    pub(super) fn is_live(&self) -> bool {
        self.can_be_live() && self.live != "off"
    }

    pub(super) fn can_be_live(&self) -> bool {
        self.order.is_empty() && self.after.is_empty() && self.to.is_empty()
    }

    /// The address of this list.
    pub(super) fn url(&self) -> String {
        let pairs = [
            ("q", &self.q),
            ("server", &self.server),
            ("tool", &self.tool),
            ("outcome", &self.outcome),
            ("caller", &self.caller),
            ("range", &self.range),
            ("from", &self.from),
            ("to", &self.to),
            ("order", &self.order),
            ("after", &self.after),
            ("live", &self.live),
        ];
        let set = pairs.into_iter().filter(|(_, value)| !value.is_empty());
        let query: Vec<_> = set.map(|(name, value)| format!("{name}={}", in_url(value))).collect();
        if query.is_empty() {
            "/dashboard/calls".to_owned()
        } else {
            format!("/dashboard/calls?{}", query.join("&"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_calls_are_live() {
        let live = |change: fn(&mut Params)| {
            let mut params = Params::default();
            change(&mut params);
            params.is_live()
        };
        assert!(live(|_| {}));
        assert!(live(|params| params.tool = "a:b".to_owned()));
        assert!(!live(|params| params.live = "off".to_owned()));
        assert!(!live(|params| params.order = "slowest".to_owned()));
        assert!(!live(|params| params.after = "x".to_owned()));
        assert!(!live(|params| params.to = "2026-01-01".to_owned()));
    }

    #[test]
    fn filters_are_kept_in_the_address_and_unknown_ones_ignored() {
        let params = Params {
            q: "a b".to_owned(),
            range: "15m".to_owned(),
            from: "2026-01-01".to_owned(),
            ..Params::default()
        };
        assert_eq!(params.url(), "/dashboard/calls?q=a%20b&range=15m&from=2026-01-01");
        let query = params.query();
        assert_eq!(query.range.as_deref(), Some("15m"));
        assert_eq!(query.since_at, None, "the range decides");
        let odd = Params { range: "9y".to_owned(), from: "x".to_owned(), ..Params::default() };
        assert_eq!((odd.query().range, odd.query().since_at), (None, None));
    }
}
