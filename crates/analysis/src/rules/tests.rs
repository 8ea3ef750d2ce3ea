use super::{Finding, Pack, Status, judge, shipped, source};

fn pack(rules: &str) -> Pack {
    Pack::read(&format!("name: t\nversion: 1\nrules:\n{rules}")).expect("a pack")
}

fn status(rules: &str, text: &str) -> Status {
    judge(&pack(rules), text)[0].status
}

fn rule(body: &str) -> String {
    format!("  - {{id: r, title: T, message: M, {body}}}\n")
}

#[test]
fn each_condition_decides() {
    let cases = [
        ("require: {regex: 'a\\d'}", "a1", Status::Satisfied),
        ("forbid: {regex: 'a\\d'}", "a1", Status::Violated),
        ("require: {phrase: [one two, three]}", "ONE\n two.", Status::Satisfied),
        ("require: {phrase: art}", "a cart", Status::Violated),
        ("require: {section: Payment}", "# Payment terms\n\nsoon", Status::Satisfied),
        ("require: {section: Payment}", "# Other\n\npayment", Status::Violated),
        ("require: {section: Payment}", "we speak of payment.", Status::Undecided),
        ("forbid: {pii: EMAIL_ADDRESS}", "a@lumen.com", Status::Violated),
        ("require: {order: [alpha, beta]}", "alpha then beta", Status::Satisfied),
        ("require: {order: [alpha, beta]}", "beta then alpha", Status::Violated),
        ("require: {order: [alpha, gamma]}", "alpha", Status::Undecided),
        ("require: {max_words: 2}", "one two three", Status::Violated),
        ("require: {min_words: 3}", "one two three", Status::Satisfied),
        (
            "require: {max_words: 3, per: sentence}",
            "One two. Three four five six.",
            Status::Violated,
        ),
        ("require: {date: any}", "on 2024-05-06", Status::Satisfied),
        ("require: {date: effective}", "effective 2024-05-06", Status::Satisfied),
        ("require: {date: effective}", "2024-05-06 is effective", Status::Violated),
        ("when: {phrase: goods}, require: {phrase: price}", "services", Status::NotApplicable),
        ("when: {phrase: goods}, require: {phrase: price}", "goods", Status::Violated),
    ];
    for (body, text, expected) in cases {
        assert_eq!(status(&rule(body), text), expected, "{body} on {text:?}");
    }
}

#[test]
fn a_pattern_that_matches_nothing_everywhere_is_given_up() {
    // Each search reads the whole text and finds nothing of it: one for each place would take hours.
    let everywhere = rule("forbid: {regex: '(?s)(?:.*b)?'}");
    assert_eq!(status(&everywhere, &"a".repeat(300_000)), Status::Undecided);
    assert_eq!(status(&everywhere, "aab"), Status::Violated);
    assert_eq!(status(&everywhere, "aaa"), Status::Satisfied);
    let some = rule("require: {regex: 'a?'}");
    assert_eq!(status(&some, &format!("a{}", "b".repeat(1_000))), Status::Satisfied);
    let parts = vec!["part"; 201].join(", ");
    let long = rule(&format!("require: {{order: [{parts}]}}"));
    assert!(Pack::read(&format!("name: t\nversion: 1\nrules:\n{long}")).is_err());
}

#[test]
fn texts_of_another_language_are_undecided() {
    let pack = Pack::read("name: t\nversion: 1\nlanguage: en\nrules:\n  - {id: r, title: T, message: M, require: {phrase: price}}\n").expect("a pack");
    let german = "Der Preis ist nicht in der Rechnung, und das ist auch nicht die Frage, die wir mit Ihnen haben.";
    assert_eq!(judge(&pack, german)[0].status, Status::Undecided);
}

#[test]
fn a_broken_pack_names_line_and_rule() {
    let broken = |text: &str| Pack::read(text).expect_err("a broken pack");
    let error = broken(
        "name: t\nversion: 1\nrules:\n  - id: a\n    title: T\n    message: M\n    require: {regex: '('}\n",
    );
    assert_eq!((error.rule.as_deref(), error.line), (Some("a"), Some(4)), "{error:?}");
    let error = broken(
        "name: t\nversion: 1\nrules:\n  - id: a\n    title: T\n    message: M\n    requires: {regex: x}\n",
    );
    assert_eq!((error.rule.as_deref(), error.line), (Some("a"), Some(7)), "{error:?}");
    let error = broken("name: t\nversion: 1\nrules:\n  - {id: a, title: T, message: M}\n");
    assert!(error.message.contains("require"), "{error:?}");
    let error = broken(
        "name: t\nversion: 1\nrules:\n  - {id: a, title: T, message: M, forbid: {pii: NAME}}\n",
    );
    assert!(error.message.contains("EMAIL_ADDRESS"), "{error:?}");
    let error = broken("name: t\nversion: 1\nrules: []\n");
    assert!(error.message.contains("rules"), "{error:?}");
    let huge = format!(
        "name: t\nversion: 1\nrules:\n  - {{id: a, title: T, message: M, forbid: {{regex: '{}'}}}}\n",
        "(?:\\w{50}){50}"
    );
    assert!(broken(&huge).message.contains("regular expression"));
    assert!(Pack::read(&"x".repeat(super::MAX_PACK_BYTES + 1)).is_err());
}

fn violated(findings: &[Finding]) -> Vec<&str> {
    findings
        .iter()
        .filter(|finding| finding.status == Status::Violated)
        .map(|finding| finding.rule.as_str())
        .collect()
}

#[test]
fn shipped_packs_judge_good_and_bad_texts() {
    assert_eq!(shipped().count(), 3);
    for name in shipped() {
        let pack = Pack::read(source(name).expect("a source")).expect("a pack");
        assert_eq!(pack.name, name);
    }
    let privacy = Pack::read(source("privacy-notice").expect("a source")).expect("a pack");
    let good = "# Privacy notice\n\nLast updated: 2024-05-06\n\nThe controller is Lumen Ltd, privacy@lumen.com. We process your data for \
        these purposes on the legal basis of your consent, which you may withdraw at any time. Recipients are our service providers. \
        We keep data for one year. You have the right to access, erasure and portability, and you may lodge a complaint with a \
        supervisory authority. There is no automated decision-making.";
    assert_eq!(violated(&judge(&privacy, good)), Vec::<&str>::new());
    let bad = judge(&privacy, "We like your data and the things that you do with it on this page.");
    assert!(violated(&bad).contains(&"controller") && violated(&bad).contains(&"complaint"));
    assert!(bad.iter().any(|finding| finding.status == Status::NotApplicable));
    let plain = Pack::read(source("plain-language").expect("a source")).expect("a pack");
    let findings = judge(
        &plain,
        "Notwithstanding the aforementioned, the form shall be signed by the applicant prior to use.",
    );
    assert_eq!(
        violated(&findings),
        ["no-legalese", "simple-words", "active-voice", "no-shall"].as_slice()
    );
}

#[test]
fn shipped_packs_need_clauses_and_not_words() {
    let read = |name: &str| Pack::read(source(name).expect("a source")).expect("a pack");
    let notice = "We collect your name and address in order to perform our contract with you. You have the right to access your data \
        and to have it rectified or erased.";
    let missing = judge(&read("privacy-notice"), notice);
    assert!(!violated(&missing).iter().any(|rule| ["purposes", "erasure"].contains(rule)));
    let clauses = ["parties", "payment", "governing-law"];
    let license = "You may charge any price or no price for each copy, and offer support for a fee. The relationship between the \
        covered work and the license is governed by this License. It does not change the laws of that jurisdiction.";
    let found = judge(&read("contract-basics"), license);
    assert_eq!(violated(&found).iter().filter(|rule| clauses.contains(rule)).count(), 3);
    let contract = "This agreement is made between Lumen Ltd and Hollis GmbH. The customer shall pay the fees within 30 days for the \
        services. It is governed by the laws of England.";
    let found = judge(&read("contract-basics"), contract);
    assert_eq!(violated(&found).iter().filter(|rule| clauses.contains(rule)).count(), 0);
}
