use pii::{Options, find};
use proptest::prelude::{prop, proptest};

use super::{Mode, Plan, Target, found_in, leftovers};

const MODES: [Mode; 4] = [Mode::Mask, Mode::Label, Mode::Remove, Mode::Pseudonym];

fn found(text: &str) -> Vec<Target> {
    find(text, &Options::default())
        .into_iter()
        .map(|finding| Target {
            label: finding.kind.name().to_owned(),
            place: finding.start..finding.end,
        })
        .collect()
}

fn target(text: &str, value: &str) -> Target {
    let start = text.find(value).expect("the value is there");
    Target { label: "PERSON".to_owned(), place: start..start + value.len() }
}

#[test]
fn each_mode_replaces_in_its_way() {
    let text = "Anna Weber met Omar; ANNA WEBER left.";
    let done = |mode| {
        Plan::new(text, vec![target(text, "Anna Weber"), target(text, "Omar")], mode).apply(text)
    };
    assert_eq!(done(Mode::Mask), "████ █████ met ████; ████ █████ left.");
    assert_eq!(done(Mode::Label), "[PERSON] met [PERSON]; [PERSON] left.");
    assert_eq!(done(Mode::Remove), " met ;  left.");
    assert_eq!(done(Mode::Pseudonym), "PERSON_1 met PERSON_2; PERSON_1 left.");
}

#[test]
fn overlapping_targets_become_one() {
    let text = "ab cdef gh";
    let place = |start, end| Target { label: "X".to_owned(), place: start..end };
    let plan = Plan::new(text, vec![place(3, 7), place(5, 10), place(0, 0)], Mode::Label);
    assert_eq!(plan.apply(text), "ab [X]");
    assert_eq!(plan.counts()["X"], 1);
}

#[test]
fn values_are_redacted_however_they_are_written() {
    let rows = [
        ("Jürgen Öztürk", "JÜRGEN ÖZTÜRK"),
        ("Jürgen", "Ju\u{308}rgen"),
        ("Иван Петров", "ИВАН ПЕТРОВ"),
        ("Weberson", "Web\u{ad}er\u{200b}son"),
        ("Weberson", "Weber-\nson"),
        ("Weberson", "Ｗｅｂｅｒｓｏｎ"),
        ("Anna Weberson", "Anna \u{a0}\nWeberson"),
        ("Straßburg", "STRASSBURG"),
        ("Anna Weberson", "Аnnа Wеbеrsоn"),
        ("Anna Weberson", "anna.weberson"),
        ("Anna Weberson", "ANNA_WEBERSON"),
        ("Anna Weberson", "Anna\u{2800}Weberson"),
        ("Anna Weberson", "A\u{20dd}nna Weberson"),
        ("Łukasz Szmidt", "Lukasz Szmidt"),
        ("a.b@lumen.com", "a.b%40lumen.com"),
        ("a.b@lumen.com", "a.b@\nlumen.com"),
        ("+49 30 1234567", "0049 (30) 123-45.67"),
        ("DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
        ("DE89 3704 0044 0532 0130 00", "DE89.3704.0044.0532.0130.00"),
        ("0151 23456789", "٠١٥١ ٢٣٤٥٦٧٨٩"),
    ];
    for (value, other) in rows {
        let text = format!("id {value}; {other} x");
        let plan = Plan::new(&text, vec![target(&text, value)], Mode::Label);
        assert_eq!(plan.apply(&text), "id [PERSON]; [PERSON] x", "{value}");
        assert!(plan.leftovers(&text) >= 2, "{value}");
        assert!(leftovers(plan.values(), other) >= 1, "{value}");
    }
    let text = "id 1234567; 91234567 and 12345678 and Webersons";
    let plan =
        Plan::new(text, vec![target(text, "1234567"), target(text, "Weberson")], Mode::Remove);
    assert_eq!(plan.apply(text), "id ; 91234567 and 12345678 and s", "parts of other words stay");
}

#[test]
fn names_are_redacted_within_longer_words() {
    let text = "Anna Weber: C:\\AnnaWeber2024\\cvAnnaWeberLetter.doc, Anna Webers, anna_weber7, annaweber7; Anna Weberling";
    let done = Plan::new(text, vec![target(text, "Anna Weber")], Mode::Label).apply(text);
    assert_eq!(
        done,
        "[PERSON]: C:\\[PERSON]2024\\cv[PERSON]Letter.doc, [PERSON]s, [PERSON]7, [PERSON]7; Anna Weberling"
    );
}

#[test]
fn values_within_and_made_of_others_are_redacted() {
    let text = "id Peterson Gate; Gate here; XPeterson Gate";
    let place = |start, end| Target { label: "X".to_owned(), place: start..end };
    let plan = Plan::new(text, vec![place(3, 16), place(12, 16)], Mode::Label);
    assert_eq!(plan.apply(text), "id [X]; [X] here; XPeterson [X]");
    let plan = Plan::new("ababcdcd zz", vec![place(2, 6)], Mode::Remove);
    assert_eq!(plan.apply("ababcdcd zz"), " zz");
    let long = "word ".repeat(200);
    let text = format!("{long}; {}", long.to_uppercase());
    assert!(!Plan::new(&text, vec![place(0, 999)], Mode::Label).apply(&text).contains("WORD W"));
}

#[test]
fn pseudonyms_of_different_values_differ() {
    let text = "PERSON_1: a.b@x.com, ab@x.com, a-b@x.com, A.B@x.com; Omar";
    let mut targets: Vec<Target> =
        ["a.b@x.com", "ab@x.com", "a-b@x.com"].map(|value| target(text, value)).into();
    targets.push(target(text, "Omar"));
    let done = Plan::new(text, targets, Mode::Pseudonym).apply(text);
    assert_eq!(done, "PERSON_1: PERSON_2, PERSON_3, PERSON_4, PERSON_2; PERSON_5");
}

#[test]
fn values_are_found_over_ends_of_lines() {
    for text in [
        "Write to anna.we-\nber@lumen.com",
        "Write to anna.weber@\nlumen.com",
        "Write to anna.weber\n@lumen.com",
        "Write to ａｎｎａ@lumen.com",
        "Write to anna%40lumen.com",
        "Write to an\u{2061}na@lumen.com",
        "Write to аnna@lumen.com",
        "Write to a n n a @ l u m e n . c o m",
        "Write to anna [at] lumen [dot] com",
        "Write to anna(at)lumen.com",
    ] {
        let targets = found_in(text, found);
        let done = Plan::new(text, targets, Mode::Label).apply(text);
        assert_eq!(done, "Write to [EMAIL_ADDRESS]", "{text}");
    }
    let apart = "Yours, Anna.\n\nanna@lumen.com";
    assert!(
        found_in(apart, found).iter().all(|target| !apart[target.place.clone()].contains('\n'))
    );
}

/// Fails if something takes minutes, as a quadratic loop over a text of this length does.
fn soon<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = std::time::Instant::now();
    let done = work();
    assert!(start.elapsed() < std::time::Duration::from_secs(10), "{what}: {:?}", start.elapsed());
    done
}

#[test]
fn runs_of_one_character_take_time_by_their_length() {
    for unit in ["\r", "\n", "\r\n", "-\r\n", "@\r", "\u{200b}", "%4", "%40", "а", "a "] {
        let text = unit.repeat(200_000 / unit.len());
        soon(unit, || found_in(&text, |_| Vec::new()));
    }
    // The first place of a text is redacted; in the rest are as many hits as characters.
    for (first, unit) in
        [("+0000000; ", "0"), ("9999999; ", "9"), ("aaaa aaaa; ", "a"), ("aa@a; ", "a@")]
    {
        let text = format!("{first}{}", unit.repeat(100_000 / unit.len()));
        let target = Target { label: "X".to_owned(), place: 0..first.len() - 2 };
        let plan = soon(first, || Plan::new(&text, vec![target], Mode::Label));
        assert!(soon(first, || plan.apply(&text)).starts_with("[X]; "));
    }
}

#[test]
fn values_as_long_as_the_text_take_time_by_its_length() {
    let text = "9".repeat(200_000);
    let place = |start, end| Target { label: "X".to_owned(), place: start..end };
    let plan = soon("nines", || Plan::new(&text, vec![place(0, 50_000)], Mode::Remove));
    let rest = plan.apply(&text).len();
    assert!(rest < 200, "{rest} digits are left: less than one piece of the number");
    let digits = "1234567890".repeat(30);
    let grouped = format!("{digits}; 1.2{}", &digits[2..]);
    let plan = Plan::new(&grouped, vec![place(0, digits.len())], Mode::Label);
    assert!(!plan.apply(&grouped).contains(&digits[10..40]), "long numbers are found in groups");

    let text = "The river is calm and the boats are small today. ".repeat(4_000);
    let nested: Vec<Target> = (0..20_000).map(|at| place(at, text.len() - at)).collect();
    let plan = soon("nested", || Plan::new(&text, nested, Mode::Mask));
    assert!(plan.leftovers("") > 0, "values are left out, so nothing is verified");
    let twice: Vec<Target> = (0..1_000).map(|_| place(4, 9)).collect();
    assert_eq!(Plan::new(&text, twice, Mode::Mask).leftovers(""), 0, "equal places count once");
}

proptest! {
    #[test]
    fn no_redacted_value_is_left(
        words in prop::collection::vec("Anna Weber|a@lumen\\.com|4111111111111111|\\+49 30 1234567|met|at|the|Leeds|Omar|Dr\\.|12 Baker Street|,|\n|Straße", 1..40),
        mode in prop::sample::select(MODES.to_vec()),
    ) {
        let text = words.join(" ");
        let targets = found(&text);
        let values: Vec<String> = targets.iter().map(|target| text[target.place.clone()].to_owned()).collect();
        let plan = Plan::new(&text, targets, mode);
        let result = plan.apply(&text);
        assert_eq!(plan.leftovers(&result), 0, "{text:?} {result:?}");
        for value in values.iter().filter(|value| value.chars().count() > 5) {
            assert!(!result.contains(value.as_str()), "{value:?} in {result:?}");
        }
    }
}

mod documents {
    use std::io::{Cursor, Write as _};

    use extraction::Limits;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::super::docx::{redact, text};
    use super::{MODES, Mode, found};

    fn document(body: &str) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let parts = [
            ("[Content_Types].xml", "<Types/>".to_owned()),
            ("_rels/.rels", r#"<Relationships><Relationship Id="a" Target="docProps/thumbnail.jpeg" Type="thumbnail"/></Relationships>"#.to_owned()),
            ("docProps/core.xml", "<c><creator>Anna Weber</creator></c>".to_owned()),
            ("docProps/thumbnail.jpeg", "Anna Weber".to_owned()),
            ("word/_rels/document.xml.rels", r#"<R><Relationship Target="mailto:anna@lumen.com"/></R>"#.to_owned()),
            ("word/comments.xml", r#"<w:comments><w:comment w:author="Anna Weber" w:initials="AW"><w:p><w:r><w:t>Call Anna Weber</w:t></w:r></w:p></w:comment></w:comments>"#.to_owned()),
            ("word/document.xml", format!("<w:document><w:body>{body}</w:body></w:document>")),
        ];
        for (name, content) in parts {
            writer.start_file(name, SimpleFileOptions::default()).expect("a part");
            writer.write_all(content.as_bytes()).expect("written");
        }
        writer.finish().expect("an archive").into_inner()
    }

    #[test]
    fn values_over_several_runs_are_redacted_everywhere() {
        let body = r#"<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>My name is An</w:t></w:r><w:r><w:t xml:space="preserve">na We</w:t></w:r><w:r><w:t>ber &amp; I.</w:t></w:r></w:p><w:p><w:r><w:t>anna@lumen.com</w:t></w:r></w:p>"#;
        for mode in MODES {
            let done = redact(&document(body), &Limits::default(), mode, found).expect("redacted");
            assert_eq!(done.leftovers, 0, "{mode:?}");
            let read = text(&done.bytes, &Limits::default()).expect("read");
            assert!(read.contains(" & I.") && !read.to_lowercase().contains("weber"), "{read}");
            let mut archive = zip::ZipArchive::new(Cursor::new(&done.bytes)).expect("an archive");
            for index in 0..archive.len() {
                let mut part = String::new();
                std::io::Read::read_to_string(
                    &mut archive.by_index(index).expect("a part"),
                    &mut part,
                )
                .expect("text");
                assert!(
                    !part.contains("Weber")
                        && !part.contains("lumen")
                        && !part.contains("thumbnail"),
                    "{part}"
                );
            }
        }
        let done =
            redact(&document(body), &Limits::default(), Mode::Label, found).expect("redacted");
        let mut archive = zip::ZipArchive::new(Cursor::new(&done.bytes)).expect("an archive");
        let mut xml = String::new();
        std::io::Read::read_to_string(
            &mut archive.by_name("word/document.xml").expect("a part"),
            &mut xml,
        )
        .expect("text");
        assert!(xml.contains("<w:rPr><w:b/></w:rPr><w:t>My name is [PERSON]</w:t>"), "{xml}");
    }

    #[test]
    fn bytes_that_are_no_document_are_refused() {
        assert!(redact(b"PK nothing", &Limits::default(), Mode::Mask, found).is_err());
        let bomb = Limits { inflated: 10, ..Limits::default() };
        let refused = redact(&document(""), &bomb, Mode::Mask, found).expect_err("too large");
        assert_eq!(refused.kind(), "too_large");
    }
}
