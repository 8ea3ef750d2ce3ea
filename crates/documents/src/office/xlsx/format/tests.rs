use super::{Format, by_code, by_number, show};

#[test]
fn numbers_are_shown_as_a_person_typed_them() {
    for (value, format, expected) in [
        ("0.10000000000000001", Format::Number, "0.1"),
        ("1250000", Format::Number, "1250000"),
        ("1E+300", Format::Number, "1E+300"),
        ("0.075", Format::Percent, "7.5%"),
        ("45000", Format::Date, "2023-03-15"),
        ("45000.75", Format::Date, "2023-03-15 18:00:00"),
        ("0.5", Format::Date, "12:00:00"),
        ("1", Format::Date, "1900-01-01"),
        ("61", Format::Date, "1900-03-01"),
        ("-3", Format::Date, "-3"),
        ("9e99", Format::Date, "9e99"),
        ("NaN", Format::Date, "NaN"),
        ("not a number", Format::Date, "not a number"),
    ] {
        assert_eq!(show(value, format, false), expected, "{value}");
    }
    assert_eq!(show("0", Format::Date, true), "1904-01-01");
}

#[test]
fn codes_tell_dates_from_numbers() {
    for (code, expected) in [
        ("yyyy\\-mm\\-dd", Format::Date),
        ("[$-409]d-mmm-yy;@", Format::Date),
        ("[h]:mm:ss", Format::Date),
        ("0.00%", Format::Percent),
        ("#,##0.00 \"days\"", Format::Number),
        ("[Red]#,##0", Format::Number),
        ("General", Format::Number),
        ("_-* #,##0_-", Format::Number),
    ] {
        assert_eq!(by_code(code), expected, "{code}");
    }
    assert_eq!(by_number("14"), Format::Date);
    assert_eq!(by_number("9"), Format::Percent);
    assert_eq!(by_number("0"), Format::Number);
}
