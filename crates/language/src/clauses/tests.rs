use proptest::prelude::{any, proptest};

use super::clauses;

#[test]
fn requests_are_split_into_clauses() {
    let trimmed =
        |text| clauses(text).into_iter().map(|clause: &str| clause.trim()).collect::<Vec<_>>();
    assert_eq!(trimmed("What is the weather in Rome?"), ["What is the weather in Rome?"]);
    assert_eq!(
        trimmed("Book a flight. Then rent a car, and tell me the weather."),
        ["Book a flight.", "Then rent a car,", "and tell me the weather."]
    );
    assert_eq!(
        trimmed("find a song, translate it and send the text"),
        ["find a song,", "translate it", "and send the text"]
    );
    assert_eq!(trimmed("get the file and then send it"), ["get the file", "and then send it"]);
    assert_eq!(trimmed("read it, after that delete it"), ["read it,", "after that delete it"]);
    assert_eq!(trimmed("one\ntwo\n\n- three"), ["one", "two", "- three"]);
    assert_eq!(trimmed("天気を教えて。写真を送って"), ["天気を教えて。", "写真を送って"]);
    assert_eq!(trimmed("He said \"stop.\" Now go"), ["He said \"stop.\"", "Now go"]);
}

#[test]
fn numbers_names_and_pairs_are_not_split() {
    for text in
        ["convert 3.5 miles", "open api.example.com now", "bread and butter recipes", "", " ?! "]
    {
        assert!(clauses(text).len() <= 1, "{text}: {:?}", clauses(text));
    }
}

proptest! {
    #[test]
    fn no_word_is_lost(text in any::<String>()) {
        let alphanumerics = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        assert_eq!(clauses(&text).into_iter().map(alphanumerics).collect::<String>(), alphanumerics(&text));
    }
}
