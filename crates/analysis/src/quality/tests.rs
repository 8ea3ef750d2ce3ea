use proptest::prelude::{prop, proptest};

use super::{Check, Quality, Severity, check};
use crate::spelling::Dictionary;

fn english(text: &str) -> Quality {
    check(text, Some("en"), &Check::ALL, Dictionary::english())
}

fn messages(text: &str, of: Check) -> Vec<String> {
    english(text)
        .issues
        .into_iter()
        .filter(|issue| issue.check == of)
        .map(|issue| issue.message)
        .collect()
}

#[test]
fn misspelt_words_get_suggestions() {
    let found = english("The goverment writes reports. Anna Kowalczyk reads them.");
    let issue =
        found.issues.iter().find(|issue| issue.check == Check::Spelling).expect("a finding");
    assert_eq!(&"The goverment"[issue.start..issue.end], "goverment");
    assert!(issue.suggestions.contains(&"government".to_owned()), "{issue:?}");
    assert_eq!(
        messages("The `goverment` variable is at https://goverment.example/x.", Check::Spelling),
        Vec::<String>::new()
    );
}

#[test]
fn easy_text_reads_easier() {
    let easy = english("The cat sat on the mat. The dog ran to the cat. They play all day.");
    let hard = english(
        "Notwithstanding considerable organisational heterogeneity, interdepartmental communication necessitates institutionalised harmonisation procedures.",
    );
    assert!(easy.readability.flesch > Some(90.0), "{:?}", easy.readability);
    assert!(hard.readability.flesch < Some(0.0) && hard.readability.grade > easy.readability.grade);
    assert!(hard.readability.lix > easy.readability.lix);
    let other = check("Кот сидит на окне.", Some("ru"), &Check::ALL, None);
    assert!(other.readability.flesch.is_none() && other.readability.lix.is_some());
}

#[test]
fn each_check_finds_its_faults() {
    let structure = messages("# Title\n\ntext\n\n### Deep\n\ntext\n\n## Empty\n", Check::Structure);
    assert!(structure.iter().any(|message| message.contains("jumps")), "{structure:?}");
    assert!(structure.iter().any(|message| message.contains("`Empty` is empty")), "{structure:?}");
    let links = messages("# One\n\n[a](#two) [b]() [c](#one) http:/broken.com", Check::Links);
    assert_eq!(links.len(), 3, "{links:?}");
    let left = messages(
        "Dear {{name}}, TODO. Lorem ipsum dolor. [insert date] Sign: ______",
        Check::Placeholders,
    );
    assert_eq!(left.len(), 5, "{left:?}");
    let mixed =
        messages("The the colour is a color. On 2024-01-02 and 1/2/2024.", Check::Consistency);
    assert_eq!(mixed.len(), 3, "{mixed:?}");
}

#[test]
fn a_missing_dictionary_leaves_its_part_out() {
    let found = check("Ein Satz.", Some("de"), &Check::ALL, None);
    assert!(found.parts.iter().all(|part| part.check != Check::Spelling));
    assert!(found.score > 0.0);
}

proptest! {
    // Corrections of random words take most of the time.
    #![proptest_config(proptest::test_runner::Config::with_cases(32))]

    #[test]
    fn parts_add_up(text in "[ a-zA-Z.#\n\\[\\]()]{1,400}", checks in prop::sample::subsequence(Check::ALL.to_vec(), 1..=6)) {
        let found = check(&text, Some("en"), &checks, Dictionary::english());
        let total: f64 = found.parts.iter().map(|part| part.contribution).sum();
        assert!((total - found.score).abs() < 0.011, "{total} {}", found.score);
        assert!((0.0..=100.0).contains(&found.score));
        let weights: f64 = found.parts.iter().map(|part| part.weight).sum();
        assert!((weights - 1.0).abs() < 0.001);
        for issue in &found.issues {
            assert!(text.get(issue.start..issue.end).is_some(), "{issue:?}");
            assert!(issue.severity >= Severity::Info);
        }
    }
}

#[test]
fn long_hostile_texts_are_checked() {
    // Each of these took quadratic time: at this length, an hour.
    for unit in ["<a>", "[a](b)", "`a`", "a@", "a/"] {
        let quality = check(&unit.repeat(300_000 / unit.len()), None, &[Check::Structure], None);
        assert_eq!(quality.parts.len(), 1, "{unit}");
    }
}

#[test]
fn correct_text_is_not_reported() {
    let british = "We analyse the colour of the centre and organised the travelling labour.";
    assert_eq!(messages(british, Check::Spelling), Vec::<String>::new());
    assert_eq!(messages("We analise it.", Check::Spelling).len(), 1);
    let leaders =
        "Introduction ........ 3\nTerms ............ 12\n\n__________\nSignature of the tenant\n";
    assert_eq!(messages(leaders, Check::Placeholders), Vec::<String>::new());
    assert_eq!(messages("The rent is ______ euros.", Check::Placeholders).len(), 1);
    let rows = "| one two three four five | six seven eight nine ten |\n".repeat(8);
    assert_eq!(
        messages(&format!("The table:\n\n{rows}"), Check::Readability),
        Vec::<String>::new()
    );
    let code = "let a = b + c\n".repeat(20);
    let fenced = format!("See this:\n\n```\n{code}```\n");
    assert_eq!(messages(&fenced, Check::Readability), Vec::<String>::new());
}
