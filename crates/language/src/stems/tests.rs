use proptest::prelude::{any, prop_assert, proptest};

use super::*;

fn of(text: &str, code: &str) -> Vec<String> {
    terms(text, Language::named(code).expect("a known language"))
}

#[test]
fn forms_of_a_word_have_one_stem() {
    for (code, a, b) in [
        ("en", "The cities' cooling measures", "a city cools by measuring"),
        ("de", "Die Häuser der Städte", "das Haus einer Stadt"),
        ("fr", "les villes chaudes", "une ville chaude"),
        ("es", "los libros verdes", "un libro verde"),
        ("ru", "городские деревья", "городское дерево"),
        ("pl", "miasto", "Miasto"),
    ] {
        assert_eq!(of(a, code)[..1], of(b, code)[..1], "{code}: {a} / {b}");
    }
    assert_eq!(of("The cities' cooling", "en"), ["citi", "cool"]);
}

#[test]
fn scripts_without_spaces_become_pairs() {
    assert_eq!(of("城市热岛", "en"), ["城市", "市热", "热岛"]);
    assert_eq!(of("CO2と熱", "en"), ["co2", "と熱"]);
    assert_eq!(of("热", "en"), ["热"]);
}

#[test]
fn a_text_without_a_known_language_is_read_as_english() {
    assert_eq!(language_of("xyz").code(), "en");
    assert_eq!(language_of("Die Stadt ist im Sommer wärmer als das Land.").code(), "de");
}

#[test]
fn a_query_finds_the_other_form_of_its_word_in_a_short_text() {
    let text = "Licence terms of software packages.";
    let query = terms("package", language_of("package"));
    assert!(terms(text, language_of(text)).contains(&query[0]), "{query:?}");
}

proptest! {
    #[test]
    fn terms_are_short_and_plain(text in any::<String>(), at in 0usize..12) {
        let code = ["en", "de", "fr", "es", "it", "pt", "nl", "sv", "pl", "ru", "tr", "en"][at];
        for term in of(&text, code) {
            prop_assert!(!term.is_empty() && term.len() <= MAX_TERM_BYTES);
            prop_assert!(term.chars().all(char::is_alphanumeric), "{term:?}");
        }
    }

    #[test]
    fn long_runs_are_cut(run in "[a-zäé]{60,400}") {
        prop_assert!(of(&run, "de").iter().all(|term| term.len() <= MAX_TERM_BYTES));
    }
}
