use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::{similarity, support};

#[test]
fn equal_questions_merge() {
    for (a, b) in [
        ("What is the history of urban heat islands?", "history of urban heat islands"),
        (
            "What are the causes of urban heat islands?",
            "What are the main causes of urban heat islands?",
        ),
        (
            "How do urban heat islands affect health?",
            "What effects do urban heat islands have on health?",
        ),
        ("effects of heat on health", "What are the health effects of heat?"),
        ("Is heat caused by pollution?", "Does pollution cause heat?"),
        ("How does New York City plant trees?", "How are trees planted in New York City?"),
        (
            "Welche Folgen hat die Hitze für die Städte?",
            "Welche Folge hat die Hitze für die Stadt?",
        ),
    ] {
        assert!(similarity(a, b) >= 0.85, "{a} / {b}: {}", similarity(a, b));
    }
}

#[test]
fn other_questions_stay_apart() {
    for (a, b) in [
        ("What is the history of urban heat islands?", "What is the future of urban heat islands?"),
        ("Why do cool roofs work?", "Why do cool roofs not work?"),
        ("Why don't cool roofs work?", "Why do cool roofs work?"),
        ("Does air pollution cause urban heat?", "Does urban heat cause air pollution?"),
        ("effects of heat on health", "effects of health on heat"),
        ("How many trees were planted in 2019?", "How many trees were planted in 2020?"),
        ("Where are heat islands?", "What are heat islands?"),
        ("How do trees cool Paris?", "How do trees cool London?"),
        (
            "What are the advantages of planting street trees in dense neighbourhoods of southern European port cities with narrow shaded streets?",
            "What are the disadvantages of planting street trees in dense neighbourhoods of southern European port cities with narrow shaded streets?",
        ),
        ("城市热岛的历史", "城市热岛的未来"),
    ] {
        assert!(similarity(a, b) < 0.85, "{a} / {b}: {}", similarity(a, b));
    }
}

const PASSAGE: &str = "Phoenix began its programme in 2010. It planted 5,200 street trees within four years, \
    and the shaded streets were up to 3.5 degrees cooler in the afternoon. Tucson painted the roofs of 300 schools \
    instead. Green roofs cost more than cool roofs, but they do not reduce the demand for cooling at night.";

#[test]
fn a_passage_supports_what_it_says() {
    for claim in [
        "Green roofs cost more than cool roofs, but they do not reduce the demand for cooling at night.",
        "Phoenix planted 5,200 street trees.",
        "Phoenix planted 5200 trees along its streets.",
        "Shaded streets were 3.5 degrees cooler.",
        "Tucson painted the roofs of three hundred schools [2].",
        "Green roofs do not lower cooling demand at night.",
    ] {
        assert!(support(claim, PASSAGE) >= 0.6, "{claim}: {}", support(claim, PASSAGE));
    }
}

#[test]
fn a_passage_does_not_support_what_was_changed() {
    for claim in [
        "Phoenix planted 5,400 street trees within four years.",
        "Green roofs reduce the demand for cooling at night.",
        "The shaded streets were up to 3.5 degrees warmer in the afternoon.",
        "Phoenix never planted street trees.",
        "The moon has no atmosphere.",
    ] {
        assert!(support(claim, PASSAGE) < 0.5, "{claim}: {}", support(claim, PASSAGE));
    }
    for (said, changed) in [
        ("Green roofs cost more than cool roofs.", "Cool roofs cost more than green roofs."),
        ("Tucson painted the roofs of 300 schools.", "Phoenix painted the roofs of 300 schools."),
    ] {
        let (said, changed) = (support(said, PASSAGE), support(changed, PASSAGE));
        assert!(said > 0.9 && changed < 0.75, "{said} {changed}");
    }
}

#[test]
fn nothing_supports_nothing() {
    assert_eq!(support("", PASSAGE), 0.0);
    assert_eq!(support("Phoenix", ""), 0.0);
    assert_eq!(similarity("", ""), 0.0);
    assert_eq!(similarity("what is it?", "What is it?"), 1.0);
}

#[test]
fn long_texts_take_linear_time() {
    let passage = "urban heat. ".repeat(90_000);
    let claim = "urban heat islands and 12 other words that nothing else has ".repeat(1_000);
    let started = std::time::Instant::now();
    let _ = (support(&claim, &passage), support(&passage, &claim), similarity(&claim, &passage));
    let _ = support(&"1,000".repeat(10_000), &"x".repeat(1_000_000));
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn shares_are_between_0_and_1(a in any::<String>(), b in any::<String>()) {
        for share in [similarity(&a, &b), support(&a, &b)] {
            prop_assert!((0.0..=1.0).contains(&share));
        }
        prop_assert_eq!(similarity(&a, &b), similarity(&b, &a));
    }

    #[test]
    fn a_text_supports_its_own_sentence(words in proptest::collection::vec("[a-z]{2,9}|[0-9]{1,4}|[A-Z][a-z]{3,6}|not", 2..12)) {
        let sentence = format!("{}.", words.join(" "));
        let passage = format!("The start is here. {sentence} And that was the end.");
        let share = support(&sentence, &passage);
        prop_assert!(share > 0.99 || words.iter().all(|word| word.len() < 4), "{}", share);
    }
}
