//! The part of CSS that is needed to find hidden text.

mod clean;
mod colour;
mod sheet;
mod value;

use self::clean::clean;
pub(super) use self::colour::{BLACK, Colour, WHITE, blends};
pub(super) use self::sheet::Sheet;

use self::colour::{is_inherited, paint};
use self::value::{is_one_of, is_wide, keyword};

/// Properties that can hide an element; each is a bit.
mod property {
    pub(super) const DISPLAY: u32 = 1;
    pub(super) const VISIBILITY: u32 = 1 << 1;
    pub(super) const CONTENT_VISIBILITY: u32 = 1 << 2;
    pub(super) const OPACITY: u32 = 1 << 3;
    pub(super) const FONT_SIZE: u32 = 1 << 4;
    pub(super) const LEFT: u32 = 1 << 5;
    pub(super) const TOP: u32 = 1 << 6;
    pub(super) const RIGHT: u32 = 1 << 7;
    pub(super) const BOTTOM: u32 = 1 << 8;
    pub(super) const TEXT_INDENT: u32 = 1 << 9;
    pub(super) const MARGIN_LEFT: u32 = 1 << 10;
    pub(super) const MARGIN_TOP: u32 = 1 << 11;
    pub(super) const CLIP: u32 = 1 << 12;
    pub(super) const CLIP_PATH: u32 = 1 << 13;
    pub(super) const TRANSFORM: u32 = 1 << 14;
    pub(super) const COLOR: u32 = 1 << 15;
    pub(super) const FILTER: u32 = 1 << 25;
    /// Any of those above hides on its own.
    pub(super) const ALONE: u32 = ((1 << 16) - 1) | FILTER;

    pub(super) const OVERFLOW: u32 = 1 << 16;
    pub(super) const WIDTH: u32 = 1 << 17;
    pub(super) const HEIGHT: u32 = 1 << 18;
    pub(super) const MAX_WIDTH: u32 = 1 << 19;
    pub(super) const MAX_HEIGHT: u32 = 1 << 20;
    /// Any of these hides what is clipped.
    pub(super) const SIZES: u32 = WIDTH | HEIGHT | MAX_WIDTH | MAX_HEIGHT;

    pub(super) const ZERO_WIDTH: u32 = 1 << 21;
    pub(super) const ZERO_HEIGHT: u32 = 1 << 22;
    /// Both together hide.
    pub(super) const ZERO: u32 = ZERO_WIDTH | ZERO_HEIGHT;

    pub(super) const BACKGROUND_IMAGE: u32 = 1 << 23;
    pub(super) const BACKGROUND_COLOR: u32 = 1 << 24;
}

/// Words of `background` that say nothing about its colour.
const BACKGROUND_WORDS: &str = "none repeat no-repeat repeat-x repeat-y space round scroll fixed local top bottom left right \
    center cover contain auto border-box padding-box content-box text";

/// As much of an element's style as is needed to find hidden text.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Declarations {
    /// The properties that are set.
    set: u32,
    /// Those of them with a value that hides.
    hiding: u32,
    /// Those of them that only important declarations override.
    important: u32,
    foreground: Option<Colour>,
    /// The colour behind the text, apart from pictures.
    background: Option<Colour>,
    /// Whether there is a picture behind the text.
    picture: bool,
}

impl Declarations {
    /// Reads the declarations of an attribute.
    pub(super) fn parse(text: &str) -> Self {
        Self::parse_clean(&clean(text))
    }

    /// Reads declarations of cleaned CSS.
    fn parse_clean(text: &str) -> Self {
        let mut declarations = Self::default();
        for declaration in text.split(';') {
            if let Some((name, value)) = declaration.split_once(':') {
                declarations.add(name.trim(), value.trim());
            }
        }
        declarations
    }

    /// Adds a declaration. One whose value is not understood is left out, as browsers leave out a wrong one: it must not undo
    /// another one that hides.
    fn add(&mut self, name: &str, value: &str) {
        let mut lowered = [0; 24];
        let Some(name) = lower(name, &mut lowered) else { return };
        let (value, important) = match value.rsplit_once('!') {
            Some((value, mark)) if mark.trim().eq_ignore_ascii_case("important") => {
                (value.trim_end(), true)
            }
            Some(_) => return,
            None => (value, false),
        };
        let mut lowered = [0; 64];
        let value = match lower(value, &mut lowered) {
            Some("") => return,
            Some(value) => value,
            // Pictures and gradients, whose colour is not known.
            None if value.contains('(') => "var()",
            None => return,
        };
        let mut one = Self::default();
        one.set_property(name, value);
        if important {
            one.important = one.set;
        }
        self.extend(&one);
    }

    fn set_property(&mut self, name: &str, value: &str) {
        use self::property as p;

        match name {
            "display" => self.put(p::DISPLAY, value::display(value)),
            "visibility" => self.put(p::VISIBILITY, keyword(value, "hidden collapse", "visible")),
            "content-visibility" => {
                self.put(p::CONTENT_VISIBILITY, keyword(value, "hidden", "visible auto"));
            }
            "opacity" => self.put(p::OPACITY, value::opacity(value)),
            "filter" | "-webkit-filter" => self.put(p::FILTER, value::filter(value)),
            "font-size" => self.put(p::FONT_SIZE, value::font_size(value)),
            "font" => self.put(p::FONT_SIZE, value::font(value)),
            "left" => self.put(p::LEFT, value::offset(value)),
            "top" => self.put(p::TOP, value::offset(value)),
            "right" => self.put(p::RIGHT, value::offset(value)),
            "bottom" => self.put(p::BOTTOM, value::offset(value)),
            "text-indent" => self.put(p::TEXT_INDENT, value::offset(value)),
            "margin-left" => self.put(p::MARGIN_LEFT, value::offset(value)),
            "margin-top" => self.put(p::MARGIN_TOP, value::offset(value)),
            "clip" => self.put(p::CLIP, value::clip(value)),
            "clip-path" => self.put(p::CLIP_PATH, value::clip_path(value)),
            "transform" => self.put(p::TRANSFORM, value::transform(value)),
            "overflow" => {
                // Two words are one for each direction.
                let first = value.split(' ').next().unwrap_or_default();
                self.put(p::OVERFLOW, keyword(first, "hidden clip", "visible scroll auto overlay"));
            }
            "width" => {
                self.put(p::WIDTH, value::tiny_box(value));
                self.put(p::ZERO_WIDTH, value::zero(value));
            }
            "height" => {
                self.put(p::HEIGHT, value::tiny_box(value));
                self.put(p::ZERO_HEIGHT, value::zero(value));
            }
            "max-width" => self.put(p::MAX_WIDTH, value::tiny_box(value)),
            "max-height" => self.put(p::MAX_HEIGHT, value::tiny_box(value)),
            "color" if is_inherited(value) => self.put(p::COLOR, Some(false)),
            "color" => {
                let paint = paint(value);
                self.put(p::COLOR, paint.map(|paint| paint.is_clear));
                self.foreground = paint.map(|paint| paint.colour);
            }
            "background-image" => {
                if let Some(picture) = picture(value) {
                    self.put(p::BACKGROUND_IMAGE, Some(false));
                    self.picture = picture;
                }
            }
            "background-color" if is_inherited(value) => self.put(p::BACKGROUND_COLOR, Some(false)),
            "background-color" => {
                let paint = paint(value);
                self.put(p::BACKGROUND_COLOR, paint.map(|_| false));
                self.background = paint.filter(|paint| !paint.is_clear).map(|paint| paint.colour);
            }
            "background" => self.set_background(value),
            _ => {}
        }
    }

    /// Sets picture and colour, if all words are understood.
    fn set_background(&mut self, value: &str) {
        let mut background = Self::default();
        background.put(property::BACKGROUND_IMAGE | property::BACKGROUND_COLOR, Some(false));
        if !is_inherited(value) {
            for word in words(value) {
                if let Some(paint) = paint(word) {
                    background.background = Some(paint.colour).filter(|_| !paint.is_clear);
                } else if let Some(picture) = picture(word) {
                    background.picture |= picture;
                } else if !is_one_of(word, BACKGROUND_WORDS) && value::offset(word).is_none() {
                    return;
                }
            }
        }
        self.extend(&background);
    }

    fn put(&mut self, property: u32, hides: Option<bool>) {
        if let Some(hides) = hides {
            self.set |= property;
            self.hiding = if hides { self.hiding | property } else { self.hiding & !property };
        }
    }

    /// Adds declarations that override these, unless these are important.
    pub(super) fn extend(&mut self, other: &Self) {
        let taken = other.set & (other.important | !self.important);
        self.hiding = self.hiding & !taken | other.hiding & taken;
        self.set |= taken;
        self.important |= other.important;
        if taken & property::COLOR != 0 {
            self.foreground = other.foreground;
        }
        if taken & property::BACKGROUND_COLOR != 0 {
            self.background = other.background;
        }
        if taken & property::BACKGROUND_IMAGE != 0 {
            self.picture = other.picture;
        }
    }

    /// Whether there is nothing in it that matters here.
    fn is_empty(&self) -> bool {
        self.set == 0
    }

    /// Whether this style hides an element, apart from its colours.
    pub(super) fn hides(&self) -> bool {
        use self::property as p;

        let has = |property: u32| self.hiding & property != 0;
        has(p::ALONE) || has(p::OVERFLOW) && has(p::SIZES) || self.hiding & p::ZERO == p::ZERO
    }

    /// Whether it hides in a way that scripts undo once a page is loaded.
    pub(super) fn only_fades(&self) -> bool {
        let fades = property::OPACITY | property::VISIBILITY;
        self.hiding & fades != 0 && self.hiding & property::ALONE & !fades == 0
    }

    /// The colour of the text, if the style sets one.
    pub(super) fn foreground(&self) -> Option<Colour> {
        self.foreground
    }

    /// The colour behind the text, if the style sets one.
    pub(super) fn background(&self) -> Option<Colour> {
        if self.picture { Some(None) } else { self.background }
    }
}

/// The colour that an old attribute such as `bgcolor` sets. Browsers take any text there for a colour.
pub(super) fn attribute_colour(value: &str) -> Option<Colour> {
    let value = value.trim().to_ascii_lowercase();
    if value.is_empty() {
        return None;
    }
    let found = paint(&value).or_else(|| paint(&format!("#{value}")));
    Some(found.and_then(|paint| paint.colour))
}

/// A short word in lower case.
fn lower<'a>(text: &str, room: &'a mut [u8]) -> Option<&'a str> {
    let room = room.get_mut(..text.len())?;
    room.copy_from_slice(text.as_bytes());
    room.make_ascii_lowercase();
    std::str::from_utf8(room).ok()
}

/// Whether a value is a picture, or none if browsers would not accept it.
fn picture(value: &str) -> Option<bool> {
    if value == "none" || is_wide(value) {
        return Some(false);
    }
    let (name, _) = value.split_once('(')?;
    let known = ["gradient", "image-set"].iter().any(|kind| name.ends_with(kind))
        || is_one_of(name, "url var image cross-fade element");
    known.then_some(true)
}

/// The parts of a value, with what is in parentheses as one.
fn words(value: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let parts = value.split(move |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c.is_whitespace() || matches!(c, ',' | '/'))
    });
    parts.filter(|part| !part.is_empty())
}
