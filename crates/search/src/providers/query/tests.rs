use proptest::prelude::{prop_assert, proptest};

use super::*;

const LIMIT: QueryLimit = QueryLimit { chars: 10, words: 3 };

#[test]
fn queries_are_cut_between_words() {
    assert_eq!(LIMIT.cut("solar cell"), "solar cell");
    assert_eq!(LIMIT.cut("solar cells"), "solar");
    assert_eq!(LIMIT.cut("solar cell x"), "solar cell");
    assert_eq!(LIMIT.cut("a b c d"), "a b c");
    assert_eq!(LIMIT.cut("a b  c"), "a b  c");
    assert_eq!(LIMIT.cut("ää öö üü ßß"), "ää öö üü");
}

#[test]
fn a_long_word_is_cut_within() {
    assert_eq!(LIMIT.cut("太陽電池の変換効率を上げる方法"), "太陽電池の変換効率を");
    assert_eq!(LIMIT.cut("a 太陽電池の変換効率"), "a 太陽電池の変換効");
}

#[test]
fn sites_come_first() {
    let query = |sites: &[&str]| Query {
        text: "solar".to_owned(),
        exclude: Some("wind".to_owned()),
        sites: sites.iter().map(|site| (*site).to_owned()).collect(),
        ..Query::default()
    };
    assert_eq!(query(&[]).with_operators(), "solar -wind");
    assert_eq!(query(&["a.org"]).with_operators(), "site:a.org solar -wind");
    assert_eq!(
        query(&["a.org", "b.org"]).with_operators(),
        "(site:a.org OR site:b.org) solar -wind"
    );
}

proptest! {
    #[test]
    fn a_cut_query_fits(query in "[a-zä ]{1,40}") {
        let cut = LIMIT.cut(query.trim());
        prop_assert!(cut.chars().count() <= 10 && cut.split_whitespace().count() <= 3, "{cut:?}");
        prop_assert!(query.trim().starts_with(cut));
        prop_assert!(!cut.is_empty() || query.trim().is_empty());
    }
}
