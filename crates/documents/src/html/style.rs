//! The part of CSS that is needed to find hidden text.

use std::collections::HashMap;

/// A colour as red, green and blue; none where it is not known, such as that of a picture.
pub(super) type Colour = Option<[u8; 3]>;

pub(super) const BLACK: Colour = Some([0; 3]);
pub(super) const WHITE: Colour = Some([255; 3]);

/// Rules longer than this are left out: hiding takes a few, and a page may bring megabytes.
const RULES: usize = 20_000;

/// Further off the page than any design needs, in pixels.
const FAR: f32 = -900.0;

/// The properties of an element's style.
#[derive(Debug, Default, Clone)]
pub(super) struct Declarations(HashMap<String, String>);

impl Declarations {
    pub(super) fn parse(text: &str) -> Self {
        let mut declarations = Self::default();
        declarations.add(text);
        declarations
    }

    fn add(&mut self, text: &str) {
        for declaration in text.split(';') {
            if let Some((name, value)) = declaration.split_once(':') {
                let value = value.trim().to_ascii_lowercase();
                let value = value.trim_end_matches("!important").trim_end().to_owned();
                self.0.insert(name.trim().to_ascii_lowercase(), value);
            }
        }
    }

    pub(super) fn extend(&mut self, other: &Self) {
        self.0.extend(other.0.iter().map(|(name, value)| (name.clone(), value.clone())));
    }

    pub(super) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Whether this style hides an element, apart from its colours.
    pub(super) fn hides(&self) -> bool {
        let zero = |name: &str| number(self.get(name)).is_some_and(|size| size == 0.0);
        let clipped = self.get("overflow") == "hidden" || self.get("overflow").starts_with("clip");
        self.get("display") == "none"
            || matches!(self.get("visibility"), "hidden" | "collapse")
            || self.get("content-visibility") == "hidden"
            || number(self.get("opacity")).is_some_and(|opacity| opacity < 0.05)
            || number(self.get("font-size")).is_some_and(|size| size <= tiny(self.get("font-size")))
            || (clipped
                && ["width", "height", "max-height", "max-width"]
                    .into_iter()
                    .any(|it| tiny_box(self.get(it))))
            || (zero("width") && zero("height"))
            || ["left", "top", "right", "bottom", "text-indent", "margin-left", "margin-top"]
                .into_iter()
                .any(|name| number(self.get(name)).is_some_and(|place| place <= FAR))
            || is_clipped(self.get("clip"))
            || matches!(
                self.get("clip-path"),
                "inset(50%)" | "inset(100%)" | "circle(0)" | "circle(0px)"
            )
            || self.get("transform").replace(' ', "").contains("scale(0)")
            || far_moved(self.get("transform"))
            || matches!(self.get("color"), "transparent" | "rgba(0,0,0,0)" | "rgba(0, 0, 0, 0)")
    }

    /// The colour of the text, if the style sets one.
    pub(super) fn foreground(&self) -> Option<Colour> {
        Some(self.get("color")).filter(|it| !it.is_empty() && *it != "inherit").map(colour)
    }

    /// The colour behind the text, if the style sets one.
    pub(super) fn background(&self) -> Option<Colour> {
        let set = ["background-image", "background", "background-color"]
            .into_iter()
            .map(|name| self.get(name))
            .find(|it| !it.is_empty() && !matches!(*it, "none" | "transparent" | "inherit"))?;
        Some(colour(set))
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

/// The style sheets of a page, as far as they name elements by tag, class or id.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    rules: HashMap<String, Vec<(usize, Declarations)>>,
    count: usize,
}

impl Sheet {
    pub(super) fn add(&mut self, css: &str) {
        let css = without_comments(css);
        let mut rest = css.as_str();
        while let Some(open) = rest.find('{') {
            let selectors = rest[..open].trim();
            let body = &rest[open + 1..];
            let end = end_of_block(body);
            // Rules under a condition are left out: other media may hide what a screen shows.
            if !selectors.starts_with('@') {
                self.rule(selectors, &body[..end]);
            }
            rest = body.get(end + 1..).unwrap_or_default();
        }
    }

    fn rule(&mut self, selectors: &str, body: &str) {
        let declarations = Declarations::parse(body);
        for selector in selectors.split(',').map(|selector| selector.trim().to_ascii_lowercase()) {
            let simple =
                selector.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '#'));
            if simple && self.count < RULES {
                self.count += 1;
                self.rules.entry(selector).or_default().push((self.count, declarations.clone()));
            }
        }
    }

    /// The style of an element: by tag, then class, then id; later rules override earlier ones.
    pub(super) fn of(&self, tag: &str, classes: &str, id: &str) -> Declarations {
        let mut all = Declarations::default();
        if self.rules.is_empty() {
            return all;
        }
        let (classes, id) = (classes.to_ascii_lowercase(), id.to_ascii_lowercase());
        let mut named: Vec<&(usize, Declarations)> = Vec::new();
        for class in classes.split_whitespace() {
            for key in [format!(".{class}"), format!("{tag}.{class}")] {
                named.extend(self.rules.get(&key).into_iter().flatten());
            }
        }
        named.sort_by_key(|(place, _)| *place);
        let tags = self.rules.get(tag).into_iter().flatten();
        let ids = self.rules.get(&format!("#{id}")).into_iter().flatten();
        for (_, declarations) in tags.chain(named).chain(ids) {
            all.extend(declarations);
        }
        all
    }
}

fn end_of_block(body: &str) -> usize {
    let mut depth = 0_usize;
    for (at, character) in body.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => return at,
            '}' => depth -= 1,
            _ => {}
        }
    }
    body.len()
}

fn without_comments(css: &str) -> String {
    let mut out = String::with_capacity(css.len());
    let mut rest = css;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}
