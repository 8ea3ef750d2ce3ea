//! The text of a paragraph with its links.

use extraction::markdown;

/// Text of one paragraph, in pieces with and without a link.
#[derive(Debug, Default)]
pub(super) struct Inline {
    pieces: Vec<(String, Option<String>)>,
}

impl Inline {
    /// Appends text; `link` is the address to which it leads.
    pub(super) fn push(&mut self, text: &str, link: Option<&str>) {
        match self.pieces.last_mut() {
            Some((last, target)) if target.as_deref() == link => last.push_str(text),
            _ => self.pieces.push((text.to_owned(), link.map(str::to_owned))),
        }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.pieces.iter().all(|(text, _)| text.trim().is_empty())
    }

    /// The text alone.
    pub(super) fn plain(&self) -> String {
        self.pieces.iter().map(|(text, _)| text.as_str()).collect()
    }

    /// Escaped text with links.
    pub(super) fn markdown(&self) -> String {
        let mut out = String::new();
        for (text, link) in &self.pieces {
            let escaped = markdown::escape(text);
            match link {
                Some(target) if !text.trim().is_empty() => {
                    // Spaces at its ends are outside of the link.
                    let start = escaped.len() - escaped.trim_start().len();
                    let end = escaped.trim_end().len();
                    out.push_str(&escaped[..start]);
                    markdown::append(&mut out, &markdown::link(&escaped[start..end], target));
                    out.push_str(&escaped[end..]);
                }
                _ => out.push_str(&escaped),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::Inline;

    #[test]
    fn pieces_are_joined_and_links_kept() {
        let mut inline = Inline::default();
        inline.push("See *", None);
        inline.push("this", None);
        inline.push(" the site ", Some("https://example.com/a b"));
        inline.push("now", None);
        assert_eq!(inline.plain(), "See *this the site now");
        assert_eq!(inline.markdown(), "See \\*this [the site](https://example.com/a%20b) now");
        assert!(!inline.is_blank() && Inline::default().is_blank());
        let mut inline = Inline::default();
        inline.push("Now!", None);
        inline.push("here", Some("https://example.com"));
        assert_eq!(inline.markdown(), "Now\\![here](https://example.com)");
    }
}
