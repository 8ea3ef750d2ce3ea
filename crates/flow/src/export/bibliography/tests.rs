use markup::Reference;
use proptest::prelude::{any, prop, proptest};

use super::{to_bibtex, to_ris};

fn reference() -> Reference {
    Reference {
        authors: vec!["Oke, T. R.".to_owned(), "World Bank".to_owned()],
        year: Some("1982".to_owned()),
        title: Some("The energetic basis of the urban heat island: 50 % & more".to_owned()),
        container: Some("Quarterly Journal".to_owned()),
        doi: Some("10.1002/qj.49710845502".to_owned()),
        ..Reference::default()
    }
}

#[test]
fn bibtex_has_escaped_fields_and_stable_keys() {
    let text = to_bibtex(&[reference(), reference()]);
    assert!(
        text.starts_with("@article{oke1982energetic,\n  author = {Oke, T. R. and {World Bank}},\n"),
        "{text}"
    );
    assert!(
        text.contains("title = {{The energetic basis of the urban heat island: 50 \\% \\& more}},"),
        "{text}"
    );
    assert!(text.contains("@article{oke1982energetic-2,"), "{text}");
    assert!(text.contains("doi = {10.1002/qj.49710845502},"), "{text}");
}

#[test]
fn only_web_addresses_are_exported() {
    let with = |url: &str| Reference { url: Some(url.to_owned()), ..Reference::default() };
    for url in
        ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "notes/a.md", "https://"]
    {
        let (bibtex, ris) = (to_bibtex(&[with(url)]), to_ris(&[with(url)]));
        assert!(!bibtex.contains("url =") && !ris.contains("UR  -"), "{bibtex}{ris}");
    }
    let url = "HTTPS://example.com/a";
    assert!(to_bibtex(&[with(url)]).contains("url = {HTTPS://example.com/a}"));
    assert!(to_ris(&[with(url)]).contains("UR  - HTTPS://example.com/a\r\n"));
}

#[test]
fn every_key_begins_with_a_letter() {
    let reference = |author: &str, title: &str| Reference {
        authors: vec![author.to_owned()],
        year: Some("2019".to_owned()),
        title: Some(title.to_owned()),
        ..Reference::default()
    };
    let references = [
        reference("王, 伟", "城市热岛"),
        reference("Иванов, И.", "Ночь"),
        reference("王, 伟", "Urban heat"),
        reference("3M", "Roof"),
    ];
    let text = to_bibtex(&references);
    let keys: Vec<_> =
        text.lines().filter_map(|line| line.strip_prefix("@misc{")?.strip_suffix(',')).collect();
    assert_eq!(keys, ["ref2019", "ref2019-2", "ref2019urban", "ref3m2019roof"]);
}

#[test]
fn an_article_of_a_journal_needs_no_doi() {
    let reference = |container: &str, text: &str| Reference {
        container: Some(container.to_owned()),
        url: Some("https://example.com/a".to_owned()),
        text: text.to_owned(),
        ..Reference::default()
    };
    for (container, text) in [
        ("Quarterly Journal of Climate", ""),
        (
            "Building and Environment",
            "Doe, J. (2020). Roofs. *Building and Environment*, *12*(3), 45–67.",
        ),
        ("Energy", "Doe, J. (2020). Roofs. *Energy*, 12, 45-67. https://example.com/a"),
        ("Nature", "Doe, J. Roofs. Nature, vol. 12, pp. 4-9, 2020."),
    ] {
        let bibtex = to_bibtex(&[reference(container, text)]);
        assert!(bibtex.starts_with("@article{"), "{bibtex}");
        assert!(bibtex.contains(&format!("journal = {{{container}}}")), "{bibtex}");
        assert!(to_ris(&[reference(container, text)]).starts_with("TY  - JOUR"));
    }
    for text in ["", "Doe, J. Roofs. City of Vienna, 2020.", "Roofs. City of Vienna. 2020-05-01."] {
        let bibtex = to_bibtex(&[reference("City of Vienna", text)]);
        assert!(bibtex.starts_with("@misc{"), "{bibtex}");
    }
}

#[test]
fn ris_has_one_record_for_each_reference() {
    let text = to_ris(&[reference()]);
    let lines: Vec<_> = text.split("\r\n").collect();
    assert_eq!(lines[0], "TY  - JOUR");
    assert_eq!(lines[1], "ID  - oke1982energetic");
    assert!(lines.contains(&"AU  - Oke, T. R.") && lines.contains(&"PY  - 1982"), "{text}");
    assert_eq!(lines[lines.len() - 2], "ER  - ");
}

proptest! {
    #[test]
    fn no_text_escapes_its_field(texts in prop::collection::vec(any::<String>(), 6)) {
        let reference = Reference {
            authors: vec![texts[0].clone()],
            year: Some(texts[1].clone()),
            title: Some(texts[2].clone()),
            container: Some(texts[3].clone()),
            doi: Some(texts[4].clone()),
            url: Some(texts[5].clone()),
            ..Reference::default()
        };
        let bibtex = to_bibtex(std::slice::from_ref(&reference));
        let mut depth = 0_i64;
        for c in bibtex.chars() {
            depth += i64::from(c == '{') - i64::from(c == '}');
            assert!(depth >= 0, "{bibtex}");
        }
        assert_eq!(depth, 0, "{bibtex}");
        let ris = to_ris(&[reference]);
        assert!(ris.split_terminator("\r\n").all(|line| line.get(2..6) == Some("  - ")), "{ris:?}");
    }
}
