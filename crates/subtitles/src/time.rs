//! Times of cues, in milliseconds.

/// The largest time that all formats can write: 99 hours.
pub(crate) const MAX_MS: u64 = 100 * 3_600_000 - 1;

/// Reads `HH:MM:SS,mmm`, also with a dot, without hours, with one-digit parts and with fewer digits of the fraction.
pub(crate) fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let (clock, fraction) = match text.rsplit_once([',', '.']) {
        Some((clock, fraction)) => (clock, fraction.trim()),
        None => (text, ""),
    };
    let mut seconds: u64 = 0;
    let mut parts = 0;
    for part in clock.split(':') {
        let part = part.trim();
        let is_number = (1..=4).contains(&part.len()) && part.bytes().all(|it| it.is_ascii_digit());
        // More parts than these are no time, and the sum of many would overflow.
        if !is_number || parts == 3 {
            return None;
        }
        seconds = seconds * 60 + part.parse::<u64>().ok()?;
        parts += 1;
    }
    if !(2..=3).contains(&parts) || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    let total = seconds.checked_mul(1000)?.checked_add(digits.parse().ok()?)?;
    (total <= MAX_MS).then_some(total)
}

/// `HH:MM:SS`, the separator and three digits.
pub(crate) fn write(ms: u64, separator: char) -> String {
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02}{separator}{:03}", ms % 1000)
}

/// `H:MM:SS.cc`: ASS has hundredths of a second.
pub(crate) fn write_hundredths(ms: u64) -> String {
    let hundredths = (ms + 5) / 10;
    let (hours, minutes) = (hours_of(hundredths), hundredths / 6000 % 60);
    format!("{hours}:{minutes:02}:{:02}.{:02}", hundredths / 100 % 60, hundredths % 100)
}

fn hours_of(hundredths: u64) -> u64 {
    hundredths / 360_000
}

/// A time after a change of the frame rate and a shift; `None` before the start.
pub(crate) fn shift(ms: u64, factor: f64, shift_ms: i64) -> Option<u64> {
    // Within 2^53, so nothing is lost.
    #[expect(clippy::cast_possible_truncation, reason = "times have at most 29 bits")]
    let scaled = (ms as f64 * factor).round().min(MAX_MS as f64) as i64;
    u64::try_from(scaled.saturating_add(shift_ms)).ok().map(|ms| ms.min(MAX_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_all_common_forms() {
        for (text, ms) in [
            ("00:00:01,500", 1500),
            ("0:0:1.5", 1500),
            ("01:02.03", 62_030),
            ("1:00:00", 3_600_000),
            (" 00:00:01 , 5 ", 1500),
            ("00:00:01.123456", 1123),
        ] {
            assert_eq!(parse(text), Some(ms), "{text}");
        }
        assert_eq!(parse(&"9999:".repeat(40)), None);
        for text in ["", "12", "1:2:3:4", "a:b:c", "-1:00:00", "00:00:01,x", "9999:00:00", "00::1"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_written_and_shifted() {
        assert_eq!(write(3_723_004, ','), "01:02:03,004");
        assert_eq!(write_hundredths(3_723_005), "1:02:03.01");
        assert_eq!(shift(1000, 25.0 / 23.976, 0), Some(1043));
        assert_eq!(shift(1000, 1.0, -1001), None);
        assert_eq!(shift(MAX_MS, 2.0, i64::MAX), Some(MAX_MS));
    }
}
