//! HTML: the text that a reader of the page would see, without scripts, comments and hidden text.

mod style;
mod tree;
mod walk;

use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};

use self::style::Sheet;
use self::tree::Tree;
use self::walk::Walk;
use crate::extraction::{Extracted, Limits, Unreadable};
use crate::metadata::Metadata;
use crate::plain;
use crate::text::{Text, on_one_line};

/// The bytes that are parsed between two checks of the depth.
const PIECE: usize = 8192;

/// The first bytes of a page, in which its encoding may be declared.
const DECLARED: usize = 1024;

pub(crate) fn read(bytes: &[u8], limits: &Limits) -> Result<Extracted, Unreadable> {
    let source = decode(bytes);
    let tree = parse(&source, limits)?;
    drop(source);
    let mut sheet = Sheet::default();
    let mut title = None;
    for element in tree.elements() {
        match tree.name(element).as_str() {
            "style" => sheet.add(&tree.text_of(element)),
            "title" if title.is_none() => title = Some(on_one_line(&tree.text_of(element))),
            _ => {}
        }
    }
    let mut text = Text::new(limits.text);
    Walk::new(&tree, &sheet, &mut text).run();
    Ok(text.finish(1, Metadata { title, ..Metadata::default() }))
}

/// Builds the tree piece by piece, so that a page that is too deep is refused early: parsing time grows with the square of
/// the depth.
fn parse(source: &str, limits: &Limits) -> Result<Tree, Unreadable> {
    let mut parser = parse_document(Tree::new(limits.depth), ParseOpts::default());
    let mut rest = source;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        parser.process(piece.into());
        rest = after;
        if parser.tokenizer.sink.sink.is_too_deep() {
            return Err(Unreadable::damaged("its elements are nested too deeply"));
        }
    }
    Ok(parser.finish())
}

/// Decodes by byte order mark, as UTF-8 if valid, by the declared encoding, or by detection.
fn decode(bytes: &[u8]) -> String {
    let marked = encoding_rs::Encoding::for_bom(bytes).is_some();
    if !marked && std::str::from_utf8(bytes).is_err() {
        let start =
            String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARED)]).to_ascii_lowercase();
        let label = start.split("charset=").nth(1).map(|rest| rest.trim_start_matches(['"', '\'']));
        let label = label.and_then(|rest| rest.split(['"', '\'', '>', ';', ' ', '/']).next());
        if let Some(encoding) = label.and_then(plain::named) {
            return encoding.decode_without_bom_handling(bytes).0.into_owned();
        }
    }
    plain::decode(bytes)
}
