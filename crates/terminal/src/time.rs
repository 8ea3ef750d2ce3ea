//! Times and durations for people.

use std::time::Duration;

use proto::Clock;

/// Now, in milliseconds since 1970.
fn now_ms() -> u64 {
    Clock::default().unix_ms()
}

/// How long ago a time was: `5s ago`, `3h ago`.
pub fn ago(unix_ms: u64) -> String {
    format!("{} ago", about(Duration::from_millis(now_ms().saturating_sub(unix_ms))))
}

/// The time left until a time: `5s`, `3h`.
pub fn left(until_unix_ms: u64) -> String {
    about(Duration::from_millis(until_unix_ms.saturating_sub(now_ms())))
}

/// Whether a time has passed.
pub fn is_past(unix_ms: u64) -> bool {
    unix_ms <= now_ms()
}

/// A duration in one unit.
pub fn about(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}
