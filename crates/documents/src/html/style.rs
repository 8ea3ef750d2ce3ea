//! The part of CSS that is needed to find hidden text.

use std::borrow::Cow;
use std::collections::HashMap;

/// A colour as red, green and blue; none where it is not known, such as that of a picture.
pub(super) type Colour = Option<[u8; 3]>;

pub(super) const BLACK: Colour = Some([0; 3]);
pub(super) const WHITE: Colour = Some([255; 3]);

/// Rules longer than this are left out: hiding takes a few, and a page may bring megabytes.
const RULES: usize = 20_000;

/// Further off the page than any design needs, in pixels.
const FAR: f32 = -900.0;

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
    /// Any of those above hides on its own.
    pub(super) const ALONE: u32 = (1 << 16) - 1;

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
}

/// A background that a style sets.
#[derive(Debug, Default, Clone, Copy)]
enum Background {
    #[default]
    Unset,
    Nothing,
    Set(Colour),
}

/// As much of an element's style as is needed to find hidden text.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Declarations {
    /// The properties that are set.
    set: u32,
    /// Those of them with a value that hides.
    hiding: u32,
    foreground: Option<Colour>,
    /// By `background-image`, `background` and `background-color`.
    backgrounds: [Background; 3],
}

impl Declarations {
    pub(super) fn parse(text: &str) -> Self {
        let mut declarations = Self::default();
        for declaration in text.split(';') {
            if let Some((name, value)) = declaration.split_once(':') {
                declarations.add(name.trim(), value.trim());
            }
        }
        declarations
    }

    fn add(&mut self, name: &str, value: &str) {
        use self::property as p;

        let mut lowered = [0; 24];
        let Some(name) = lower(name, &mut lowered) else { return };
        let mut lowered = [0; 64];
        // Longer values are pictures and gradients, whose colour is not known.
        let value = lower(value, &mut lowered).unwrap_or("?");
        let value = value.trim_end_matches("!important").trim_end();
        let zero = || number(value).is_some_and(|size| size == 0.0);
        let far = || number(value).is_some_and(|place| place <= FAR);
        match name {
            "display" => self.put(p::DISPLAY, value == "none"),
            "visibility" => self.put(p::VISIBILITY, matches!(value, "hidden" | "collapse")),
            "content-visibility" => self.put(p::CONTENT_VISIBILITY, value == "hidden"),
            "opacity" => self.put(p::OPACITY, number(value).is_some_and(|number| number < 0.05)),
            "font-size" => {
                self.put(p::FONT_SIZE, number(value).is_some_and(|size| size <= tiny(value)));
            }
            "left" => self.put(p::LEFT, far()),
            "top" => self.put(p::TOP, far()),
            "right" => self.put(p::RIGHT, far()),
            "bottom" => self.put(p::BOTTOM, far()),
            "text-indent" => self.put(p::TEXT_INDENT, far()),
            "margin-left" => self.put(p::MARGIN_LEFT, far()),
            "margin-top" => self.put(p::MARGIN_TOP, far()),
            "clip" => self.put(p::CLIP, is_clipped(value)),
            "clip-path" => self.put(
                p::CLIP_PATH,
                matches!(value, "inset(50%)" | "inset(100%)" | "circle(0)" | "circle(0px)"),
            ),
            "transform" => self
                .put(p::TRANSFORM, value.replace(' ', "").contains("scale(0)") || far_moved(value)),
            "overflow" => {
                self.put(p::OVERFLOW, value == "hidden" || value.starts_with("clip"));
            }
            "width" => {
                self.put(p::WIDTH, tiny_box(value));
                self.put(p::ZERO_WIDTH, zero());
            }
            "height" => {
                self.put(p::HEIGHT, tiny_box(value));
                self.put(p::ZERO_HEIGHT, zero());
            }
            "max-width" => self.put(p::MAX_WIDTH, tiny_box(value)),
            "max-height" => self.put(p::MAX_HEIGHT, tiny_box(value)),
            "color" => {
                self.put(p::COLOR, is_transparent(value));
                if !value.is_empty() && value != "inherit" {
                    self.foreground = Some(colour(value));
                }
            }
            "background-image" => self.backgrounds[0] = background(value),
            "background" => self.backgrounds[1] = background(value),
            "background-color" => self.backgrounds[2] = background(value),
            _ => {}
        }
    }

    fn put(&mut self, property: u32, hides: bool) {
        self.set |= property;
        self.hiding = if hides { self.hiding | property } else { self.hiding & !property };
    }

    /// Adds declarations that override these.
    pub(super) fn extend(&mut self, other: &Self) {
        self.hiding = self.hiding & !other.set | other.hiding;
        self.set |= other.set;
        self.foreground = other.foreground.or(self.foreground);
        for (own, other) in self.backgrounds.iter_mut().zip(other.backgrounds) {
            if !matches!(other, Background::Unset) {
                *own = other;
            }
        }
    }

    /// Whether there is nothing in it that matters here.
    fn is_empty(&self) -> bool {
        self.set == 0
            && self.foreground.is_none()
            && self.backgrounds.iter().all(|it| matches!(it, Background::Unset))
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
        self.backgrounds.iter().find_map(|background| match background {
            Background::Set(colour) => Some(*colour),
            Background::Unset | Background::Nothing => None,
        })
    }
}

/// A short word in lower case.
fn lower<'a>(text: &str, room: &'a mut [u8]) -> Option<&'a str> {
    let room = room.get_mut(..text.len())?;
    room.copy_from_slice(text.as_bytes());
    room.make_ascii_lowercase();
    std::str::from_utf8(room).ok()
}

fn background(value: &str) -> Background {
    match value {
        "" | "none" | "inherit" => Background::Nothing,
        value if is_transparent(value) => Background::Nothing,
        value => Background::Set(colour(value)),
    }
}

/// Text with this font size or less counts as hidden.
fn tiny(size: &str) -> f32 {
    if size.ends_with("em") || size.ends_with('%') { 0.05 } else { 1.0 }
}

fn tiny_box(size: &str) -> bool {
    !size.ends_with('%') && number(size).is_some_and(|size| (0.0..=1.0).contains(&size))
}

fn is_clipped(clip: &str) -> bool {
    let inner = clip.strip_prefix("rect(").map(|rest| rest.trim_end_matches(')'));
    inner.is_some_and(|inner| {
        let mut sides = inner.split([',', ' ']).filter(|side| !side.is_empty());
        sides.all(|side| number(side).is_some_and(|side| side.abs() <= 1.0))
    })
}

fn far_moved(transform: &str) -> bool {
    transform.contains("translate")
        && transform
            .split(['(', ',', ')'])
            .any(|part| number(part).is_some_and(|place| place <= FAR))
}

/// The number that a value begins with, if it is a length or plain.
fn number(value: &str) -> Option<f32> {
    let value = value.trim();
    let end = value.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+')));
    let (digits, unit) = value.split_at(end.unwrap_or(value.len()));
    let scale = match unit.trim() {
        "em" | "rem" | "ch" | "ex" if value.starts_with('-') => 16.0,
        "vw" | "vh" | "%" if value.starts_with('-') => 10.0,
        unit if unit.contains('(') => return None,
        _ => 1.0,
    };
    digits.parse::<f32>().ok().map(|number| number * scale)
}

fn is_transparent(value: &str) -> bool {
    let hex = value.strip_prefix('#').is_some_and(|hex| {
        hex.len() == 8 && hex.ends_with("00") || hex.len() == 4 && hex.ends_with('0')
    });
    let inner = value.strip_prefix("rgba(").map(|inner| inner.trim_end_matches(')'));
    let alpha = inner.and_then(|inner| inner.split([',', '/']).next_back());
    hex || value == "transparent"
        || alpha.is_some_and(|alpha| matches!(alpha.trim(), "0" | "0.0" | "0%"))
}

fn colour(value: &str) -> Colour {
    let first = value.trim();
    if let Some(hex) = first.strip_prefix('#') {
        let hex: Vec<u8> =
            hex.chars().map_while(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
        return match hex[..] {
            [r, g, b] | [r, g, b, _] => Some([r * 17, g * 17, b * 17]),
            [a, b, c, d, e, f, ..] => Some([a * 16 + b, c * 16 + d, e * 16 + f]),
            _ => None,
        };
    }
    if let Some(inner) = first.strip_prefix("rgb(").or_else(|| first.strip_prefix("rgba(")) {
        let parts =
            inner.trim_end_matches(')').split([',', ' ', '/']).filter(|part| !part.is_empty());
        let parts: Vec<u8> =
            parts.filter_map(|part| part.parse::<f32>().ok()).map(|part| part as u8).collect();
        return parts.first_chunk::<3>().copied();
    }
    match first.split(' ').next().unwrap_or_default() {
        "white" => WHITE,
        "black" => BLACK,
        "red" => Some([255, 0, 0]),
        "green" => Some([0, 128, 0]),
        "blue" => Some([0, 0, 255]),
        "yellow" => Some([255, 255, 0]),
        "gray" | "grey" => Some([128; 3]),
        "silver" => Some([192; 3]),
        "whitesmoke" => Some([245; 3]),
        "snow" => Some([255, 250, 250]),
        "ivory" => Some([255, 255, 240]),
        _ => None,
    }
}

/// Whether text cannot be distinguished from its background.
pub(super) fn blends(foreground: Colour, background: Colour) -> bool {
    let (Some(foreground), Some(background)) = (foreground, background) else { return false };
    foreground
        .iter()
        .zip(background)
        .all(|(foreground, background)| foreground.abs_diff(background) <= 4)
}

/// A rule: its place among all, the tag that it is limited to, and its declarations.
#[derive(Debug)]
struct Rule {
    place: usize,
    tag: String,
    declarations: Declarations,
}

/// The style sheets of a page, as far as they name elements by tag, class or id.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    tags: HashMap<String, Declarations>,
    classes: HashMap<String, Vec<Rule>>,
    ids: HashMap<String, Declarations>,
    count: usize,
}

impl Sheet {
    pub(super) fn add(&mut self, css: &str) {
        let css = without_comments(css);
        let mut rest = css.as_ref();
        while let Some(open) = rest.find('{') {
            let selectors = rest[..open].trim();
            let body = &rest[open + 1..];
            let end = end_of_block(body);
            // Rules under a condition are left out: other media may hide what a screen shows.
            if !selectors.starts_with('@') && self.count < RULES {
                self.rule(selectors, &body[..end]);
            }
            rest = body.get(end + 1..).unwrap_or_default();
        }
    }

    fn rule(&mut self, selectors: &str, body: &str) {
        let simple = |selector: &&str| {
            let mut bytes = selector.bytes();
            bytes.all(|c| c.is_ascii_alphanumeric() || c >= 0x80 || b"-_.#".contains(&c))
        };
        let mut declarations = None;
        for selector in selectors.split(',').map(str::trim).filter(simple) {
            let declarations = *declarations.get_or_insert_with(|| Declarations::parse(body));
            if declarations.is_empty() || selector.is_empty() || self.count >= RULES {
                return;
            }
            self.count += 1;
            let selector = selector.to_ascii_lowercase();
            match selector.find(['.', '#']) {
                None => self.tags.entry(selector).or_default().extend(&declarations),
                Some(at) => {
                    let (tag, name) = (&selector[..at], &selector[at + 1..]);
                    // Compound selectors are left out: they would need all their parts.
                    if name.contains(['.', '#']) {
                        continue;
                    }
                    if selector.as_bytes()[at] == b'#' {
                        self.ids.entry(name.to_owned()).or_default().extend(&declarations);
                    } else {
                        let rule = Rule { place: self.count, tag: tag.to_owned(), declarations };
                        self.classes.entry(name.to_owned()).or_default().push(rule);
                    }
                }
            }
        }
    }

    /// The style of an element: by tag, then class, then id; later rules override earlier ones.
    pub(super) fn of(&self, tag: &str, classes: &str, id: &str) -> Declarations {
        let mut all = self.tags.get(tag).copied().unwrap_or_default();
        if !self.classes.is_empty() && !classes.is_empty() {
            let mut named: Vec<&Rule> = Vec::new();
            let lowered = ascii_lowercase(classes);
            for class in lowered.split_whitespace() {
                let rules = self.classes.get(class).into_iter().flatten();
                named.extend(rules.filter(|rule| rule.tag.is_empty() || rule.tag == tag));
            }
            named.sort_by_key(|rule| rule.place);
            for rule in named {
                all.extend(&rule.declarations);
            }
        }
        if !self.ids.is_empty()
            && !id.is_empty()
            && let Some(declarations) = self.ids.get(ascii_lowercase(id).as_ref())
        {
            all.extend(declarations);
        }
        all
    }
}

fn ascii_lowercase(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

fn end_of_block(body: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in body.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    body.len()
}

fn without_comments(css: &str) -> Cow<'_, str> {
    if !css.contains("/*") {
        return Cow::Borrowed(css);
    }
    let mut out = String::with_capacity(css.len());
    let mut rest = css;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    Cow::Owned(out)
}
