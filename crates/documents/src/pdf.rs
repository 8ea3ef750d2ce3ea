//! PDF: the glyphs that each page draws, put back into lines and paragraphs.

mod glyphs;
mod layout;

use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::Rect;
use hayro_interpret::{
    Context, InterpreterCache, InterpreterSettings, TransformExt, interpret_page,
};

use self::glyphs::Glyphs;
use crate::extraction::{Extracted, Limits, Unreadable};
use crate::metadata::Metadata;
use crate::plain;
use crate::text::{Block, Text};

pub(crate) fn read(bytes: Vec<u8>, limits: &Limits) -> Result<Extracted, Unreadable> {
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => Unreadable::Encrypted,
        LoadPdfError::Decryption(DecryptionError::UnsupportedAlgorithm) => Unreadable::Encrypted,
        LoadPdfError::Decryption(error) => {
            Unreadable::damaged(format_args!("its encryption: {error:?}"))
        }
        LoadPdfError::Invalid => Unreadable::damaged("no pages can be found in it"),
    })?;
    let title = pdf.metadata().title.as_deref().map(title);
    let cache = InterpreterCache::new();
    let mut text = Text::new(limits.text);
    let pages = pdf.pages();
    for page in pages.iter() {
        let (width, height) = page.render_dimensions();
        let area = Rect::new(0.0, 0.0, width.into(), height.into());
        let transform = page.initial_transform(true).to_kurbo();
        let settings = InterpreterSettings::default();
        let mut context = Context::new(transform, area, &cache, pdf.xref(), settings);
        let mut glyphs = Glyphs::new(area);
        interpret_page(page, &mut context, &mut glyphs);
        text.hide(&glyphs.hidden());
        for paragraph in layout::paragraphs(glyphs.shown()) {
            text.block(Block::Paragraph, &paragraph);
        }
        if text.is_full() {
            break;
        }
    }
    Ok(text.finish(pages.len(), Metadata { title, ..Metadata::default() }))
}

/// A title is UTF-16 with a mark, UTF-8 with a mark, or PDF's own encoding, which is nearly Latin-1.
fn title(bytes: &[u8]) -> String {
    match bytes {
        [0xfe, 0xff, ..] | [0xff, 0xfe, ..] | [0xef, 0xbb, 0xbf, ..] => plain::decode(bytes),
        bytes => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}
