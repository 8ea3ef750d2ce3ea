//! What a document says about itself.

use serde::{Deserialize, Serialize};

use crate::text::on_one_line;

/// What a document says about itself. Every value is on one line, and none is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its authors, separated by commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The name of the site that published it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// The date of publication, `YYYY-MM-DD`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// The date of the last change, `YYYY-MM-DD`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// The date on which the file was made, `YYYY-MM-DD`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// The language as BCP 47 tag, such as `de-AT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// A short description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The address under which it wants to be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canonical: Option<String>,
    /// The digital object identifier, without a resolver in front.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doi: Option<String>,
}

impl Metadata {
    fn fields_mut(&mut self) -> [&mut Option<String>; 10] {
        let Self {
            title,
            author,
            site,
            published,
            modified,
            created,
            language,
            description,
            canonical,
            doi,
        } = self;
        [title, author, site, published, modified, created, language, description, canonical, doi]
    }

    /// Every value, for callers that clean or shorten them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.fields_mut().into_iter().flatten()
    }

    /// Puts every value on one line and drops the empty ones.
    pub(crate) fn tidy(mut self) -> Self {
        for value in self.fields_mut() {
            *value =
                value.take().map(|value| on_one_line(&value)).filter(|value| !value.is_empty());
        }
        self
    }
}

/// The date at the start of a text, as `YYYY-MM-DD`, if it begins with one.
pub(crate) fn iso_date(text: &str) -> Option<String> {
    let date = text.get(..10)?;
    let fits = date.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    let in_range = |range: std::ops::Range<usize>, most: u32| {
        date.get(range)
            .and_then(|part| part.parse().ok())
            .is_some_and(|it| (1..=most).contains(&it))
    };
    (fits && in_range(5..7, 12) && in_range(8..10, 31)).then(|| date.to_owned())
}

#[cfg(test)]
mod tests {
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
}
