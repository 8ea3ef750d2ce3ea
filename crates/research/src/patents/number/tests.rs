use super::*;

#[test]
fn numbers_in_addresses_have_a_prefix() {
    for (text, prefix, digits) in [
        ("US10000000B2", "US", "10000000"),
        ("JPH07123456A", "JPH", "07123456"),
        ("JPS58123456A", "JPS", "58123456"),
        ("USD912345S1", "USD", "912345"),
        ("USRE45678E1", "USRE", "45678"),
        ("TWI123456B", "TWI", "123456"),
        ("BRPI0612345A2", "BRPI", "0612345"),
        ("USH1234H1", "USH", "1234"),
        ("EP1234567", "EP", "1234567"),
    ] {
        let number = Number::read(text).unwrap();
        assert_eq!((number.prefix, number.digits), (prefix, digits), "{text}");
    }
    for text in
        ["", "X", "10000000", "U1234567", "ABCDE12345", "US123", "US1234567ABC", "ÜS1234567"]
    {
        assert_eq!(Number::read(text), None, "{text}");
    }
}

#[test]
fn some_numbers_begin_with_the_year() {
    let year = |text| Number::read(text).unwrap().published().and_then(dates::year);
    assert_eq!(year("US20200012345A1"), Some(2020));
    assert_eq!(year("WO2019123456A1"), Some(2019));
    for text in ["US11000000B2", "WO9812345A1", "JPH2019123456A", "USD20190012345S1"] {
        assert_eq!(year(text), None, "{text}");
    }
}

#[test]
fn numbers_are_recognized_as_callers_write_them() {
    assert_eq!(number_in("US 10,000,000 B2").as_deref(), Some("US10000000B2"));
    assert_eq!(number_in("ep1234567").as_deref(), Some("EP1234567"));
    assert_eq!(number_in("WO 2020/123456 A1").as_deref(), Some("WO2020123456A1"));
    for text in ["solar cell", "5G", "US patents 2020", "battery 1000000 cells", "ISO 900100"] {
        assert_eq!(number_in(text), None, "{text}");
    }
}
