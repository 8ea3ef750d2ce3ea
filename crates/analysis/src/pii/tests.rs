use proptest::prelude::{any, proptest};

use super::{Finding, Kind, Options, find};

fn found(text: &str) -> Vec<(Kind, &str)> {
    find(text, &Options::default())
        .iter()
        .map(|finding| (finding.kind, &text[finding.start..finding.end]))
        .collect()
}

fn has(text: &str, kind: Kind, value: &str) {
    assert!(found(text).contains(&(kind, value)), "{text}: {:?}", found(text));
}

fn lacks(text: &str, kind: Kind) {
    assert!(found(text).iter().all(|(other, _)| *other != kind), "{text}: {:?}", found(text));
}

#[test]
fn identifiers_are_found_in_their_spellings() {
    has(
        "Write to ana.reyes+x@mail.example.co.uk, please",
        Kind::EmailAddress,
        "ana.reyes+x@mail.example.co.uk",
    );
    has("Pay 4111 1111 1111 1111 now", Kind::CreditCard, "4111 1111 1111 1111");
    has("to DE89 3704 0044 0532 0130 00 by Friday", Kind::IbanCode, "DE89 3704 0044 0532 0130 00");
    has("iban gb82west12345698765432", Kind::IbanCode, "gb82west12345698765432");
    has("SSN 536-22-1234.", Kind::UsSsn, "536-22-1234");
    has("from 192.168.7.12: closed", Kind::IpAddress, "192.168.7.12");
    has("peer 2001:db8::8a2e:370:7334 up", Kind::IpAddress, "2001:db8::8a2e:370:7334");
    has("MAC 3c-5a-b4-11-22-33", Kind::MacAddress, "3c-5a-b4-11-22-33");
    has("see https://lumen.dev/a?b=1.", Kind::DomainName, "https://lumen.dev/a?b=1");
    has("at quill-orbit.co.uk today", Kind::DomainName, "quill-orbit.co.uk");
    has("Billing ZIP: 90210-1234", Kind::ZipCode, "90210-1234");
    has("driver's license number D1234567", Kind::UsDriverLicense, "D1234567");
    has(
        "wallet 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
        Kind::Crypto,
        "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    );
    has("NI number AB 12 34 56 C", Kind::UkNino, "AB 12 34 56 C");
    has("CPF 529.982.247-25", Kind::BrCpf, "529.982.247-25");
    has("password = 'hunter2-Xq9'", Kind::Secret, "hunter2-Xq9");
    has("Call me on 030 1234 567", Kind::PhoneNumber, "030 1234 567");
    has("fax: (212) 555-0143", Kind::PhoneNumber, "(212) 555-0143");
}

#[test]
fn look_alikes_are_left_alone() {
    lacks("Tracking 4111 1111 1111 1112", Kind::CreditCard);
    lacks("to DE88 3704 0044 0532 0130 00", Kind::IbanCode);
    lacks("release 10.0.0.256 is out", Kind::IpAddress);
    lacks("open main.rs, run.py and notes.md", Kind::DomainName);
    lacks("SSN 000-22-1234 or 666-22-1234", Kind::UsSsn);
    lacks("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", Kind::Crypto);
    lacks("CPF 529.982.247-26", Kind::BrCpf);
    lacks("ISBN 978-3-1614-8410-0, printed 2024-11-03", Kind::PhoneNumber);
    lacks("order 88234571 and 12.345.678 rows", Kind::PhoneNumber);
    lacks("token = ${TOKEN}", Kind::Secret);
}

#[test]
fn names_and_places_come_from_lists_and_context() {
    has("My name is Tünde Hoffmann.", Kind::Person, "Tünde Hoffmann");
    has("my name is katarina", Kind::Person, "katarina");
    has("He lives in Hvammstangi now.", Kind::Gpe, "Hvammstangi");
    has("She works at Zentrixo as a nurse", Kind::Organization, "Zentrixo");
    has("Northwind Traders Ltd was late", Kind::Organization, "Northwind Traders Ltd");
    has("We are proud Icelanders", Kind::Nrp, "Icelanders");
    has("He just turned 69", Kind::Age, "69");
    has("born on 3 March 1984 in Oslo", Kind::DateTime, "3 March 1984");
    has("send it to 12 Baker Street, Leeds", Kind::StreetAddress, "12 Baker Street");
    has("Dr. Anna Weber called", Kind::Title, "Dr.");
    lacks("The report lists the results. Please read it.", Kind::Person);
    lacks("See Article 50 and Table 12.", Kind::StreetAddress);
}

#[test]
fn the_heading_of_a_column_names_its_values() {
    let text = "name,email,phone\n48213377,ana@lumen.com,48213377";
    let numbers: Vec<_> = find(text, &Options::default())
        .into_iter()
        .filter(|finding| finding.kind == Kind::PhoneNumber)
        .collect();
    assert_eq!(numbers.len(), 1, "{numbers:?}");
    assert_eq!(numbers[0].start, text.rfind("48213377").unwrap_or_default());
}

#[test]
fn only_the_types_asked_for_are_reported() {
    let options = Options { kinds: vec![Kind::PhoneNumber], ..Options::default() };
    assert_eq!(find("card 4111111111111111, mail a@lumen.com", &options), []);
    let options = Options { min_confidence: 0.97, ..Options::default() };
    let sure = find("SSN 536-22-1234, a@lumen.com", &options);
    assert_eq!(sure.len(), 1);
}

fn in_order(findings: &[Finding]) -> bool {
    findings.windows(2).all(|pair| pair[0].end <= pair[1].start)
}

#[test]
fn long_texts_take_time_by_their_length() {
    let unit =
        "Anna Weber lives at 12 Baker Street, Leeds; call +44 20 7946 0958 or a.b@lumen.com. ";
    let hard = ["1 ", "a@", "A. ", "0:", "1-", "eyJ", "(", "Smith, ", "a.", "password=", "St. 1 "];
    let time = |text: &str| {
        let start = std::time::Instant::now();
        find(text, &Options::default());
        start.elapsed()
    };
    time(unit);
    for part in std::iter::once(unit).chain(hard) {
        let short = time(&part.repeat(10_000 / part.len()));
        let long = time(&part.repeat(100_000 / part.len()));
        // Ten times the text; a quadratic recogniser would take a hundred times as long.
        assert!(
            long < short * 40 + std::time::Duration::from_millis(500),
            "{part:?}: {short:?}, {long:?}"
        );
    }
}

proptest! {
    #[test]
    fn findings_are_ordered_and_within_the_text(text in "[ a-zA-Z0-9@.:,\\-+()\n/éß日]{0,300}") {
        let findings = find(&text, &Options { min_confidence: 0.0, ..Options::default() });
        assert!(in_order(&findings));
        for finding in &findings {
            assert!(text.get(finding.start..finding.end).is_some_and(|value| !value.is_empty()));
        }
    }

    #[test]
    fn any_text_is_read(text in any::<String>()) {
        assert!(in_order(&find(&text, &Options::default())));
    }

    #[test]
    fn a_wrong_check_digit_is_no_card(digits in "4[0-9]{14}", off in 1u8..10) {
        let right = (b'0'..=b'9')
            .find(|last| super::cards::luhn(&digits.bytes().chain([*last]).map(|digit| digit - b'0').collect::<Vec<_>>()))
            .unwrap_or(b'0');
        let wrong = (right - b'0' + off) % 10;
        let card = |last: u8| format!("card {digits}{last}");
        assert!(found(&card(right - b'0')).iter().any(|(kind, _)| *kind == Kind::CreditCard));
        assert!(found(&card(wrong)).iter().all(|(kind, _)| *kind != Kind::CreditCard));
    }
}
