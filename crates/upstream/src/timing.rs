use std::time::Duration;

/// Timeouts and intervals; the defaults suit real servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long a stdio server may take to answer the probe before `initialize` is sent too.
    pub probe: Duration,
    /// From the start of a process, or of a connection, to the end of its handshake.
    pub start: Duration,
    /// One whole listing.
    pub list: Duration,
    /// Between two listings without a notification of a change.
    pub relist: Duration,
    /// How long a lazy process, or a caller's session, is kept without a call.
    pub idle: Duration,
    /// The first wait after a failure; it doubles with each further one.
    pub backoff: Duration,
    /// The longest wait after failures.
    pub backoff_max: Duration,
    /// The longest wait for a process that never gets ready: it needs to be fixed, and starting it may cost much.
    pub start_backoff_max: Duration,
    /// A process that ran this long resets the backoff.
    pub stable: Duration,
    /// Between two health checks of a replica.
    pub health: Duration,
    /// How long a replica may take to answer a health check.
    pub health_timeout: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            probe: Duration::from_secs(5),
            start: Duration::from_secs(60),
            list: Duration::from_secs(15),
            relist: Duration::from_secs(60),
            idle: Duration::from_secs(300),
            backoff: Duration::from_millis(250),
            backoff_max: Duration::from_secs(5),
            start_backoff_max: Duration::from_secs(60),
            stable: Duration::from_secs(10),
            health: Duration::from_secs(10),
            health_timeout: Duration::from_secs(5),
        }
    }
}
