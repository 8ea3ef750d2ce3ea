//! A font without shapes: it only says which characters are there.

use std::collections::BTreeMap;

use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Finish as _, Name, Pdf, Rect, Ref, Str};

use crate::word::Word;

/// The width of each character, in heights of a line.
pub(super) const WIDTH: f32 = 0.5;

const NAME: Name<'_> = Name(b"Invisible");
const SYSTEM: SystemInfo<'_> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The characters of a document, each with its code.
pub(super) struct Font {
    codes: BTreeMap<char, u16>,
}

impl Font {
    pub(super) fn of<'a>(words: impl Iterator<Item = &'a Word>) -> Self {
        let mut codes = BTreeMap::new();
        for character in words.flat_map(|word| word.text.chars()) {
            // Code 0 is a character that is missing; beyond 65,535 there is no code left.
            if let Ok(code) = u16::try_from(codes.len() + 1) {
                codes.entry(character).or_insert(code);
            }
        }
        Self { codes }
    }

    pub(super) fn encode(&self, text: &str) -> Vec<u8> {
        let code = |character: char| self.codes.get(&character).copied().unwrap_or(0);
        text.chars().flat_map(|character| code(character).to_be_bytes()).collect()
    }

    pub(super) fn write(&self, file: &mut Pdf, font: Ref, next: &mut Ref) {
        let (descendant, descriptor, map) = (next.bump(), next.bump(), next.bump());
        file.type0_font(font)
            .base_font(NAME)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(descendant)
            .to_unicode(map);
        file.cid_font(descendant)
            .subtype(CidFontType::Type2)
            .base_font(NAME)
            .system_info(SYSTEM)
            .font_descriptor(descriptor)
            .default_width(WIDTH * 1000.0);
        file.font_descriptor(descriptor)
            .name(NAME)
            .flags(FontFlags::FIXED_PITCH | FontFlags::SYMBOLIC)
            .bbox(Rect::new(0.0, 0.0, WIDTH * 1000.0, 1000.0))
            .italic_angle(0.0)
            .ascent(1000.0)
            .descent(0.0)
            .cap_height(1000.0)
            .stem_v(80.0);
        let mut unicode = UnicodeCmap::new(Name(b"Invisible-UCS"), SYSTEM);
        for (character, code) in &self.codes {
            unicode.pair(*code, *character);
        }
        file.cmap(map, &unicode.finish()).finish();
    }
}
