use super::template::UriTemplate;

fn values(template: &str, uri: &str) -> Option<Vec<String>> {
    UriTemplate::parse(template)
        .expect("a sound template")
        .matches(uri)
        .map(|found| found.into_values().collect())
}

#[test]
fn a_variable_is_one_segment() {
    assert_eq!(
        values("test://template/{id}/data", "test://template/123/data"),
        Some(vec!["123".into()])
    );
    assert_eq!(
        values("a://{x}/{y}.txt", "a://one/two.txt"),
        Some(vec!["one".into(), "two".into()])
    );
    assert_eq!(values("a://{x}", "a://one"), Some(vec!["one".into()]));
    for other in [
        "test://template//data",
        "test://template/1/2/data",
        "test://template/1/data/more",
        "test://other/1/data",
    ] {
        assert_eq!(values("test://template/{id}/data", other), None, "{other}");
    }
    assert_eq!(values("a://{x}", "a://one/two"), None);
}

#[test]
fn templates_that_cannot_be_matched_are_refused() {
    for broken in [
        "plain://no/variable",
        "a://{x",
        "a://x}",
        "a://{}",
        "a://{+x}",
        "a://{x}/{x}",
        "a://{x}{y}",
        "a://{?q}",
    ] {
        assert!(UriTemplate::parse(broken).is_none(), "{broken}");
    }
}
