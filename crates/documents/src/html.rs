//! HTML: the text that a reader of the page would see, without scripts, comments and hidden text.

mod about;
mod attributes;
pub(crate) mod block;
pub(crate) mod cells;
pub(crate) mod date;
mod element;
pub(crate) mod hints;
mod linked_data;
mod look;
pub(crate) mod page;
mod render;
mod streamed;
mod style;
mod table;
pub(crate) mod tree;
mod walk;

use extraction::text::Text;
use extraction::{Extracted, Limits, Options, Unreadable};

use self::page::Page;
use self::render::Renderer;
use crate::main_content;

/// Reads a page, whole or its main content, in the form of the options.
pub(crate) fn read(
    bytes: &[u8],
    options: &Options<'_>,
    limits: &Limits,
) -> Result<Extracted, Unreadable> {
    let page = Page::read(bytes, options, limits)?;
    let mut out = Text::new(limits.text);
    let renderer = Renderer {
        tree: &page.tree,
        base: page.base.clone(),
        markdown: options.form.is_markdown(),
    };
    if options.form.is_main() {
        let content = main_content::choose(&page, options.form.is_markdown());
        if let Some(text) = &content.data {
            renderer.render_text(text, &mut out);
        }
        renderer.render(content.blocks.into_iter().map(|at| &page.blocks.blocks[at]), &mut out);
    } else {
        renderer.render(&page.blocks.blocks, &mut out);
    }
    let mut extracted = out.finish(1, page.meta);
    extracted.hidden = page.blocks.hidden;
    extracted.hidden_text = page.blocks.hidden_text;
    extracted.truncated |= page.blocks.truncated | page.cut;
    Ok(extracted)
}
