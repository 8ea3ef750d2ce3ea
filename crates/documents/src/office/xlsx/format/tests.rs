use super::code::Parts;
use super::{Format, by_code, by_number, show};

#[test]
fn numbers_are_shown_as_a_person_typed_them() {
    let (date, percent) = (Format::Date(Parts::Date), by_code("0.0%"));
    for (value, format, expected) in [
        ("0.10000000000000001", &Format::General, "0.1"),
        ("1250000", &Format::General, "1250000"),
        ("1E+300", &Format::General, "1E+300"),
        ("0.075", &percent, "7.5%"),
        ("45000", &date, "2023-03-15"),
        ("45000.75", &date, "2023-03-15 18:00:00"),
        ("0.5", &date, "12:00:00"),
        ("1", &date, "1900-01-01"),
        ("61", &date, "1900-03-01"),
        ("-3", &date, "-3"),
        ("9e99", &date, "9e99"),
        ("NaN", &date, "NaN"),
        ("not a number", &date, "not a number"),
    ] {
        assert_eq!(show(value, format, false), expected, "{value}");
    }
    assert_eq!(show("0", &date, true), "1904-01-01");
}

#[test]
fn codes_tell_dates_from_numbers() {
    for (code, expected) in [
        ("yyyy\\-mm\\-dd", Some(Parts::Date)),
        ("[$-409]d-mmm-yy;@", Some(Parts::Date)),
        ("mmm yy", Some(Parts::Date)),
        ("h:mm AM/PM", Some(Parts::Time)),
        ("mm:ss", Some(Parts::Time)),
        ("m/d/yyyy h:mm", Some(Parts::Date)),
        ("[h]:mm:ss", Some(Parts::Duration)),
        ("0.00%", None),
        ("#,##0.00 \"days\"", None),
        ("[Red]#,##0", None),
        ("General", None),
        ("_-* #,##0_-", None),
    ] {
        let found = match by_code(code) {
            Format::Date(parts) => Some(parts),
            _ => None,
        };
        assert_eq!(found, expected, "{code}");
    }
    assert_eq!(by_number("14"), Format::Date(Parts::Date));
    assert_eq!(by_number("9"), by_code("0%"));
    assert_eq!(by_number("0"), Format::General);
    assert_eq!(by_number("49"), Format::General);
}

#[test]
fn times_and_durations_are_shown_without_a_date() {
    assert_eq!(show("45000.75", &by_code("h:mm"), false), "18:00:00");
    assert_eq!(show("1.5", &by_number("46"), false), "36:00:00");
    assert_eq!(show("-0.25", &by_code("[hh]:mm"), false), "-6:00:00");
    assert_eq!(show("1e99", &by_code("[hh]:mm"), false), "1e99");
}

#[test]
fn numbers_are_shown_by_their_codes() {
    for (code, value, expected) in [
        ("0", "2.5", "3"),
        ("0.00", "2.675", "2.68"),
        ("0.00", "1", "1.00"),
        ("#,##0", "1234567.4", "1,234,567"),
        ("#,##0.00", "-1234.5", "-1,234.50"),
        ("#,##0.00", "0", "0.00"),
        ("#,##0.##", "1234.5", "1,234.5"),
        ("#.##", "0.25", ".25"),
        ("0%", "0.075", "8%"),
        ("0.00%", "0.07", "7.00%"),
        ("\"$\"#,##0.00", "99.9", "$99.90"),
        ("[$€-2] #,##0.00", "1500", "€ 1,500.00"),
        ("#,##0.00\\ [$€-407]", "-1500", "-1,500.00 €"),
        ("$#,##0_);($#,##0)", "-1234.5", "($1,235)"),
        ("$#,##0_);[Red]($#,##0)", "1234.4", "$1,234"),
        ("#,##0;[Red]-#,##0;\"none\"", "0", "none"),
        ("_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)", "0", "-"),
        ("_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)", "-5", "(5.00)"),
        ("0.00E+00", "12345", "1.23E+04"),
        ("0.00E+00", "0.00099999", "1.00E-03"),
        ("0.0,,\"M\"", "12500000", "12.5M"),
        ("#,##0,", "1234567", "1,235"),
        ("[>=1000000]0.0,,\"M\";[>=1000]0.0,\"K\";0", "2500", "2.5K"),
        ("[>=1000000]0.0,,\"M\";[>=1000]0.0,\"K\";0", "12", "12"),
        ("00000", "421", "00421"),
        ("000-0000", "5551234", "555-1234"),
        ("General\" pcs\"", "12", "12 pcs"),
        ("# ?/?", "0.5", "0.5"),
        ("0.0", "-0.01", "0.0"),
        (";;;", "5", ""),
        ("0.00", "1e20", "100000000000000000000.00"),
    ] {
        assert_eq!(show(value, &by_code(code), false), expected, "{value} as {code}");
    }
}
