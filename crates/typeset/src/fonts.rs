//! The fonts that are part of the program, and the characters that they lack.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use typst::foundations::Bytes;
use typst::text::{Font, FontBook};
use typst::utils::LazyHash;

/// Families that templates name, and one with symbols as the last resort.
const FAMILIES: [&str; 3] = ["Libertinus Serif", "DejaVu Sans Mono", "New Computer Modern Math"];
/// How many characters a warning names.
const NAMED: usize = 20;

/// Fonts and the index over them.
pub(crate) struct Fonts {
    pub book: LazyHash<FontBook>,
    fonts: Vec<Font>,
}

impl Fonts {
    /// The fonts, parsed once.
    pub(crate) fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Fonts> = LazyLock::new(|| {
            let fonts = typst_assets::fonts().flat_map(|data| Font::iter(Bytes::new(data)));
            let fonts: Vec<Font> =
                fonts.filter(|font| FAMILIES.contains(&font.info().family.as_str())).collect();
            Fonts { book: LazyHash::new(FontBook::from_fonts(&fonts)), fonts }
        });
        &SHIPPED
    }

    pub(crate) fn get(&self, index: usize) -> Option<Font> {
        self.fonts.get(index).cloned()
    }

    fn covers(&self, c: char) -> bool {
        self.fonts.iter().any(|font| font.info().coverage.contains(u32::from(c)))
    }

    /// A warning that names the characters of a text for which no font has a glyph.
    pub(crate) fn warn_about(&self, text: &str) -> Option<String> {
        let distinct: BTreeSet<char> = text.chars().filter(|c| is_drawn(*c)).collect();
        let missing: Vec<char> = distinct.into_iter().filter(|c| !self.covers(*c)).collect();
        if missing.is_empty() {
            return None;
        }
        let named: Vec<String> = missing.iter().take(NAMED).map(char::to_string).collect();
        let more = match missing.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "the fonts have no glyphs for these characters, which are drawn as boxes: {}{more}",
            named.join(" ")
        ))
    }
}

/// Whether a character needs a glyph: neither white space, nor a control character, nor one that only changes others.
fn is_drawn(c: char) -> bool {
    let changes_others = matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}');
    !(c.is_whitespace() || c.is_control() || changes_others)
}
