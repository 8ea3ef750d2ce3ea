use super::*;

#[test]
fn dates_are_read_as_far_as_they_are_known() {
    for (text, expected) in [
        ("2024", Some("2024")),
        ("2024-05", Some("2024-05")),
        ("2024-05-03", Some("2024-05-03")),
        ("2024-05-03T10:00:00+02:00", Some("2024-05-03")),
        ("2024-13-03", Some("2024")),
        ("20240503", None),
        ("May 2024", None),
        ("", None),
    ] {
        assert_eq!(Date::parse_iso(text).map(Date::iso).as_deref(), expected, "{text}");
    }
    let header = Date::parse_http("Wed, 21 Oct 2015 07:28:00 GMT");
    assert_eq!(header.unwrap().iso(), "2015-10-21");
    assert_eq!(Date::parse_http("yesterday"), None);
    for (path, expected) in [
        ("/2024/05/03/title", Some("2024-05-03")),
        ("/news/2024/05/title", Some("2024-05")),
        ("/posts/2024-05-03-title", Some("2024-05-03")),
        ("/docs/2024/x", None),
        ("/v/1234/05/06", None),
    ] {
        assert_eq!(Date::parse_path(path).map(Date::iso).as_deref(), expected, "{path}");
    }
}

#[test]
fn days_count_from_1970() {
    for (text, days) in [("1970-01-01", 0), ("2000-03-01", 11_017), ("2026-11-16", 20_773)] {
        assert_eq!(Date::parse_iso(text).unwrap().days(), Some(days), "{text}");
    }
    assert_eq!(utc_date(20_773 * 86_400_000), "2026-11-16");
}
