//! What a reader would see of an element's text.

use super::style::{BLACK, Colour, Declarations, Sheet, WHITE, blends};
use super::tree::{Id, Tree};

/// The rendering state at an element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    foreground: Colour,
    background: Colour,
    pub(super) hidden: bool,
}

impl Look {
    /// Black on white.
    pub(super) fn new() -> Self {
        Self { foreground: BLACK, background: WHITE, hidden: false }
    }

    /// The state within an element, given the state around it.
    pub(super) fn within(mut self, tree: &Tree, sheet: &Sheet, node: Id) -> Self {
        let name = &**tree.name(node);
        let (mut class, mut id, mut style, mut font, mut hides) = ("", "", "", "", false);
        let mut backdrop = None;
        for (attribute, value) in tree.attributes(node) {
            match attribute {
                "class" => class = value,
                "id" => id = value,
                "style" => style = value,
                "hidden" => hides |= value != "until-found",
                "aria-hidden" => hides |= value.eq_ignore_ascii_case("true"),
                "color" if name == "font" => font = value,
                "bgcolor" => backdrop = colour(value),
                "background" => backdrop = Some(None),
                _ => {}
            }
        }
        let mut declarations = sheet.of(name, class, id);
        if !style.is_empty() {
            declarations.extend(&Declarations::parse(style));
        }
        if let Some(background) = declarations.background().or(backdrop) {
            self.background = background;
        }
        if let Some(foreground) = declarations.foreground().or_else(|| colour(font)) {
            self.foreground = foreground;
        }
        // A page that is hidden as a whole is shown by its script.
        let whole = matches!(name, "html" | "body");
        self.hidden |= !whole && (hides || declarations.hides());
        self.hidden |= blends(self.foreground, self.background);
        self
    }
}

fn colour(value: &str) -> Option<Colour> {
    if value.is_empty() {
        return None;
    }
    Declarations::parse(&format!("color:{value}")).foreground()
}
