use super::*;

#[test]
fn all_forms_give_the_same_time() {
    let expected = "2024-11-14T10:20:30.000Z";
    for text in [
        "2024-11-14T10:20:30Z",
        "2024-11-14T12:20:30+02:00",
        "2024-11-14 10:20:30.123",
        "Thu, 14 Nov 2024 10:20:30 GMT",
    ] {
        assert_eq!(normalize(text, 0), expected, "{text}");
    }
    for text in ["2024-11-14", "2024/11/14", "Nov 14, 2024", "14 November 2024", "Nov. 14 2024"] {
        assert_eq!(normalize(text, 0), "2024-11-14T00:00:00.000Z", "{text}");
    }
}

#[test]
fn relative_dates_count_back_from_now() {
    let now = parse("2024-11-14T10:00:00Z", 0).unwrap();
    assert_eq!(rfc3339(parse("3 hours ago", now).unwrap()), "2024-11-14T07:00:00.000Z");
    assert_eq!(rfc3339(parse("1 day ago", now).unwrap()), "2024-11-13T10:00:00.000Z");
    assert_eq!(rfc3339(parse("a week ago", now).unwrap()), "2024-11-07T10:00:00.000Z");
    assert_eq!(rfc3339(parse("an hour ago", now).unwrap()), "2024-11-14T09:00:00.000Z");
}

#[test]
fn other_text_is_no_date() {
    for text in ["", "soon", "2024-13-01", "99999999999999999999 days ago", "1:2", "May"] {
        assert_eq!(parse(text, 0), None, "{text}");
    }
    assert_eq!(normalize("last  summer", 0), "last summer");
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in ".{0,60}") {
        parse(&text, 1_700_000_000_000);
    }
}
