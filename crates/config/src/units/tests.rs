use std::time::Duration;

use super::{InvalidUnit, Rate, Size, Span};

fn span(text: &str) -> Result<Duration, InvalidUnit> {
    text.parse::<Span>().map(|span| span.0)
}

fn size(text: &str) -> Result<usize, InvalidUnit> {
    text.parse::<Size>().map(|size| size.0)
}

#[test]
fn durations_are_parsed() {
    assert_eq!(span("500ms"), Ok(Duration::from_millis(500)));
    assert_eq!(span("30s"), Ok(Duration::from_secs(30)));
    assert_eq!(span("10 m"), Ok(Duration::from_secs(600)));
    assert_eq!(span("1h"), Ok(Duration::from_secs(3600)));
    assert_eq!(span("90d"), Ok(Duration::from_secs(90 * 86_400)));
}

#[test]
fn malformed_durations_are_refused() {
    for text in ["", "s", "30", "30 seconds", "-1s", "1.5s", "+1s", "1h30m", "٣s"] {
        assert_eq!(span(text), Err(InvalidUnit::Span(text.to_owned())), "{text}");
    }
    assert_eq!(span("0s"), Err(InvalidUnit::Zero("0s".to_owned())));
    for text in ["99999999999999999999s", "40000d", "18446744073709551615d"] {
        assert_eq!(span(text), Err(InvalidUnit::TooLarge(text.to_owned())), "{text}");
    }
}

#[test]
fn a_duration_is_shown_in_its_largest_whole_unit() {
    for text in ["500ms", "1500ms", "30s", "10m", "1h", "90d"] {
        assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
    }
    assert_eq!("60s".parse::<Span>().unwrap().to_string(), "1m");
}

#[test]
fn sizes_are_parsed() {
    assert_eq!(size("65536"), Ok(65_536));
    assert_eq!(size("64KB"), Ok(65_536));
    assert_eq!(size("64 KiB"), Ok(65_536));
    assert_eq!(size("10mb"), Ok(10 << 20));
    assert_eq!(size("1GB"), Ok(1 << 30));
}

#[test]
fn malformed_sizes_are_refused() {
    for text in ["", "KB", "-1", "1.5MB", "10 bananas", "1TB", "0x10"] {
        assert_eq!(size(text), Err(InvalidUnit::Size(text.to_owned())), "{text}");
    }
    assert_eq!(size("0"), Err(InvalidUnit::Zero("0".to_owned())));
    assert_eq!(size("99999999999GB"), Err(InvalidUnit::TooLarge("99999999999GB".to_owned())));
}

#[test]
fn rates_are_parsed() {
    let rate: Rate = "100/1m".parse().unwrap();
    assert_eq!((rate.count.get(), rate.per.0), (100, Duration::from_secs(60)));
    assert_eq!("10/s".parse::<Rate>().unwrap().per.0, Duration::from_secs(1));
    assert_eq!("10/s".parse::<Rate>().unwrap().to_string(), "10/1s");
    for text in ["", "100", "/s", "1/", "x/s", "1/x", "-1/s", "+1/s"] {
        assert_eq!(text.parse::<Rate>(), Err(InvalidUnit::Rate(text.to_owned())), "{text}");
    }
    assert_eq!("0/s".parse::<Rate>(), Err(InvalidUnit::Zero("0/s".to_owned())));
}
