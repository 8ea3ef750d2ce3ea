//! Times for people: relative, with the exact time as a title.

use maud::{Markup, html};
use proto::time;
pub(super) use proto::time::rfc3339 as iso;

/// How long ago a time was.
pub(super) fn ago(at_ms: u64, now_ms: u64) -> Markup {
    let (iso, exact) = (iso(at_ms), exact(at_ms));
    html! { time datetime=(iso) title=(exact) data-ago=(at_ms) { (ago_words(at_ms, now_ms)) } }
}

/// The time left, which the script counts down.
pub(super) fn left(deadline_ms: u64, now_ms: u64) -> Markup {
    html! {
        time.countdown datetime=(iso(deadline_ms)) title=(exact(deadline_ms)) data-deadline=(deadline_ms) {
            (left_words(deadline_ms.saturating_sub(now_ms)))
        }
    }
}

fn ago_words(at_ms: u64, now_ms: u64) -> String {
    let seconds = now_ms.saturating_sub(at_ms) / 1000;
    match seconds {
        0..5 => "just now".to_owned(),
        5..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

fn left_words(ms: u64) -> String {
    let seconds = ms.div_ceil(1000);
    match seconds {
        0 => "time is up".to_owned(),
        1..60 => format!("{seconds} s left"),
        60..3_600 => format!("{} min {} s left", seconds / 60, seconds % 60),
        _ => format!("{} h {} min left", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// A duration in a suitable unit.
pub(super) fn span(us: u64) -> String {
    match us {
        // Some clocks have a resolution of milliseconds.
        0 => "< 1 ms".to_owned(),
        1..1_000 => format!("{us} µs"),
        1_000..10_000 => format!("{:.1} ms", us as f64 / 1e3),
        10_000..1_000_000 => format!("{} ms", us / 1_000),
        1_000_000..60_000_000 => format!("{:.1} s", us as f64 / 1e6),
        _ => format!("{} min {} s", us / 60_000_000, us % 60_000_000 / 1_000_000),
    }
}

/// A duration in milliseconds, in a suitable unit.
pub(super) fn ms(value: f64) -> String {
    // A duration is finite, not negative and far below the largest number.
    span((value.max(0.0) * 1_000.0).round() as u64)
}

/// The time of day in UTC.
pub(super) fn of_day(ms: u64) -> String {
    time::utc(ms).strftime("%H:%M:%S").to_string()
}

/// Hours, minutes and seconds since a start.
pub(super) fn uptime(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

/// The exact time.
pub(super) fn exact(ms: u64) -> String {
    time::utc(ms).strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// The beginning of the day of a date field.
pub(super) fn of_date(text: &str) -> Option<u64> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let (year, month, day) = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    if parts.next().is_some() || !(1..=31).contains(&day) {
        return None;
    }
    let days = time::day_of_date(year, month, day)?;
    u64::try_from(days).ok().map(|days| days * 86_400_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        assert_eq!(exact(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(exact(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(iso(1_794_730_831_042), "2026-11-15T08:20:31.042Z");
        for date in ["1970-01-01", "2000-02-29", "2026-11-15", "2100-03-01"] {
            let at = of_date(date).expect("a date");
            assert!(exact(at).starts_with(date), "{date}: {}", exact(at));
        }
        for bad in ["", "2026", "2026-13-01", "2026-01-32", "1969-12-31", "a-b-c", "2026-1-1-1"] {
            assert_eq!(of_date(bad), None, "{bad}");
        }
    }

    #[test]
    fn durations_have_a_suitable_unit() {
        let spans = [5, 1_500, 42_000, 1_500_000, 61_000_000].map(span);
        assert_eq!(spans, ["5 µs", "1.5 ms", "42 ms", "1.5 s", "1 min 1 s"]);
        assert_eq!(ago_words(0, 125_000), "2 min ago");
        assert_eq!(ago_words(10_000, 0), "just now", "a clock that is ahead");
        assert_eq!(left_words(299_500), "5 min 0 s left");
        assert_eq!(left_words(0), "time is up");
        assert_eq!(
            (ms(12.34), ms(0.0), of_day(3_661_000)),
            ("12 ms".to_owned(), "< 1 ms".to_owned(), "01:01:01".to_owned())
        );
    }
}
