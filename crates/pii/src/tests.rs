use proptest::prelude::{any, proptest};

use super::{Finding, Kind, Options, find, find_for_redaction};

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
fn secrets_are_found_by_the_names_of_their_fields() {
    has("SECRET_KEY=b7Rk/29xQm+Lw81zTe4u", Kind::Secret, "b7Rk/29xQm+Lw81zTe4u");
    has("signing_key: 9f8e7d6c5b4a", Kind::Secret, "9f8e7d6c5b4a");
    has("SMTP_PASS=Vulkan!42x", Kind::Secret, "Vulkan!42x");
    lacks("TOKEN_EXPIRY=2031-04-05", Kind::Secret);
    lacks("primary_key=order_4711", Kind::Secret);
}

#[test]
fn short_addresses_are_no_slices_and_versions_no_addresses() {
    has("listening on ::1 only", Kind::IpAddress, "::1");
    has("http [::1]:8080", Kind::IpAddress, "::1");
    lacks("rows[::1]", Kind::IpAddress);
    lacks("std::1st", Kind::IpAddress);
    lacks("Windows 10.0.22.7 is supported", Kind::IpAddress);
    lacks("take the 10.0.22.7 release", Kind::IpAddress);
    has("the Windows host at 10.0.22.7", Kind::IpAddress, "10.0.22.7");
    lacks("self.rows.map is lazy", Kind::DomainName);
}

#[test]
fn licences_of_digits_only_are_found_after_their_name() {
    has("Driver's license 730551284", Kind::UsDriverLicense, "730551284");
    lacks("software license 730551284", Kind::UsDriverLicense);
    has("DL# 730551284 (CA), SSN 536-22-1234", Kind::UsDriverLicense, "730551284");
    has("536221234 is my SSN", Kind::UsSsn, "536221234");
}

#[test]
fn a_word_for_a_phone_names_one_number() {
    lacks("Room 20311, extension 40412, badge 88291734", Kind::PhoneNumber);
    has("Phone 467 3395 or 467 3396", Kind::PhoneNumber, "467 3396");
}

#[test]
fn postal_codes_are_found_around_their_name() {
    has("we deliver to the 60614 zip code", Kind::ZipCode, "60614");
    has("What is the zip code of Tulsa? Maybe 74103-2811?", Kind::ZipCode, "74103-2811");
    has("He settled in Leiria 3610-114 last year", Kind::ZipCode, "3610-114");
    lacks("no zip code was given for order 60614", Kind::ZipCode);
    lacks("the 60614 zip: none", Kind::ZipCode);
}

#[test]
fn ages_are_found_after_names_and_in_other_languages() {
    has("Ingrid Solheim, 57, of Oslo, was hurt.", Kind::Age, "57");
    has("Ingrid Solheim (57) was hurt.", Kind::Age, "57");
    has("Ich bin 29 Jahre alt.", Kind::Age, "29");
    has("eine 34-jährige Frau", Kind::Age, "34");
    has("Elle a 41 ans et deux enfants.", Kind::Age, "41");
    has("El señor tiene 33 años.", Kind::Age, "33");
    has("un homme âgé de 64 ans", Kind::Age, "64");
    lacks("Il y a 10 ans, tout allait bien.", Kind::Age);
    lacks("un contrato de 5 años", Kind::Age);
    lacks("He lives at Bakery Lane, 57, in Leeds.", Kind::Age);
}

#[test]
fn dates_are_found_in_other_languages_and_by_the_day_of_the_week() {
    has("See you on Thursday!", Kind::DateTime, "Thursday");
    has("geboren am 3. März 1984", Kind::DateTime, "3. März 1984");
    has("le 14 juillet 2019", Kind::DateTime, "14 juillet 2019");
    has("el 5 de mayo de 2007", Kind::DateTime, "5 de mayo de 2007");
    has("am 24. Dezember ist zu", Kind::DateTime, "24. Dezember");
    has("seit 2011 in Betrieb", Kind::DateTime, "2011");
    has("a case decided 1998", Kind::DateTime, "1998");
    lacks("they delivered 2019 parcels", Kind::DateTime);
    lacks("we ate 3 mars bars", Kind::DateTime);
}

#[test]
fn job_titles_and_forms_of_address_precede_names() {
    has("Marine biologist Ingrid Solheim spoke.", Kind::Title, "Marine biologist");
    has("La señora Ibarra tiene prisa.", Kind::Title, "señora");
    has("we met sir gunnar solheim", Kind::Title, "sir");
    lacks("My teacher Ingrid Solheim spoke.", Kind::Title);
    lacks("The data engineer went home.", Kind::Person);
}

#[test]
fn an_address_below_a_name_is_reported_in_parts() {
    let text = "Dr. Ingrid Solheim\nElmvej 17 Suite 4\nAarhus, Oregon 80331-2204\nDenmark";
    has(text, Kind::StreetAddress, "Elmvej 17 Suite 4");
    has(text, Kind::Gpe, "Aarhus");
    has(text, Kind::Gpe, "Oregon");
    has(text, Kind::ZipCode, "80331-2204");
    has(text, Kind::Gpe, "Denmark");
    // In a sentence it is one value.
    has(
        "Send it to 4 Elm Street Suite 4\nAarhus, Oregon 80331-2204\nDenmark",
        Kind::StreetAddress,
        "4 Elm Street Suite 4\nAarhus, Oregon 80331-2204\nDenmark",
    );
    has("support Zentrixo in Ballum 6261 now", Kind::ZipCode, "6261");
    has("ship to keizersgracht 34 today", Kind::StreetAddress, "keizersgracht 34");
    // Nor is it split below a company.
    has(
        "Ana Reyes\nHall Ltd.\n12 Elm Road\nNicosia\n, NI\n 61089",
        Kind::StreetAddress,
        "12 Elm Road\nNicosia\n, NI\n 61089",
    );
    has(
        "our office: 4 Elm Road\nFlat 2\n Ballum\n New Zealand 73146",
        Kind::StreetAddress,
        "4 Elm Road\nFlat 2\n Ballum\n New Zealand 73146",
    );
    has("ship to Springfield, IL 62704", Kind::ZipCode, "62704");
}

#[test]
fn lists_of_places_decide_where_words_around_a_name_are_weak() {
    has("Is Sapporo bigger than Dunedin?", Kind::Gpe, "Dunedin");
    has("I am Ingrid Solheim from Dunedin.", Kind::Gpe, "Dunedin");
    has("The store is in Little Rock now", Kind::Gpe, "Little Rock");
    has("a shop in Newcastle upon Tyne", Kind::Gpe, "Newcastle upon Tyne");
    has("We will hear from Gianluca again", Kind::Person, "Gianluca");
    has("Mein Name ist Noura O. Al-Rashid.", Kind::Person, "Noura O. Al-Rashid");
    has("J'habite à Split.", Kind::Gpe, "Split");
    has("Je m'appelle Ana et j'habite à Lagos.", Kind::Gpe, "Lagos");
    has("I am Ingrid Solheim from Zentrov.", Kind::Gpe, "Zentrov");
    has("A novel by Thibault d'Aubigny sold well.", Kind::Person, "Thibault d'Aubigny");
}

#[test]
fn companies_are_found_by_their_form_and_place() {
    has("Did Weeks-Rivas reply?", Kind::Organization, "Weeks-Rivas");
    has("The card of Anna Weeks-Rivas", Kind::Person, "Anna Weeks-Rivas");
    has("Ingrid Solheim\nTax accountant\nZentrixo\nfax", Kind::Organization, "Zentrixo");
    has("The deal between Zentrixo Ltd and Ingrid Solheim ends.", Kind::Person, "Ingrid Solheim");
    has("The Bank of Ballum is closed.", Kind::Organization, "Bank of Ballum");
}

#[test]
fn prose_with_capitals_is_left_alone() {
    lacks("Red Wine, Olive Oil, Fresh Bread and Sea Salt", Kind::Person);
    lacks("She is studying English at home.", Kind::Nrp);
    has("He met two English engineers in Leeds.", Kind::Nrp, "English");
    lacks("Happy Birthday and Merry Christmas!", Kind::Person);
    lacks("join accounts with ms. Marcela", Kind::Title);
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

#[test]
fn one_run_of_characters_takes_time_by_its_length() {
    let quoted = format!("Anna Weber\n{}{}", ">".repeat(150_000), "\nTable".repeat(15_000));
    let texts = [
        format!("http://a.org/{}", ")".repeat(200_000)),
        format!("born 2024{}2024", "(".repeat(200_000)),
        quoted,
        "\r".repeat(200_000),
        "0".repeat(200_000),
        "@".repeat(200_000),
        "a\u{301}".repeat(60_000),
    ];
    for text in texts {
        let start = std::time::Instant::now();
        find_for_redaction(&text, &Options::default());
        let took = start.elapsed();
        // Quadratic loops take minutes.
        assert!(took < std::time::Duration::from_secs(10), "{:?}: {took:?}", &text[..20]);
    }
}

proptest! {
    #[test]
    fn findings_are_ordered_and_within_the_text(text in "[ a-zA-Z0-9@.:,\\-+()\n/éß日]{0,300}") {
        let findings = find(&text, &Options { min_confidence: 0.0, ..Options::default() });
        assert!(in_order(&findings));
        for finding in findings.iter().chain(&find_for_redaction(&text, &Options::default())) {
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
