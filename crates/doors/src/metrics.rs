use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::time::MissedTickBehavior;

/// Upper bounds in seconds: from a recorded answer to a long tool run.
const BUCKETS: [f64; 13] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0];

static INSTALLED: OnceLock<Metrics> = OnceLock::new();
static INSTALLING: Mutex<()> = Mutex::new(());

/// The process's metrics, as `/metrics` shows them.
#[derive(Clone)]
pub struct Metrics(PrometheusHandle);

/// Another part of the process already records metrics elsewhere.
#[derive(Debug, thiserror::Error)]
#[error("metrics are already recorded elsewhere in this process: {0}")]
pub struct MetricsTaken(String);

impl Metrics {
    /// Records this process's metrics from now on; later calls return the same recorder.
    pub fn install() -> Result<Self, MetricsTaken> {
        let _one_at_a_time = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(installed) = INSTALLED.get() {
            return Ok(installed.clone());
        }
        let handle = PrometheusBuilder::new()
            .set_buckets(&BUCKETS)
            .and_then(PrometheusBuilder::install_recorder)
            .map_err(|error| MetricsTaken(error.to_string()))?;
        Ok(INSTALLED.get_or_init(|| Self(handle)).clone())
    }

    /// The metrics in Prometheus' text format.
    pub fn render(&self) -> String {
        self.0.render()
    }

    /// Folds samples into their buckets from time to time. Every call leaves some, which would accumulate between two
    /// scrapes. Never returns.
    pub(crate) async fn fold_samples() {
        let mut tick = tokio::time::interval(Duration::from_millis(250));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            if let Some(installed) = INSTALLED.get() {
                installed.0.run_upkeep();
            }
        }
    }
}
