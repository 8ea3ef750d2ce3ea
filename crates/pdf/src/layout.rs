//! The words, ruling lines and boxes of pages, from which tables are found.

use extraction::layout::{Area, PageLayout, PlacedWord};
use extraction::{Limits, Unreadable};
use hayro_interpret::kurbo::Rect;

use super::content::Content;
use super::script;
use super::words::{self, Frame, Word};

/// The most words of one page; the rest is dropped.
const WORDS: usize = 20_000;

/// The layout of the pages of a PDF that `asked` accepts, and how many pages there are.
pub fn pages(
    bytes: Vec<u8>,
    limits: &Limits,
    asked: impl Fn(usize) -> bool,
) -> Result<(Vec<PageLayout>, usize), Unreadable> {
    let pdf = super::open(bytes)?;
    let mut layouts = Vec::new();
    let mut length = 0;
    super::each_page(&pdf, asked, |number, content, area| {
        let layout = layout(number, content, area);
        length += layout.words.iter().map(|word| word.text.len()).sum::<usize>();
        layouts.push(layout);
        length <= limits.text
    });
    Ok((layouts, pdf.pages().len()))
}

fn layout(number: usize, content: &Content, area: Rect) -> PageLayout {
    let mut layout = PageLayout {
        number,
        width: area.width(),
        height: area.height(),
        cut: content.cut,
        ..PageLayout::default()
    };
    let Some(frame) = words::frames(content, area).into_iter().next() else { return layout };
    let Frame { mut words, rules, boxes, area, turns, .. } = frame;
    let place = |rect: Rect| {
        Area::new(rect.x0 - area.x0, rect.y0 - area.y0, rect.x1 - area.x0, rect.y1 - area.y0)
    };
    layout.turns = turns;
    layout.cut |= words.len() > WORDS;
    words.truncate(WORDS);
    layout.words = words.into_iter().map(|word| placed(&word, place(word.area()), area)).collect();
    layout.rules =
        rules.iter().map(|rule| place(Rect::from_points(rule.start, rule.end))).collect();
    layout.boxes = boxes.into_iter().map(place).collect();
    layout
}

fn placed(word: &Word, area: Area, page: Rect) -> PlacedWord {
    PlacedWord {
        text: script::in_reading_order(word.text.clone()),
        area,
        baseline: word.y - page.y0,
        size: word.size,
        row: word.row,
        artifact: word.artifact,
    }
}
