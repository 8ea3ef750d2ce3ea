//! The metrics of calls. Handles are cached, because looking one up by its labels costs more than counting.

use std::collections::HashMap;
use std::sync::RwLock;
use std::time::Duration;

use metrics::{Counter, Histogram};
use proto::Digest;

use crate::Door;
use crate::catalog::Entry;

/// The label of all unknown names: callers must not be able to grow the metrics.
const UNKNOWN: &str = "unknown";

/// The definition (none for an unknown tool), the door and the outcome.
type Outcome = (Option<Digest>, Door, &'static str);

#[derive(Default)]
pub(crate) struct CallMetrics {
    counters: RwLock<HashMap<Outcome, (Counter, Histogram)>>,
}

impl CallMetrics {
    pub(crate) fn count(
        &self,
        entry: Option<&Entry>,
        door: Door,
        outcome: &'static str,
        took: Duration,
    ) {
        let key = (entry.map(|entry| entry.definition), door, outcome);
        let known = self.counters.read().ok().and_then(|counters| counters.get(&key).cloned());
        let (counter, seconds) = known.unwrap_or_else(|| self.register(key, entry));
        counter.increment(1);
        seconds.record(took.as_secs_f64());
    }

    fn register(&self, key: Outcome, entry: Option<&Entry>) -> (Counter, Histogram) {
        let (_, door, outcome) = key;
        let tool = entry.map_or(UNKNOWN, |entry| entry.descriptor.id.as_str()).to_owned();
        let labels = [
            ("tool", tool.clone()),
            ("outcome", outcome.to_owned()),
            ("door", door.as_str().to_owned()),
        ];
        let handles = (
            metrics::counter!("powerstrip_calls_total", &labels),
            metrics::histogram!("powerstrip_call_seconds", "tool" => tool),
        );
        if let Ok(mut counters) = self.counters.write() {
            counters.insert(key, handles.clone());
        }
        handles
    }
}
