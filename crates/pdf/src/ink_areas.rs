//! All words of pages with the areas that their ink is in: turned, mirrored, skewed and hidden ones too.

use extraction::layout::Area;
use extraction::{Limits, Unreadable};
use hayro_interpret::kurbo::Rect;

use super::content::Content;
use super::script;
use super::words;

/// The most words of one page; the rest is dropped.
const WORDS: usize = 20_000;

/// A page and all its words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ShownPage {
    /// Counted from 1.
    pub number: usize,
    pub width: f64,
    pub height: f64,
    /// In the order of their lines.
    pub words: Vec<ShownWord>,
    /// Whether words were dropped because the page has too many.
    pub cut: bool,
    /// How many glyphs are drawn whose characters are not known.
    pub unknown: usize,
}

/// A word and the area of the page that it is drawn in.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownWord {
    pub text: String,
    /// In points from the upper left corner of the page as shown; no number if it is not known.
    pub ink: Area,
    /// Words with the same number are on one line.
    pub line: usize,
    /// Words with the same number are read in one direction.
    pub direction: usize,
    /// The left and right end, turned so that the word is upright.
    pub span: (f64, f64),
    /// The baseline, turned likewise.
    pub baseline: f64,
    pub size: f64,
}

/// The words of the pages of a PDF that `asked` accepts, and how many pages there are.
pub fn shown_pages(
    bytes: Vec<u8>,
    limits: &Limits,
    asked: impl Fn(usize) -> bool,
) -> Result<(Vec<ShownPage>, usize), Unreadable> {
    let pdf = super::open(bytes)?;
    let mut pages = Vec::new();
    let mut length = 0;
    super::each_page_with(&pdf, true, asked, |number, content, area| {
        let page = shown(number, content, area);
        length += page.words.iter().map(|word| word.text.len()).sum::<usize>();
        pages.push(page);
        length <= limits.text
    });
    let count = pdf.pages().len();
    if length > limits.text {
        return Err(Unreadable::TooLarge { what: "its text", limit: limits.text as u64 });
    }
    Ok((pages, count))
}

fn shown(number: usize, content: &Content, area: Rect) -> ShownPage {
    let (width, height, unknown) = (area.width(), area.height(), content.unknown);
    let mut page =
        ShownPage { number, width, height, cut: content.cut, unknown, ..ShownPage::default() };
    let hidden = Content { glyphs: content.hidden.clone(), ..Content::default() };
    let frames = words::frames(content, area).into_iter().chain(words::frames(&hidden, area));
    let mut line = 0;
    for (direction, frame) in frames.enumerate() {
        let mut row = None;
        for word in frame.words {
            if row != Some(word.row) {
                (row, line) = (Some(word.row), line + 1);
            }
            page.words.push(ShownWord {
                text: script::in_reading_order(word.text),
                ink: Area::new(word.ink.x0, word.ink.y0, word.ink.x1, word.ink.y1),
                line,
                direction,
                span: word.x,
                baseline: word.y,
                size: word.size,
            });
        }
    }
    page.cut |= page.words.len() > WORDS;
    page.words.truncate(WORDS);
    page
}
