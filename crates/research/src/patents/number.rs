//! Publication numbers of patents.

use search::dates;

/// A number without its kind code: `US` and `10000000`. Some prefixes are longer, as of `USRE45678E1` and `JPH07123456A`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number<'a> {
    /// The office, and for some kinds a series or era.
    pub(super) prefix: &'a str,
    pub(super) digits: &'a str,
}

impl<'a> Number<'a> {
    /// Reads a number as Google Patents writes it in addresses.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let number = Self::split(text)?;
        let fits =
            (2..=4).contains(&number.prefix.len()) && (4..=13).contains(&number.digits.len());
        fits.then_some(number)
    }

    /// Capitals that may be missing, digits, and a kind code that may be missing.
    fn split(text: &'a str) -> Option<Self> {
        let (prefix, rest) = text.split_at(text.find(|c: char| c.is_ascii_digit())?);
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, kind) = rest.split_at(end);
        let fits = prefix.bytes().all(|byte| byte.is_ascii_uppercase())
            && kind.len() <= 2
            && kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
        fits.then_some(Self { prefix, digits })
    }

    /// The start of the year of publication, with which numbers of US applications and of the WIPO begin.
    pub(super) fn published(self) -> Option<u64> {
        let has_year = matches!((self.prefix, self.digits.len()), ("US", 11) | ("WO", 10));
        has_year.then(|| dates::parse(&self.digits[..4], 0)).flatten()
    }
}

/// The number that a caller searches for, if the text is one, without spaces and signs: `US 10,000,000 B2`. Texts with other
/// prefixes may be anything, such as `ISO 9001`.
pub(super) fn number_in(text: &str) -> Option<String> {
    let compact: String = text.chars().filter(|c| !" ,/-.".contains(*c)).collect();
    let compact = compact.to_ascii_uppercase();
    let number = Number::split(&compact)?;
    let fits = matches!(number.prefix.len(), 0 | 2) && (6..=13).contains(&number.digits.len());
    fits.then(|| compact.clone())
}

#[cfg(test)]
mod tests;
