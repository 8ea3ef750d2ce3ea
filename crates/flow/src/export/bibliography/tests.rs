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
