//! A parsed page: its visible blocks and what it says about itself.

use std::time::{Duration, Instant};

use extraction::text::{keep_hidden, on_one_line};
use extraction::{Limits, Metadata, Options, Unreadable, encoding};
use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, local_name, parse_document};
use url::Url;

use super::about;
use super::attributes;
use super::block::Blocks;
use super::hints::Hints;
use super::linked_data::LinkedData;
use super::style::Sheet;
use super::tree::{Builder, Tree};
use super::walk::Walk;

/// The bytes that are parsed between two checks of the depth.
const PIECE: usize = 32 << 10;

/// Parsing ends after this time; the largest allowed page of usual HTML takes a third of it.
const LONGEST: Duration = Duration::from_secs(10);

/// The first bytes of a page, in which its encoding may be declared.
const DECLARED: usize = 1024;

/// Shorter content for browsers without scripts asks only to switch them on.
const FALLBACK: usize = 600;

/// A parsed page with its visible text.
pub(crate) struct Page {
    pub(crate) tree: Tree,
    pub(crate) blocks: Blocks,
    pub(crate) meta: Metadata,
    pub(crate) hints: Hints,
    pub(crate) data: LinkedData,
    /// The address that links are relative to.
    pub(crate) base: Option<Url>,
    /// Whether the rest of the page was nested too deeply to be read.
    pub(crate) cut: bool,
}

impl Page {
    pub(crate) fn read(
        bytes: &[u8],
        options: &Options<'_>,
        limits: &Limits,
    ) -> Result<Self, Unreadable> {
        let source = decode(bytes, options.charset);
        let (mut tree, cut) = parse(&source, limits);
        drop(source);
        let (title, base) = head(&tree, options.url);
        let mut blocks = read_blocks(&tree, limits);
        let data = LinkedData::find(&tree);
        let hints = Hints::find(&tree, &data);
        let meta = about::read(&tree, &data, title, base.as_ref());
        if let Some((fallback, its_blocks)) = read_fallback(&tree, &blocks, limits) {
            (tree, blocks) = (fallback, its_blocks);
        }
        if cut && blocks.blocks.is_empty() {
            return Err(Unreadable::damaged(
                "its elements are nested too deeply or have too many attributes",
            ));
        }
        Ok(Self { tree, blocks, meta, hints, data, base, cut })
    }
}

/// The title and the address that links are relative to.
fn head(tree: &Tree, url: Option<&str>) -> (Option<String>, Option<Url>) {
    let mut title = None;
    let mut base = url.and_then(|url| Url::parse(url).ok());
    let mut has_base = false;
    for element in tree.elements() {
        match *tree.name(element) {
            local_name!("title") if title.is_none() && tree.is_html(element) => {
                title = Some(on_one_line(&tree.text_of(element)));
            }
            local_name!("base") if !has_base => {
                if let Some(target) = tree.attribute(element, &local_name!("href")) {
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
    (title, base)
}

fn read_blocks(tree: &Tree, limits: &Limits) -> Blocks {
    let mut sheet = Sheet::default();
    for element in tree.elements() {
        if *tree.name(element) == local_name!("style") {
            sheet.add(&tree.text_of(element));
        }
    }
    Walk::new(tree, &sheet, limits.text).run()
}

/// The content for browsers without scripts, if the page has little else.
fn read_fallback(tree: &Tree, blocks: &Blocks, limits: &Limits) -> Option<(Tree, Blocks)> {
    let length = |blocks: &Blocks| -> usize { blocks.blocks.iter().map(|it| it.text.len()).sum() };
    let source = tree
        .elements()
        .filter(|node| *tree.name(*node) == local_name!("noscript"))
        .map(|node| tree.text_of(node))
        .max_by_key(String::len)
        .filter(|source| source.len() >= FALLBACK.max(length(blocks)))?;
    let (tree, _) = parse(&source, limits);
    let mut fallback = read_blocks(&tree, limits);
    if length(&fallback) < FALLBACK.max(2 * length(blocks)) {
        return None;
    }
    fallback.hidden += blocks.hidden;
    keep_hidden(&mut fallback.hidden_text, &blocks.hidden_text);
    Some((tree, fallback))
}

/// Builds the tree piece by piece, so that parsing ends early where a page is too deep or takes too long: its time grows with
/// the square of the depth, and of the number of attributes of an element. Returns whether it ended early.
fn parse(source: &str, limits: &Limits) -> (Tree, bool) {
    let mut parser = parse_document(Builder::new(limits.depth), ParseOpts::default());
    let start = Instant::now();
    let source = attributes::limit(source);
    let mut rest = &*source;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        parser.process(piece.into());
        rest = after;
        if parser.tokenizer.sink.sink.is_too_deep() || start.elapsed() > LONGEST {
            return (parser.finish(), true);
        }
    }
    (parser.finish(), false)
}

/// Decodes by byte order mark, as UTF-8 if valid, by the declared encoding, or by detection.
fn decode(bytes: &[u8], charset: Option<&str>) -> String {
    let declared = charset.and_then(encoding::named).or_else(|| {
        let start =
            String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARED)]).to_ascii_lowercase();
        let label = start.split("charset=").nth(1)?.trim_start_matches(['"', '\'']);
        encoding::named(label.split(['"', '\'', '>', ';', ' ', '/']).next()?)
    });
    match declared {
        Some(encoding) if encoding::applies(encoding, bytes) => {
            encoding.decode_without_bom_handling(bytes).0.into_owned()
        }
        _ => encoding::decode(bytes),
    }
}
