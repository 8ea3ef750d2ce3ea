//! Metrics of requests. Handles are cached, because looking one up by its labels costs more than counting.

use std::collections::HashMap;
use std::sync::RwLock;
use std::time::Duration;

use http::StatusCode;
use metrics::{Counter, Histogram};

/// A route and a class of statuses. Both are closed sets, so that callers cannot grow the metrics.
type Kind = (&'static str, &'static str);

#[derive(Default)]
pub(super) struct Meter(RwLock<HashMap<Kind, (Counter, Histogram)>>);

impl Meter {
    pub(super) fn count(&self, route: &'static str, status: StatusCode, took: Duration) {
        let kind = (route, class(status));
        let known = self.0.read().ok().and_then(|handles| handles.get(&kind).cloned());
        let (counter, seconds) = known.unwrap_or_else(|| self.register(kind));
        counter.increment(1);
        seconds.record(took.as_secs_f64());
    }

    fn register(&self, (route, status): Kind) -> (Counter, Histogram) {
        let handles = (
            metrics::counter!("powerstrip_http_requests_total", "route" => route, "status" => status),
            metrics::histogram!("powerstrip_http_seconds", "route" => route),
        );
        if let Ok(mut known) = self.0.write() {
            known.insert((route, status), handles.clone());
        }
        handles
    }
}

fn class(status: StatusCode) -> &'static str {
    match status.as_u16() {
        200..300 => "2xx",
        300..400 => "3xx",
        400..500 => "4xx",
        500..600 => "5xx",
        _ => "1xx",
    }
}
