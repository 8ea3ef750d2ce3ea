use proptest::prelude::{any, proptest};

use super::{fold, spoken, stem, words};

#[test]
fn names_fall_into_their_parts() {
    for (name, parts) in [
        ("getUserID", &["get", "user", "id", "getuserid"][..]),
        ("HTTPServer", &["http", "server", "httpserver"]),
        ("snake_case.dotted-kebab", &["snake", "case", "dotted", "kebab"]),
        ("mp3ToWav", &["mp", "3", "to", "wav", "mp3towav"]),
        ("github:create_issue", &["github", "create", "issue"]),
        ("__init__", &["init"]),
    ] {
        assert_eq!(words(name), parts, "{name}");
    }
}

#[test]
fn accents_and_forms_are_folded() {
    assert_eq!(
        words("Café ÉCOLE straße ﬁne e\u{301}te\u{301}"),
        ["cafe", "ecole", "straße", "fine", "ete"]
    );
    assert_eq!(fold("İstanbul"), "istanbul");
    assert_eq!(fold("ＡＢＣ"), "abc");
}

#[test]
fn scripts_without_spaces_become_pairs() {
    assert_eq!(words("天気予報"), ["天気", "気予", "予報"]);
    assert_eq!(words("天"), ["天"]);
    assert_eq!(words("날씨 예보"), ["날씨", "예보"]);
    assert_eq!(words("東京weather"), ["東京", "weather"]);
}

#[test]
fn other_scripts_stay_words() {
    assert_eq!(words("Погода в Москве"), ["погода", "в", "москве"]);
    assert_eq!(words("हिन्दी").len(), 1);
}

#[test]
fn model_words_keep_their_case_and_lose_stop_words() {
    assert_eq!(spoken("What is the weather in Paris?"), ["weather", "Paris"]);
    assert_eq!(spoken("getUserInfo"), ["get", "User", "Info"]);
}

#[test]
fn forms_of_a_word_have_one_stem() {
    for forms in [
        &["weather", "weathers"][..],
        &["query", "queries"],
        &["plan", "plans", "planned"],
        &["convert", "converts", "converting", "converted", "converter"],
        &["translate", "translates", "translating", "translation", "translator"],
        &["calculate", "calculation", "calculator", "calculating"],
        &["box", "boxes"],
        &["address", "addresses"],
        &["summarize", "summarizing"],
        &["payment", "payments"],
    ] {
        let first = stem(forms[0]);
        for form in forms {
            assert_eq!(stem(form), first, "{form}");
        }
    }
    assert_ne!(stem("news"), stem("newton"));
    assert_ne!(stem("order"), stem("ordinary"));
}

#[test]
fn short_words_numbers_and_other_scripts_are_their_own_stems() {
    for word in ["bus", "is", "2024", "погоды", "天気", "mp3s", ""] {
        assert_eq!(stem(word), word);
    }
}

proptest! {
    #[test]
    fn any_text_can_be_cut(text in any::<String>()) {
        for word in words(&text) {
            assert!(!word.is_empty());
            assert_eq!(word, fold(&word), "folding is done");
            stem(&word);
        }
        for piece in spoken(&text) {
            assert!(text.contains(piece));
        }
    }

    #[test]
    fn a_stem_is_never_empty_nor_longer(word in "[a-z]{1,20}") {
        let stem = stem(&word);
        assert!(!stem.is_empty() && stem.len() <= word.len());
    }
}
