//! What a reader would see of an element's text.

use std::cell::OnceCell;

use html5ever::local_name;

use super::style::{BLACK, Colour, Declarations, Sheet, WHITE, attribute_colour, blends};
use super::tree::{DOCUMENT, Id, Tree};

/// The rendering state at an element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    foreground: Colour,
    background: Colour,
    /// Whether the element or one around it is not shown at all.
    removed: bool,
    /// Whether its own text cannot be seen. Text in the colour of its background may have elements within that have another one.
    pub(super) hidden: bool,
}

impl Look {
    /// Black on white.
    pub(super) fn new() -> Self {
        Self { foreground: BLACK, background: WHITE, removed: false, hidden: false }
    }
}

/// Finds out what is visible.
pub(super) struct Looks<'a> {
    tree: &'a Tree,
    sheet: &'a Sheet,
    /// Bytes of text of the whole page.
    all: OnceCell<usize>,
}

impl<'a> Looks<'a> {
    pub(super) fn new(tree: &'a Tree, sheet: &'a Sheet) -> Self {
        Self { tree, sheet, all: OnceCell::new() }
    }

    /// The state within an element, given the state around it.
    pub(super) fn within(&self, mut look: Look, node: Id) -> Look {
        let name = &**self.tree.name(node);
        let (mut class, mut id, mut style, mut font) = ("", "", "", "");
        // Browsers never show a title within the body, nor a dialog that is not open.
        let (mut hides, mut is_open) = (name == "title", name != "dialog");
        let mut backdrop = None;
        for (attribute, value) in self.tree.attributes(node) {
            match *attribute {
                local_name!("class") => class = value,
                local_name!("id") => id = value,
                local_name!("style") => style = value,
                local_name!("hidden") => hides |= value != "until-found",
                local_name!("popover") => hides = true,
                local_name!("open") => is_open = true,
                local_name!("aria-hidden") => hides |= value.eq_ignore_ascii_case("true"),
                local_name!("color") if name == "font" => font = value,
                local_name!("bgcolor") => backdrop = attribute_colour(value),
                local_name!("background") => backdrop = Some(None),
                _ => {}
            }
        }
        let mut declarations = self.sheet.of(name, class, id);
        if !style.is_empty() {
            declarations.extend(&Declarations::parse(style));
        }
        if let Some(background) = declarations.background().or(backdrop) {
            look.background = background;
        }
        if let Some(foreground) = declarations.foreground().or_else(|| attribute_colour(font)) {
            look.foreground = foreground;
        }
        if matches!(name, "html" | "body") {
            // Rules that hide all of a page do not count: many pages hide their body until a script shows it, or a style
            // sheet that is not here, and there would be nothing left to read.
            if blends(look.foreground, look.background) {
                look.background = None;
            }
            return look;
        }
        look.removed |= hides
            || !is_open
            || declarations.hides() && !(declarations.only_fades() && self.is_whole_page(node));
        look.hidden = look.removed || blends(look.foreground, look.background);
        look
    }

    /// Whether an element has nearly all of a page's text.
    pub(super) fn is_whole_page(&self, node: Id) -> bool {
        let all = *self.all.get_or_init(|| self.tree.text_length(DOCUMENT));
        let own = self.tree.text_length(node);
        own >= WHOLE_TEXT && own as f32 >= all as f32 * WHOLE_SHARE
    }
}

/// The bytes and the share of a page's text from which an element is the whole page.
const WHOLE_TEXT: usize = 500;
const WHOLE_SHARE: f32 = 0.8;
