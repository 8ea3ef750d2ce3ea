//! What a document says about its authors: dropped from every redacted copy.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

static AUTHORS: LazyLock<Regex> = LazyLock::new(|| {
    crate::pii::compiled(r#"(\sw\d*:(?:author|initials|userId|providerId)=)"[^"]*""#)
});
static THUMBNAIL: LazyLock<Regex> = LazyLock::new(|| {
    crate::pii::compiled(
        r#"<Relationship\s[^>]*(?:thumbnail|word/people|/people")[^>]*?(?:/>|>\s*</Relationship>)"#,
    )
});
static PEOPLE_TYPE: LazyLock<Regex> = LazyLock::new(|| {
    crate::pii::compiled(r#"<Override\s[^>]*PartName="/word/people\.xml"[^>]*/>"#)
});

/// Properties without a value.
pub(super) fn blank(name: &str) -> Option<&'static [u8]> {
    match name {
        "docProps/core.xml" => Some(br#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"/>"#),
        "docProps/app.xml" => Some(br#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"/>"#),
        "docProps/custom.xml" => Some(br#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"/>"#),
        _ => None,
    }
}

/// Parts that show a page or name people.
pub(super) fn is_dropped(name: &str) -> bool {
    name.starts_with("docProps/thumbnail") || name == "word/people.xml"
}

/// Relations and types without the parts that are dropped.
pub(super) fn without_dropped_parts(name: &str, xml: &str) -> String {
    let text: Cow<'_, str> = if name.ends_with(".rels") {
        THUMBNAIL.replace_all(xml, "")
    } else if name == "[Content_Types].xml" {
        PEOPLE_TYPE.replace_all(xml, "")
    } else {
        Cow::Borrowed(xml)
    };
    without_authors(&text)
}

/// Names of those who commented and changed.
pub(super) fn without_authors(xml: &str) -> String {
    AUTHORS.replace_all(xml, r#"$1"redacted""#).into_owned()
}
