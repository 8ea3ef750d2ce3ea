//! HTML: the text that a reader of the page would see, without scripts, comments and hidden text.

pub(crate) mod block;
mod element;
mod look;
mod render;
mod style;
mod table;
pub(crate) mod tree;
mod walk;

use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, local_name, parse_document};
use url::Url;

use self::block::Blocks;
use self::render::Renderer;
use self::style::Sheet;
use self::tree::{Builder, Tree};
use self::walk::Walk;
use crate::extraction::{Extracted, Limits, Unreadable};
use crate::main_content;
use crate::metadata::Metadata;
use crate::options::Options;
use crate::plain;
use crate::text::{Text, on_one_line};

/// The bytes that are parsed between two checks of the depth.
const PIECE: usize = 8192;

/// The first bytes of a page, in which its encoding may be declared.
const DECLARED: usize = 1024;

/// A parsed page with its visible text.
pub(crate) struct Page {
    pub(crate) tree: Tree,
    pub(crate) blocks: Blocks,
    /// The title in the head.
    pub(crate) title: Option<String>,
    /// The address that links are relative to.
    pub(crate) base: Option<Url>,
    /// Whether the rest of the page was nested too deeply to be read.
    cut: bool,
}

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
        let chosen = main_content::choose(&page);
        renderer.render(chosen.into_iter().map(|at| &page.blocks.blocks[at]), &mut out);
    } else {
        renderer.render(&page.blocks.blocks, &mut out);
    }
    let meta = Metadata { title: page.title, ..Metadata::default() };
    let mut extracted = out.finish(1, meta);
    extracted.hidden = page.blocks.hidden;
    extracted.truncated |= page.blocks.truncated | page.cut;
    Ok(extracted)
}

impl Page {
    pub(crate) fn read(
        bytes: &[u8],
        options: &Options<'_>,
        limits: &Limits,
    ) -> Result<Self, Unreadable> {
        let source = decode(bytes, options.charset);
        let (tree, cut) = parse(&source, limits);
        drop(source);
        let mut sheet = Sheet::default();
        let mut title = None;
        let mut base = options.url.and_then(|url| Url::parse(url).ok());
        let mut has_base = false;
        for element in tree.elements() {
            match *tree.name(element) {
                local_name!("style") => sheet.add(&tree.text_of(element)),
                local_name!("title") if title.is_none() && tree.is_html(element) => {
                    title = Some(on_one_line(&tree.text_of(element)));
                }
                local_name!("base") if !has_base => {
                    if let Some(target) = tree.attribute(element, "href") {
                        has_base = true;
                        let target = match &base {
                            Some(base) => base.join(target),
                            None => Url::parse(target),
                        };
                        base = target.ok().or(base);
                    }
                }
                _ => {}
            }
        }
        let blocks = Walk::new(&tree, &sheet, limits.text).run();
        if cut && blocks.blocks.is_empty() {
            return Err(Unreadable::damaged("its elements are nested too deeply"));
        }
        Ok(Self { tree, blocks, title, base, cut })
    }
}

/// Builds the tree piece by piece, so that parsing ends early where a page is too deep: its time grows with the square of the
/// depth. Returns whether it ended early.
fn parse(source: &str, limits: &Limits) -> (Tree, bool) {
    let mut parser = parse_document(Builder::new(limits.depth), ParseOpts::default());
    let mut rest = source;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        parser.process(piece.into());
        rest = after;
        if parser.tokenizer.sink.sink.is_too_deep() {
            return (parser.finish(), true);
        }
    }
    (parser.finish(), false)
}

/// Decodes by byte order mark, as UTF-8 if valid, by the declared encoding, or by detection.
fn decode(bytes: &[u8], charset: Option<&str>) -> String {
    let marked = encoding_rs::Encoding::for_bom(bytes).is_some();
    if !marked && std::str::from_utf8(bytes).is_err() {
        let start =
            String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARED)]).to_ascii_lowercase();
        let label = start.split("charset=").nth(1).map(|rest| rest.trim_start_matches(['"', '\'']));
        let label = label.and_then(|rest| rest.split(['"', '\'', '>', ';', ' ', '/']).next());
        let encoding = charset.and_then(plain::named).or_else(|| label.and_then(plain::named));
        if let Some(encoding) = encoding {
            return encoding.decode_without_bom_handling(bytes).0.into_owned();
        }
    }
    plain::decode(bytes)
}
