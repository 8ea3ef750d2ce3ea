use jiff::civil::date;
use proptest::prelude::{any, proptest};

use super::{clock, date_at, time_at};

#[test]
fn dates_are_read_in_the_forms_that_people_write() {
    let today = date(2024, 6, 15);
    let read = |text: &str| date_at(text, today).map(|(written, end)| (written.text(), end));
    for (text, expected) in [
        ("2023-01-31, and", "2023-01-31"),
        ("10/05/2023 10:00 AM", "10/05/2023"),
        ("5/1/2023", "5/1/2023"),
        ("25/12/2023", "25/12/2023"),
        ("January 1st 2024 and", "2024-01-01"),
        ("April 5, 2022 and", "2022-04-05"),
        ("1st of January, 2023", "2023-01-01"),
        ("20th March.", "2025-03-20"),
        ("July 16th.", "2024-07-16"),
        ("tomorrow", "2024-06-16"),
    ] {
        assert_eq!(read(text).map(|(text, _)| text).as_deref(), Some(expected), "{text}");
    }
    for text in ["2023-13-01", "99/99/2023", "march on", "may I", "42", "decide 3", "2023"] {
        assert_eq!(read(text), None, "{text}");
    }
    let (written, _) = date_at("10/30/2023", today).unwrap();
    assert_eq!(written.later(3).unwrap().text(), "11/02/2023");
}

#[test]
fn times_of_day_differ_from_numbers() {
    for (text, length) in [("10:00 AM on", 8), ("7pm", 3), ("7 PM", 4), ("18:00 to", 5)] {
        assert_eq!(time_at(text), Some(length), "{text}");
    }
    for text in ["10", "7 people", "99:00", "10:5", "1:234"] {
        assert_eq!(time_at(text), None, "{text}");
    }
    assert_eq!(clock("7 PM").as_deref(), Some("19:00"));
    assert_eq!(clock("12:05 am").as_deref(), Some("00:05"));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        let today = date(2024, 6, 15);
        if let Some((_, end)) = date_at(&text, today) {
            assert!(text.is_char_boundary(end));
        }
        if let Some(end) = time_at(&text) {
            assert!(text.is_char_boundary(end));
        }
        let _ = clock(&text);
    }
}
