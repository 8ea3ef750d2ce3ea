use serde_json::json;

use super::{add_timestamps, rfc3339};

#[test]
fn times_are_rfc_3339_in_utc() {
    assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
    assert_eq!(rfc3339(951_782_399_999), "2000-02-28T23:59:59.999Z");
    assert_eq!(rfc3339(1_709_210_096_789), "2024-02-29T12:34:56.789Z");
    assert_eq!(rfc3339(4_102_444_800_000), "2100-01-01T00:00:00.000Z");
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
