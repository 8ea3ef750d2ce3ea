//! What a document says about itself.

use serde::{Deserialize, Serialize};

use crate::text::on_one_line;

/// The most bytes of a title or of the name of a site: longer ones are no names, but text that no reader sees.
const NAME: usize = 500;

/// The most bytes of a list of authors, of a description or of an address.
const LONG: usize = 2_000;

/// The most bytes of an identifier, of a language tag or of a date.
const SHORT: usize = 200;

/// What a document says about itself. Every value is on one line and of limited length, and none is empty.
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

    /// Puts every value on one line, drops the empty ones and limits the length of the others.
    pub fn tidy(mut self) -> Self {
        for value in self.fields_mut() {
            *value =
                value.take().map(|value| on_one_line(&value)).filter(|value| !value.is_empty());
        }
        for value in [&mut self.title, &mut self.site].into_iter().flatten() {
            cut(value, NAME);
        }
        for value in [&mut self.author, &mut self.description].into_iter().flatten() {
            cut(value, LONG);
        }
        // A part of these would mean something else.
        self.canonical.take_if(|value| value.len() > LONG);
        let Self { published, modified, created, language, doi, .. } = &mut self;
        for value in [published, modified, created, language, doi] {
            value.take_if(|value| value.len() > SHORT);
        }
        self
    }
}

fn cut(text: &mut String, most: usize) {
    text.truncate(text.floor_char_boundary(most));
    text.truncate(text.trim_end().len());
}

/// The date at the start of a text, as `YYYY-MM-DD`, if it begins with one.
pub fn iso_date(text: &str) -> Option<String> {
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

/// The digital object identifier in a text, without a resolver in front.
pub fn doi(text: &str) -> Option<String> {
    let start = text.find("10.")?;
    let doi = text[start..].split_whitespace().next()?.trim_end_matches(['.', ',', ';']);
    let (registrant, rest) = doi.split_once('/')?;
    let digits = registrant.strip_prefix("10.")?;
    (digits.len() >= 4
        && digits.bytes().all(|c| c.is_ascii_digit() || c == b'.')
        && !rest.is_empty())
    .then(|| doi.to_owned())
}

#[cfg(test)]
mod tests;
