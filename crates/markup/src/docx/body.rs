//! Blocks as paragraphs and tables.

use crate::model::{Block, Document, Item};
use crate::url::{is_safe_url, picture_data};
use crate::write::line_of;

use super::content::Content;
use super::numbering::LEVELS;
use super::runs::Look;
use super::styles::Role;
use super::xml::{escape, text_elements};

impl Content<'_> {
    /// Writes a document that was normalised.
    pub(super) fn document(&mut self, document: &Document) {
        if !document.title.is_empty() {
            self.styled(Role::Title, &document.title);
        }
        // Under a title, the outermost headings of Word are those of level 1.
        let levels =
            document.sections.iter().filter(|it| !it.heading.is_empty()).map(|it| it.level);
        let shift = u8::from(!document.title.is_empty() && levels.min().is_some_and(|it| it > 1));
        for section in &document.sections {
            if !section.heading.is_empty() {
                self.styled(Role::Heading((section.level - shift).clamp(1, 6)), &section.heading);
            }
            section.blocks.iter().for_each(|block| self.block(block));
        }
        if !document.references.is_empty() {
            self.styled(Role::Heading(2 - shift), "References");
            let items = document.references.iter().zip(1..).map(|(reference, number)| Item {
                text: line_of(reference),
                level: 0,
                number: Some(number),
            });
            self.list(&items.collect::<Vec<_>>());
        }
    }

    fn styled(&mut self, role: Role, text: &str) {
        self.begin(role, "");
        self.inline(text, Look::default());
        self.out.push_str("</w:p>");
    }

    fn begin(&mut self, role: Role, properties: &str) {
        let style = escape(self.styles.get(role));
        self.out
            .push_str(&format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/>{properties}</w:pPr>"));
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Paragraph { text } => self.paragraph(text),
            Block::Quote { text } => {
                text.split("\n\n").for_each(|part| self.styled(Role::Quote, part));
            }
            Block::List { items } => self.list(items),
            Block::Code { text, .. } => {
                self.begin(Role::Code, "");
                self.run(&text_elements(text), Look::default(), None);
                self.out.push_str("</w:p>");
            }
            Block::Table { header, rows, alignments } => self.table(header, rows, alignments),
            Block::Image { url, alt } => self.picture(url, alt),
            Block::Footnote { label, text } => self.stray_footnote(label, text),
            Block::Rule => self.out.push_str(
                "<w:p><w:pPr><w:pBdr><w:bottom w:val=\"single\" w:sz=\"6\" w:space=\"1\" w:color=\"B8C2D6\"/></w:pBdr>\
                 <w:spacing w:before=\"60\" w:after=\"200\" w:line=\"120\" w:lineRule=\"exact\"/></w:pPr></w:p>",
            ),
        }
    }

    fn paragraph(&mut self, text: &str) {
        self.out.push_str("<w:p>");
        self.inline(text, Look::default());
        self.out.push_str("</w:p>");
    }

    fn list(&mut self, items: &[Item]) {
        // The ordered list that is open at each level.
        let mut open: Vec<Option<u32>> = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let level = item.level.min(LEVELS - 1);
            open.resize(usize::from(level) + 1, None);
            let list = item.number.map(|number| {
                let continued = open.last().copied().flatten();
                continued.unwrap_or_else(|| self.lists.ordered(level, number))
            });
            if let Some(last) = open.last_mut() {
                *last = list;
            }
            let id = list.unwrap_or_else(|| self.lists.bullet());
            let role = if list.is_some() { Role::ListNumber } else { Role::ListBullet };
            // The indent is repeated because a style of a template may have another.
            let left = 397 * (u32::from(level) + 1);
            let is_last = at + 1 == items.len();
            let after = if is_last { "<w:spacing w:after=\"140\"/>" } else { "" };
            self.begin(
                role,
                &format!(
                    "<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{id}\"/></w:numPr>{after}\
                     <w:ind w:left=\"{left}\" w:hanging=\"340\"/>"
                ),
            );
            self.inline(&item.text, Look::default());
            self.out.push_str("</w:p>");
        }
    }

    /// A picture that is there. Of others, the text and the address are shown: nothing is fetched.
    fn picture(&mut self, url: &str, alt: &str) {
        let drawn = picture_data(url).and_then(|data| self.drawing(data, alt));
        self.out.push_str("<w:p>");
        if let Some(drawing) = drawn {
            self.run(&drawing, Look::default(), None);
        } else if is_safe_url(url) {
            let id = self.relations.id("hyperlink", url, true);
            self.out.push_str(&format!("<w:hyperlink r:id=\"{id}\" w:history=\"1\">"));
            let text = if alt.is_empty() { url } else { alt };
            self.run(&text_elements(text), Look { link: true, ..Look::default() }, None);
            self.out.push_str("</w:hyperlink>");
        } else {
            self.run(&text_elements(alt), Look::default(), None);
        }
        self.out.push_str("</w:p>");
    }

    /// A footnote that no text cites is written where it is defined; the others are at the foot of a page.
    fn stray_footnote(&mut self, label: &str, text: &str) {
        if self.notes.is_cited(label) || self.notes.will_be_cited(label) {
            return;
        }
        self.begin(Role::FootnoteText, "");
        self.run(&text_elements(label), Look::default(), Some(Role::FootnoteMark));
        self.run(&text_elements(" "), Look::default(), None);
        self.inline(text, Look::default());
        self.out.push_str("</w:p>");
    }
}
