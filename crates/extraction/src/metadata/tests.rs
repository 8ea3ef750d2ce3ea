use super::{Metadata, iso_date};

#[test]
fn a_date_is_taken_from_the_start() {
    assert_eq!(iso_date("2026-03-15T08:00:00Z").as_deref(), Some("2026-03-15"));
    for wrong in ["", "2026-3-15", "2026-13-01", "2026-00-10", "15.03.2026", "2026-03-1é"] {
        assert_eq!(iso_date(wrong), None, "{wrong}");
    }
}

#[test]
fn values_are_on_one_line_and_not_empty() {
    let meta = Metadata {
        title: Some(" A\n title ".to_owned()),
        author: Some(" \t".to_owned()),
        ..Metadata::default()
    };
    let tidy = meta.tidy();
    assert_eq!((tidy.title.as_deref(), tidy.author), (Some("A title"), None));
}

#[test]
fn values_have_a_limited_length() {
    let long = || Some("é".repeat(5_000));
    let meta = Metadata {
        title: Some(format!("A{}", "é".repeat(5_000))),
        author: long(),
        site: long(),
        published: long(),
        modified: long(),
        created: long(),
        language: long(),
        description: long(),
        canonical: Some(format!("https://example.org/{}", "a".repeat(5_000))),
        doi: long(),
    };
    let tidy = meta.tidy();
    let lengths = [&tidy.title, &tidy.author, &tidy.site, &tidy.description]
        .map(|value| value.as_ref().map(String::len));
    assert_eq!(lengths, [Some(499), Some(2_000), Some(500), Some(2_000)]);
    let Metadata { published, modified, created, language, canonical, doi, .. } = tidy;
    assert_eq!([published, modified, created, language, canonical, doi], [const { None }; 6]);
}
