use serde_json::json;

use super::{Time, add_timestamps, date_of_day, day_of_date, rfc3339};

#[test]
fn times_are_rfc_3339_in_utc() {
    assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
    assert_eq!(rfc3339(951_782_399_999), "2000-02-28T23:59:59.999Z");
    assert_eq!(rfc3339(1_709_210_096_789), "2024-02-29T12:34:56.789Z");
    assert_eq!(rfc3339(951_782_400_000), "2000-02-29T00:00:00.000Z");
    assert_eq!(rfc3339(4_107_542_399_999), "2100-02-28T23:59:59.999Z");
    assert_eq!(rfc3339(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
    assert_eq!(rfc3339(u64::MAX), "9999-12-30T22:00:00.999Z", "the end of the calendar");
}

#[test]
fn days_count_from_1970() {
    for (days, (year, month, day)) in [
        (0, (1970, 1, 1)),
        (-25_569, (1899, 12, 30)),
        (11_016, (2000, 2, 29)),
        (20_773, (2026, 11, 16)),
    ] {
        assert_eq!(day_of_date(year, month, day), Some(days));
        let date = date_of_day(days).expect("a day of the calendar");
        assert_eq!(date.to_string(), format!("{year:04}-{month:02}-{day:02}"));
    }
    assert_eq!(day_of_date(2026, 2, 31), day_of_date(2026, 3, 3), "days past the month count on");
    for outside in [(2026, 13, 1), (2026, 0, 1), (10_000, 1, 1), (i32::MAX, 1, 1)] {
        assert_eq!(day_of_date(outside.0, outside.1, outside.2), None);
    }
    assert_eq!(date_of_day(i64::MAX), None);
}

#[test]
fn a_time_is_read_in_any_offset_and_written_in_utc() {
    let read = |text: &str| serde_json::from_value::<Time>(json!(text));
    let time = read("2024-02-29T14:34:56.789+02:00").expect("a time");
    assert_eq!((time, json!(time)), (Time(1_709_210_096_789), json!("2024-02-29T12:34:56.789Z")));
    for bad in [
        "",
        "2024-02-30T00:00:00Z",
        "2024-02-29",
        "2024-02-29T12:00:00",
        "1969-12-31T23:59:59Z",
        "5",
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

#[test]
fn every_field_of_milliseconds_gets_a_time_and_stays() {
    let mut value = json!([{
        "createdUnixMs": 0, "goodUntilUnixMs": null, "atUnixMs": 1, "nested": {"asked_unix_ms": 2},
        "expiresInMs": 5, "endedUnixMs": 7, "ended_at": "given",
        "expires_ms": 9, "value": {"createdUnixMs": 3},
    }]);
    add_timestamps(&mut value);
    assert_eq!(
        value,
        json!([{
            "createdUnixMs": 0, "created_at": "1970-01-01T00:00:00.000Z",
            "goodUntilUnixMs": null, "good_until_at": null,
            "atUnixMs": 1, "at": "1970-01-01T00:00:00.001Z",
            "nested": {"asked_unix_ms": 2, "asked_at": "1970-01-01T00:00:00.002Z"},
            "expiresInMs": 5, "endedUnixMs": 7, "ended_at": "given",
            "expires_ms": 9, "expires_at": "1970-01-01T00:00:00.009Z", "value": {"createdUnixMs": 3},
        }])
    );
}
