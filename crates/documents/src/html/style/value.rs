//! Values of properties that can hide: whether they do, or none if browsers would not accept them or they are not computed
//! here. All values are in lower case.

/// Further off the page than any design needs, in pixels.
const FAR: f32 = -900.0;

/// Text of this size or less counts as hidden, in pixels; boxes of this size as well.
const TINY: f32 = 1.0;

/// What `display` may be, other than `none`; several words can be combined.
const DISPLAYS: &str = "block inline inline-block flex inline-flex grid inline-grid table inline-table table-row table-cell \
    table-row-group table-header-group table-footer-group table-column table-column-group table-caption list-item contents \
    flow flow-root math ruby ruby-text -webkit-box -webkit-inline-box -webkit-flex -webkit-inline-flex";

const FONT_SIZES: &str =
    "xx-small x-small small medium large x-large xx-large xxx-large smaller larger math";

/// Values of `font` that name a font of the system.
const SYSTEM_FONTS: &str = "caption icon menu message-box small-caption status-bar";

const SIZES: &str = "auto none min-content max-content fit-content stretch -webkit-fill-available";

/// Whether a value fits every property and leaves it to another rule.
pub(super) fn is_wide(value: &str) -> bool {
    is_one_of(value, "inherit initial unset revert revert-layer")
}

pub(super) fn is_one_of(value: &str, words: &str) -> bool {
    !value.is_empty() && words.split_ascii_whitespace().any(|word| word == value)
}

/// Whether a keyword hides; `others` do not.
pub(super) fn keyword(value: &str, hiding: &str, others: &str) -> Option<bool> {
    let hides = is_one_of(value, hiding);
    let others = |value: &str| is_one_of(value, others);
    (hides || is_wide(value) || !value.is_empty() && value.split_ascii_whitespace().all(others))
        .then_some(hides)
}

pub(super) fn display(value: &str) -> Option<bool> {
    keyword(value, "none", DISPLAYS)
}

pub(super) fn opacity(value: &str) -> Option<bool> {
    match quantity(value) {
        Some((number, "")) => Some(number < 0.05),
        Some((number, "%")) => Some(number < 5.0),
        _ => is_wide(value).then_some(false),
    }
}

/// Functions such as `blur(2px) opacity(0)`: one that leaves nothing to see hides.
pub(super) fn filter(value: &str) -> Option<bool> {
    let functions = value.split(')').filter_map(|function| function.trim().split_once('('));
    let hides = |(name, inside): (&str, &str)| {
        name.trim() == "opacity" && opacity(inside.trim()) == Some(true)
    };
    (value == "none" || is_wide(value) || value.contains('('))
        .then(|| functions.into_iter().any(hides))
}

/// A size of text.
pub(super) fn font_size(value: &str) -> Option<bool> {
    length(value, 0.16, FONT_SIZES, |size| size <= TINY)
}

/// The size in a `font`, such as `italic 400 0/1 serif`.
pub(super) fn font(value: &str) -> Option<bool> {
    if is_wide(value) || is_one_of(value, SYSTEM_FONTS) {
        return Some(false);
    }
    let mut words = value.split_ascii_whitespace();
    let size = words.by_ref().find_map(|word| {
        let size = word.split('/').next().unwrap_or_default();
        // A number alone is the weight.
        let is_weight = matches!(quantity(word), Some((weight, "")) if weight >= 1.0);
        font_size(size).filter(|_| !is_weight)
    });
    // Without a family it is no font.
    size.filter(|_| words.next().is_some())
}

/// A distance that may be far off the page.
pub(super) fn offset(value: &str) -> Option<bool> {
    length(value, 10.0, "auto", |place| place <= FAR)
}

/// The size of a box that shows nothing of its text if the rest is cut off.
pub(super) fn tiny_box(value: &str) -> Option<bool> {
    // A part of another box.
    if matches!(quantity(value), Some((_, "%"))) {
        return Some(false);
    }
    length(value, 1.0, SIZES, |size| (0.0..=TINY).contains(&size))
}

pub(super) fn zero(value: &str) -> Option<bool> {
    length(value, 1.0, SIZES, |size| size == 0.0)
}

pub(super) fn clip(value: &str) -> Option<bool> {
    let Some(inner) = value.strip_prefix("rect(") else { return keyword(value, "", "auto") };
    let inner = inner.trim_end_matches(')');
    let mut sides = inner.split([',', ' ']).filter(|side| !side.is_empty());
    Some(sides.all(|side| pixels(side, 10.0).is_some_and(|side| side.abs() <= TINY)))
}

pub(super) fn clip_path(value: &str) -> Option<bool> {
    let Some((shape, inner)) = value.split_once('(') else { return keyword(value, "", "none") };
    let size = quantity(inner.trim_end_matches(')').trim());
    match shape {
        "inset" => Some(matches!(size, Some((size, "%")) if size >= 50.0)),
        "circle" => Some(matches!(size, Some((size, _)) if size == 0.0)),
        shape => is_one_of(shape, "ellipse polygon path rect xywh shape url").then_some(false),
    }
}

pub(super) fn transform(value: &str) -> Option<bool> {
    if !value.contains('(') {
        return keyword(value, "", "none");
    }
    let known = ["translate", "scale", "rotate", "skew", "matrix", "perspective"];
    if !known.iter().any(|name| value.starts_with(name)) {
        return None;
    }
    let moved = value.contains("translate")
        && value
            .split(['(', ',', ')'])
            .any(|part| pixels(part.trim(), 10.0).is_some_and(|place| place <= FAR));
    Some(moved || value.replace(' ', "").contains("scale(0)"))
}

/// Tests a length in pixels, of which 1 % is `percent`; `words` are other values.
fn length(value: &str, percent: f32, words: &str, hides: impl Fn(f32) -> bool) -> Option<bool> {
    if is_wide(value) || is_one_of(value, words) {
        return Some(false);
    }
    let length = pixels(value, percent)?;
    let hides = hides(length);
    // Only in old pages may the unit be missing.
    let has_unit = value.ends_with(|c: char| c.is_ascii_alphabetic() || c == '%');
    (hides || has_unit || length == 0.0).then_some(hides)
}

fn pixels(value: &str, percent: f32) -> Option<f32> {
    let (number, unit) = quantity(value)?;
    let scale = match unit {
        "" | "px" | "q" => 1.0,
        "%" => percent,
        "pt" => 1.33,
        "mm" => 3.8,
        "cm" => 38.0,
        "in" => 96.0,
        unit if is_one_of(unit, "em rem ch ex lh rlh ic cap pc") => 16.0,
        unit if is_one_of(unit, "cqw cqh cqi cqb cqmin cqmax") => 10.0,
        // Of the window: also small, large and dynamic ones.
        unit => {
            let of_window = unit.strip_prefix(['s', 'l', 'd']).unwrap_or(unit);
            is_one_of(of_window, "vw vh vi vb vmin vmax").then_some(10.0)?
        }
    };
    Some(number * scale)
}

/// The number that a value begins with, and its unit.
pub(super) fn quantity(value: &str) -> Option<(f32, &str)> {
    let bytes = value.as_bytes();
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let has_sign = |at: usize| usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
    let mut end = has_sign(0);
    end += digits(end);
    if bytes.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    if bytes.get(end) == Some(&b'e') {
        let exponent = end + 1 + has_sign(end + 1);
        if digits(exponent) > 0 {
            end = exponent + digits(exponent);
        }
    }
    let (number, unit) = value.split_at(end);
    Some((number.parse().ok()?, unit))
}

#[cfg(test)]
mod tests {
    use super::{clip_path, display, filter, font, font_size, offset, opacity, quantity};

    #[test]
    fn numbers_have_units() {
        for (value, number, unit) in [
            ("1", 1.0, ""),
            ("-.5em", -0.5, "em"),
            ("1e-2px", 0.01, "px"),
            ("1ex", 1.0, "ex"),
            ("+5%", 5.0, "%"),
        ] {
            assert_eq!(quantity(value), Some((number, unit)), "{value}");
        }
        for wrong in ["", "-", "px", "e3", ".", "auto"] {
            assert_eq!(quantity(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn values_hide_or_show_or_are_wrong() {
        let (hides, shows) = (Some(true), Some(false));
        assert_eq!(["none", "inline flex", "unset"].map(display), [hides, shows, shows]);
        assert_eq!(["x", "", "none x", "none none"].map(display), [None; 4]);
        assert_eq!(
            ["1%", "0.04", "1e-3", "50%", ".5"].map(opacity),
            [hides, hides, hides, shows, shows]
        );
        assert_eq!(["x", "1px", ""].map(opacity), [None; 3]);
        assert_eq!(
            ["opacity(0)", "blur(2px) opacity( 1% )", "opacity(1)", "none", "x"].map(filter),
            [Some(true), Some(true), Some(false), Some(false), None]
        );
        assert_eq!(["0", "1px", "1%", "0.01em"].map(font_size), [hides; 4]);
        assert_eq!(["12px", "0.9em", "80%", "small", "1vw"].map(font_size), [shows; 5]);
        assert_eq!(["x", "12", "12foo", "calc(1px)"].map(font_size), [None; 4]);
        assert_eq!(["0/0 a", "italic 400 0 serif", "bold 0.1px/1 a"].map(font), [hides; 3]);
        assert_eq!(["400 12px/1.5 a", "menu", "small a", "inherit"].map(font), [shows; 4]);
        assert_eq!(["0", "400", "x y", ""].map(font), [None; 4]);
        assert_eq!(["-999em", "-9999", "-100vw"].map(offset), [hides; 3]);
        assert_eq!(["0", "-5px", "auto"].map(offset), [shows; 3]);
        assert_eq!(["x", "5", "-5px y"].map(offset), [None; 3]);
        assert_eq!(["inset(50%)", "inset(100%)", "circle(0px)"].map(clip_path), [hides; 3]);
        assert_eq!(["none", "inset(5%)", "polygon(0 0)"].map(clip_path), [shows; 3]);
        assert_eq!(["x", "x(1)"].map(clip_path), [None; 2]);
    }
}
