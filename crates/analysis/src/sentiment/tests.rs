use proptest::prelude::proptest;

use super::{knows, measure};

fn valence(text: &str, language: &str) -> f64 {
    measure(text, Some(language)).unwrap().valence
}

#[test]
fn good_and_bad_texts_have_their_sign() {
    for (language, good, bad) in [
        ("en", "I love this amazing coffee!", "The worst service, a horrible day."),
        ("de", "Wir lieben diesen wunderbaren Kaffee!", "Der Service war furchtbar und teuer."),
        ("fr", "J'adore ce café délicieux !", "Un service horrible, quelle déception."),
        ("es", "¡Me encanta este café delicioso!", "Un servicio horrible, qué decepción."),
    ] {
        assert!(knows(language));
        assert!(valence(good, language) > 0.4, "{good}: {}", valence(good, language));
        assert!(valence(bad, language) < -0.4, "{bad}: {}", valence(bad, language));
    }
}

#[test]
fn negations_turn_and_boosters_strengthen() {
    for (language, plain, negated) in [
        ("en", "This is good", "This is not good"),
        ("en", "I like it", "I don't like it"),
        ("de", "Das gefällt mir", "Das gefällt mir nicht"),
        ("de", "Das ist gut", "Das ist nicht gut"),
        ("fr", "C'est bon", "Ce n'est pas bon"),
        ("es", "Es bueno", "No es bueno"),
    ] {
        assert!(valence(plain, language) > 0.0, "{plain}");
        assert!(valence(negated, language) < 0.0, "{negated}");
    }
    assert!(valence("Das ist gut, nicht schlecht", "de") > 0.0);
    assert!(valence("very good", "en") > valence("good", "en"));
    assert!(valence("GREAT offer", "en") > valence("great offer", "en"));
    assert!(valence("slightly good", "en") < valence("good", "en"));
}

#[test]
fn the_words_are_those_of_the_text() {
    let text = "Voilà: a happy 😍 day.";
    let found = measure(text, Some("en")).unwrap();
    let words: Vec<&str> = found.words.iter().map(|word| &text[word.place.clone()]).collect();
    assert_eq!(words, ["happy", "😍"]);
}

#[test]
fn a_language_without_a_list_is_unknown_but_for_emoji() {
    assert_eq!(measure("Кофе прекрасный", Some("ru")), None);
    assert_eq!(measure("hello", None), None);
    assert!(measure("Кофе 😍", Some("ru")).unwrap().valence > 0.0);
    assert_eq!(valence("The table has four legs", "en"), 0.0);
}

proptest! {
    #[test]
    fn any_text_has_a_valence_in_range(text in "(?s).{0,200}", words in "[a-zäé'’ .!😍-]{0,200}") {
        for language in ["en", "de", "fr", "es"] {
            for text in [&text, &words] {
                let found = measure(text, Some(language)).unwrap();
                assert!(found.valence.abs() <= 1.0 && (0.0..=1.0).contains(&found.intensity));
                for word in found.words {
                    assert!(text.get(word.place).is_some());
                }
            }
        }
    }
}
