use documents::Metadata;
use url::Url;

use super::*;
use crate::tools::ContentType;

/// The shell of a page whose text is made by scripts.
fn shell() -> RawPage {
    RawPage {
        url: Url::parse("https://example.com/").unwrap(),
        content_type: ContentType::Html,
        text: "Please enable JavaScript.".to_owned(),
        meta: Metadata::default(),
        page_count: None,
        file_size: None,
        hidden_text: String::new(),
        incomplete: false,
        passing: false,
        warnings: Vec::new(),
        validators: None,
    }
}

#[test]
fn the_shell_of_a_page_is_marked_when_the_browser_fails() {
    type Failing = fn(&mut Tried);
    let cases: [(Failing, bool, &str); 4] = [
        (|tried| tried.timed_out(4), true, "the browser failed (timed out)"),
        (|tried| tried.note(4, "Chromium crashed"), false, "the browser failed (Chromium crashed)"),
        (|tried| tried.skip_browser("it is off"), false, "need a browser"),
        (|tried| tried.timed_out(3), true, "the last request failed (timed out)"),
    ];
    for (fail, incomplete, why) in cases {
        let mut tried = Tried::default();
        tried.timed_out(1);
        tried.keep(2, "only 25 characters of text", shell());
        fail(&mut tried);
        let found = tried.conclude().unwrap();
        assert_eq!((found.passing, found.incomplete), (true, incomplete), "{why}");
        let [warning] = &found.warnings[..] else { panic!("{:?}", found.warnings) };
        assert!(warning.starts_with("This may not be the whole page: "), "{warning}");
        assert!(warning.contains(why), "{warning}");
    }
}
