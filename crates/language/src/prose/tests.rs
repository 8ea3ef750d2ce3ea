use proptest::prelude::{any, proptest};

use super::{Language, Prose, sentences};

fn cut(text: &str) -> Vec<&str> {
    sentences(text).map(|sentence| sentence.text).collect()
}

#[test]
fn sentences_end_where_readers_think() {
    assert_eq!(cut("One. Two! Three? Four"), ["One.", "Two!", "Three?", "Four"]);
    assert_eq!(
        cut("Dr. Smith paid 3.50 dollars, e.g. for U.S. stamps. He left."),
        ["Dr. Smith paid 3.50 dollars, e.g. for U.S. stamps.", "He left."]
    );
    assert_eq!(
        cut("Sie endet zum 31. Januar 2027. Der 2. Absatz gilt. I am 30. He is 28."),
        ["Sie endet zum 31. Januar 2027.", "Der 2. Absatz gilt.", "I am 30.", "He is 28."]
    );
    assert_eq!(cut("He said \"Stop.\" Then he ran."), ["He said \"Stop.\"", "Then he ran."]);
    assert_eq!(cut("今天。明天！后天"), ["今天。", "明天！", "后天"]);
    assert_eq!(
        cut("# Title\nText goes\nover lines.\n\n- one\n- two\n"),
        ["# Title", "Text goes\nover lines.", "- one", "- two"]
    );
    assert_eq!(cut(""), Vec::<&str>::new());
    assert_eq!(cut(" \n \n"), Vec::<&str>::new());
    let headings: Vec<_> =
        sentences("Heading\n\nIt ends.").map(|sentence| sentence.whole).collect();
    assert_eq!(headings, [false, true]);
}

#[test]
fn languages_are_recognized() {
    for (text, code) in [
        ("The cat sat on the mat and looked at the dog.", "en"),
        ("Die Katze saß auf der Matte und sah den Hund an.", "de"),
        ("Le chat est assis sur le tapis et il regarde le chien.", "fr"),
        ("El gato se sentó en la alfombra y miró al perro.", "es"),
        ("Il gatto si è seduto sul tappeto e guarda il cane della signora.", "it"),
        ("De kat zat op de mat en keek naar de hond.", "nl"),
        ("Кошка сидела на коврике и смотрела на собаку, которая была в саду.", "ru"),
    ] {
        assert_eq!(Prose::read(text).language.map(Language::code), Some(code), "{text}");
    }
    assert_eq!(Prose::read("xyzzy plugh 42").language, None);
    assert!(Language::named("en").unwrap().has("the") && Language::named("tlh").is_none());
}

#[test]
fn short_english_texts_are_not_taken_for_another_language() {
    let detect = |text: &str| Language::detect(text).map(Language::code);
    for text in ["Text one.", "List of users", "Licence terms of software packages."] {
        assert_eq!(detect(text), Some("en"), "{text}");
        assert_eq!(Prose::read(text).language, Some(Language::ENGLISH), "{text}");
    }
    // One word of another language may be a name or a quotation.
    assert_eq!(detect("Vincent van Gogh"), None);
    assert_eq!(detect("Rio de Janeiro, de facto"), None);
    assert_eq!(detect("Bäume in der Stadt und im Park"), Some("de"));
    assert_eq!(detect("Ночь в городе"), Some("ru"), "another script needs one word");
}

#[test]
fn terms_are_words_as_people_see_them() {
    let words = |text| -> Vec<String> {
        Prose::read(text).content().map(|term| term.folded.clone()).collect()
    };
    assert_eq!(
        words("The state-of-the-art GPU costs 1,299.50 euros."),
        ["state-of-the-art", "gpu", "costs", "euros"]
    );
    assert_eq!(
        words("L'école d'hiver n'est pas fermée à Zürich."),
        ["ecole", "hiver", "fermee", "zurich"]
    );
    assert_eq!(words("don't the company's"), ["company"]);
}

proptest! {
    #[test]
    fn any_text_can_be_read(text in any::<String>()) {
        let prose = Prose::read(&text);
        for term in &prose.terms {
            assert!(text.contains(term.text) && term.sentence < prose.sentences.len());
        }
    }
}
