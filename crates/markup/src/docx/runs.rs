//! Inline text as runs.

use crate::inline::{Style, Token, end_of_label, parse};
use crate::url::{is_safe_url, picture_data};

use super::content::Content;
use super::styles::Role;
use super::xml::{escape, text_elements};

/// How a text looks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    pub(super) bold: bool,
    pub(super) italic: bool,
    pub(super) link: bool,
    /// Smaller, as in tables.
    pub(super) small: bool,
}

impl Content<'_> {
    /// Writes inline Markdown.
    pub(super) fn inline(&mut self, text: &str, base: Look) {
        let (mut bold, mut italic, mut link) = (0_usize, 0_usize, None);
        for token in parse(text) {
            let look = Look {
                bold: base.bold || bold > 0,
                italic: base.italic || italic > 0,
                link: link == Some(true),
                ..base
            };
            match token {
                Token::Text(text) => self.text(&text, look),
                Token::Code(code) => self.run(&text_elements(&code), look, Some(Role::CodeSpan)),
                Token::Break => self.out.push_str("<w:r><w:br/></w:r>"),
                Token::Begin(Style::Strong) => bold += 1,
                Token::End(Style::Strong) => bold = bold.saturating_sub(1),
                Token::Begin(Style::Emphasis) => italic += 1,
                Token::End(Style::Emphasis) => italic = italic.saturating_sub(1),
                Token::BeginLink(url) => {
                    let safe = is_safe_url(&url);
                    if safe {
                        let id = self.relations.id("hyperlink", &url, true);
                        self.out.push_str(&format!("<w:hyperlink r:id=\"{id}\" w:history=\"1\">"));
                    }
                    link = Some(safe);
                }
                Token::EndLink => {
                    if link.take() == Some(true) {
                        self.out.push_str("</w:hyperlink>");
                    }
                }
                Token::Image { url, alt } => self.inline_picture(&url, &alt, look),
            }
        }
        if link == Some(true) {
            self.out.push_str("</w:hyperlink>");
        }
    }

    /// Text with references to footnotes.
    fn text(&mut self, text: &str, look: Look) {
        let mut rest = text;
        let mut plain = String::new();
        while let Some(start) = rest.find("[^") {
            let label = &rest[start + 2..];
            let cited = end_of_label(label).and_then(|end| {
                let mark = self.notes.cite(&label[..end])?;
                Some((end, mark))
            });
            let Some((end, mark)) = cited else {
                plain.push_str(&rest[..start + 2]);
                rest = label;
                continue;
            };
            plain.push_str(&rest[..start]);
            self.plain(&plain, look);
            plain.clear();
            self.run(&mark, Look::default(), Some(Role::FootnoteMark));
            rest = &label[end + 1..];
        }
        plain.push_str(rest);
        self.plain(&plain, look);
    }

    fn plain(&mut self, text: &str, look: Look) {
        if !text.is_empty() {
            self.run(&text_elements(text), look, None);
        }
    }

    pub(super) fn run(&mut self, content: &str, look: Look, role: Option<Role>) {
        let role = role.or(look.link.then_some(Role::Link));
        let mut properties = String::new();
        if let Some(role) = role {
            properties
                .push_str(&format!("<w:rStyle w:val=\"{}\"/>", escape(self.styles.get(role))));
        }
        if look.bold {
            properties.push_str("<w:b/><w:bCs/>");
        }
        if look.italic {
            properties.push_str("<w:i/><w:iCs/>");
        }
        if look.small {
            let size = if role == Some(Role::CodeSpan) { 18 } else { 20 };
            properties.push_str(&format!("<w:sz w:val=\"{size}\"/><w:szCs w:val=\"{size}\"/>"));
        }
        self.out.push_str("<w:r>");
        if !properties.is_empty() {
            self.out.push_str(&format!("<w:rPr>{properties}</w:rPr>"));
        }
        self.out.push_str(content);
        self.out.push_str("</w:r>");
    }

    /// A picture that is there; its alternative text otherwise. Nothing is fetched.
    fn inline_picture(&mut self, url: &str, alt: &str, look: Look) {
        let drawn = picture_data(url).and_then(|data| self.drawing(data, alt));
        match drawn {
            Some(drawing) => self.run(&drawing, Look::default(), None),
            None => self.plain(alt, look),
        }
    }
}
