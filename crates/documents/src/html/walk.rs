//! From a page's tree to its text.

use std::collections::HashSet;

use super::style::{BLACK, Colour, Declarations, Sheet, WHITE, blends};
use super::tree::{DOCUMENT, Id, Tree};
use crate::text::{Block, Text, on_one_line};

/// Elements whose content is not text of the page.
const NO_TEXT: [&str; 14] = [
    "script", "style", "template", "noscript", "head", "iframe", "object", "svg", "canvas",
    "audio", "video", "noembed", "noframes", "datalist",
];

/// Elements that begin and end a paragraph.
const BLOCKS: [&str; 35] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "legend",
    "main",
    "menu",
    "nav",
    "p",
    "section",
    "summary",
    "table",
    "option",
];

/// Elements that make the table around them a means of layout, whose cells are pieces of a page.
const STRUCTURE: [&str; 10] =
    ["table", "ul", "ol", "pre", "h1", "h2", "h3", "h4", "article", "section"];

/// The rendering state at the current element.
#[derive(Clone, Copy)]
struct Look {
    foreground: Colour,
    background: Colour,
    hidden: bool,
    verbatim: bool,
    /// Lists within lists.
    level: usize,
    /// Whether the table around is one of data, whose rows become lines.
    in_table: bool,
    /// Whether this is within a cell of such a table, where everything is one line.
    in_cell: bool,
}

enum Step {
    Enter(Id, Look),
    Leave(String, Look),
}

pub(super) struct Walk<'a> {
    tree: &'a Tree,
    sheet: &'a Sheet,
    out: &'a mut Text,
    line: String,
    item: Option<usize>,
    row: Vec<String>,
    layouts: HashSet<Id>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(tree: &'a Tree, sheet: &'a Sheet, out: &'a mut Text) -> Self {
        let layouts = layouts(tree);
        Self { tree, sheet, out, line: String::new(), item: None, row: Vec::new(), layouts }
    }

    /// Writes all visible text.
    pub(super) fn run(mut self) {
        let look = Look {
            foreground: BLACK,
            background: WHITE,
            hidden: false,
            verbatim: false,
            level: 0,
            in_table: false,
            in_cell: false,
        };
        let mut steps = vec![Step::Enter(DOCUMENT, look)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Enter(node, look) => self.enter(node, look, &mut steps),
                Step::Leave(name, look) => self.leave(&name, look),
            }
            if self.out.is_full() {
                return;
            }
        }
        self.end_line(false);
    }

    fn enter(&mut self, node: Id, look: Look, steps: &mut Vec<Step>) {
        if let Some(text) = self.tree.text(node) {
            return self.text(&text, look);
        }
        let name = self.tree.name(node);
        if NO_TEXT.contains(&name.as_str()) {
            return;
        }
        let look = self.look(node, &name, look);
        match name.as_str() {
            "br" => self.line.push('\n'),
            "hr" => self.end_line(false),
            "li" => {
                self.end_line(false);
                self.item = Some(look.level.saturating_sub(1));
            }
            "tr" if look.in_table => {
                self.end_line(false);
                self.row.clear();
            }
            // The parser has moved text in a row outside of its cells to before the table.
            "td" | "th" if look.in_table => self.line.clear(),
            "tr" | "td" | "th" => self.end_line(false),
            name if !look.in_cell && BLOCKS.contains(&name) => self.end_line(false),
            _ => {}
        }
        steps.push(Step::Leave(name, look));
        steps.extend(
            self.tree.children(node).into_iter().rev().map(|child| Step::Enter(child, look)),
        );
    }

    fn leave(&mut self, name: &str, look: Look) {
        match name {
            "li" => {
                self.end_line(false);
                self.item = None;
            }
            "td" | "th" if look.in_table => {
                let cell = std::mem::take(&mut self.line);
                self.row.push(on_one_line(&cell));
            }
            "tr" if look.in_table => {
                let row = std::mem::take(&mut self.row);
                self.out.block(Block::Row, row.join("\t").trim_end());
            }
            "tr" | "td" | "th" => self.end_line(false),
            "table" => self.out.set_off(),
            "pre" | "textarea" => self.end_line(true),
            name if look.in_cell && BLOCKS.contains(&name) => self.line.push(' '),
            name if BLOCKS.contains(&name) => self.end_line(false),
            _ => {}
        }
    }

    fn text(&mut self, text: &str, look: Look) {
        if look.hidden {
            self.out.hide(text);
        } else if look.verbatim {
            self.line.push_str(text);
        } else {
            // White space of the source is one space at most.
            for (at, word) in text.split(char::is_whitespace).enumerate() {
                if at > 0 && !self.line.ends_with([' ', '\n']) && !self.line.is_empty() {
                    self.line.push(' ');
                }
                self.line.push_str(word);
            }
        }
    }

    /// Writes the collected text as a block, as a list item if one was begun.
    fn end_line(&mut self, verbatim: bool) {
        let line = std::mem::take(&mut self.line);
        if verbatim {
            return self.out.block(Block::Paragraph, &line);
        }
        let line = line.lines().map(str::trim).collect::<Vec<_>>().join("\n");
        let line = line.trim();
        match self.item {
            Some(level) if !line.is_empty() => {
                self.item = None;
                self.out.block(Block::Item, &format!("{}- {line}", "  ".repeat(level.min(8))));
            }
            _ => self.out.block(Block::Paragraph, line),
        }
    }

    fn look(&self, node: Id, name: &str, mut look: Look) -> Look {
        let attribute = |name: &str| self.tree.attribute(node, name);
        let mut style = self.sheet.of(
            name,
            &attribute("class").unwrap_or_default(),
            &attribute("id").unwrap_or_default(),
        );
        style.extend(&Declarations::parse(&attribute("style").unwrap_or_default()));
        let hidden_by_attribute = attribute("hidden").is_some_and(|how| how != "until-found")
            || attribute("aria-hidden").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        look.hidden |= hidden_by_attribute || style.hides();
        let attributes = |name: &str| attribute(name).map(|value| format!("color:{value}"));
        let plain =
            |text: Option<String>| text.and_then(|text| Declarations::parse(&text).foreground());
        if let Some(background) = style.background().or_else(|| plain(attributes("bgcolor"))) {
            look.background = background;
        }
        if let Some(foreground) = style
            .foreground()
            .or_else(|| if name == "font" { plain(attributes("color")) } else { None })
        {
            look.foreground = foreground;
        }
        if attribute("background").is_some() {
            look.background = None;
        }
        look.hidden |= blends(look.foreground, look.background);
        look.verbatim |= matches!(name, "pre" | "textarea");
        look.level += usize::from(matches!(name, "ul" | "ol" | "menu"));
        if name == "table" {
            look.in_table = !self.layouts.contains(&node);
        }
        look.in_cell |= look.in_table && matches!(name, "td" | "th");
        look
    }
}

fn layouts(tree: &Tree) -> HashSet<Id> {
    let mut layouts = HashSet::new();
    for element in tree.elements() {
        if !STRUCTURE.contains(&tree.name(element).as_str()) {
            continue;
        }
        let mut above = tree.parent(element);
        while let Some(node) = above {
            if tree.name(node) == "table" && !layouts.insert(node) {
                break;
            }
            above = tree.parent(node);
        }
    }
    layouts
}
