//! Colours of CSS.

use super::value::{is_wide, quantity};

/// A colour as red, green and blue; none where it is not known, such as that of a picture.
pub(in crate::html) type Colour = Option<[u8; 3]>;

pub(in crate::html) const BLACK: Colour = Some([0; 3]);
pub(in crate::html) const WHITE: Colour = Some([255; 3]);

/// Less opaque colours are not seen.
const FAINT: f32 = 0.05;

/// The colours that have a name.
const NAMES: &str = "aliceblue f0f8ff antiquewhite faebd7 aqua 00ffff aquamarine 7fffd4 azure f0ffff beige f5f5dc bisque ffe4c4 black \
    000000 blanchedalmond ffebcd blue 0000ff blueviolet 8a2be2 brown a52a2a burlywood deb887 cadetblue 5f9ea0 \
    chartreuse 7fff00 chocolate d2691e coral ff7f50 cornflowerblue 6495ed cornsilk fff8dc crimson dc143c cyan 00ffff \
    darkblue 00008b darkcyan 008b8b darkgoldenrod b8860b darkgray a9a9a9 darkgreen 006400 darkgrey a9a9a9 darkkhaki \
    bdb76b darkmagenta 8b008b darkolivegreen 556b2f darkorange ff8c00 darkorchid 9932cc darkred 8b0000 darksalmon \
    e9967a darkseagreen 8fbc8f darkslateblue 483d8b darkslategray 2f4f4f darkslategrey 2f4f4f darkturquoise 00ced1 \
    darkviolet 9400d3 deeppink ff1493 deepskyblue 00bfff dimgray 696969 dimgrey 696969 dodgerblue 1e90ff firebrick \
    b22222 floralwhite fffaf0 forestgreen 228b22 fuchsia ff00ff gainsboro dcdcdc ghostwhite f8f8ff gold ffd700 \
    goldenrod daa520 gray 808080 green 008000 greenyellow adff2f grey 808080 honeydew f0fff0 hotpink ff69b4 \
    indianred cd5c5c indigo 4b0082 ivory fffff0 khaki f0e68c lavender e6e6fa lavenderblush fff0f5 lawngreen 7cfc00 \
    lemonchiffon fffacd lightblue add8e6 lightcoral f08080 lightcyan e0ffff lightgoldenrodyellow fafad2 lightgray \
    d3d3d3 lightgreen 90ee90 lightgrey d3d3d3 lightpink ffb6c1 lightsalmon ffa07a lightseagreen 20b2aa lightskyblue \
    87cefa lightslategray 778899 lightslategrey 778899 lightsteelblue b0c4de lightyellow ffffe0 lime 00ff00 \
    limegreen 32cd32 linen faf0e6 magenta ff00ff maroon 800000 mediumaquamarine 66cdaa mediumblue 0000cd \
    mediumorchid ba55d3 mediumpurple 9370db mediumseagreen 3cb371 mediumslateblue 7b68ee mediumspringgreen 00fa9a \
    mediumturquoise 48d1cc mediumvioletred c71585 midnightblue 191970 mintcream f5fffa mistyrose ffe4e1 moccasin \
    ffe4b5 navajowhite ffdead navy 000080 oldlace fdf5e6 olive 808000 olivedrab 6b8e23 orange ffa500 orangered \
    ff4500 orchid da70d6 palegoldenrod eee8aa palegreen 98fb98 paleturquoise afeeee palevioletred db7093 papayawhip \
    ffefd5 peachpuff ffdab9 peru cd853f pink ffc0cb plum dda0dd powderblue b0e0e6 purple 800080 rebeccapurple 663399 \
    red ff0000 rosybrown bc8f8f royalblue 4169e1 saddlebrown 8b4513 salmon fa8072 sandybrown f4a460 seagreen 2e8b57 \
    seashell fff5ee sienna a0522d silver c0c0c0 skyblue 87ceeb slateblue 6a5acd slategray 708090 slategrey 708090 \
    snow fffafa springgreen 00ff7f steelblue 4682b4 tan d2b48c teal 008080 thistle d8bfd8 tomato ff6347 turquoise \
    40e0d0 violet ee82ee wheat f5deb3 white ffffff whitesmoke f5f5f5 yellow ffff00 yellowgreen 9acd32";

/// Colours that depend on the system of the reader.
const SYSTEM: &str = "accentcolor accentcolortext activetext buttonborder buttonface buttontext canvas canvastext field \
    fieldtext graytext highlight highlighttext linktext mark marktext selecteditem selecteditemtext visitedtext window windowtext";

/// Functions that give a colour which is not computed here.
const UNKNOWN: [&str; 9] =
    ["var", "color-mix", "light-dark", "hwb", "lab", "lch", "oklab", "oklch", "color"];

/// What a value says about a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Paint {
    pub(super) colour: Colour,
    /// Whether nothing of it is seen.
    pub(super) is_clear: bool,
}

impl Paint {
    fn opaque(colour: Colour) -> Self {
        Self { colour, is_clear: false }
    }
}

/// Reads a colour in lower case; none if browsers would not accept it.
pub(super) fn paint(value: &str) -> Option<Paint> {
    if let Some(hex) = value.strip_prefix('#') {
        return hexadecimal(hex);
    }
    if let Some((name, inner)) = value.split_once('(') {
        return function(name, inner.trim_end_matches([')', ' ']));
    }
    if value == "transparent" {
        return Some(Paint { colour: None, is_clear: true });
    }
    let mut words = NAMES.split_ascii_whitespace();
    while let (Some(name), Some(hex)) = (words.next(), words.next()) {
        if name == value {
            return hexadecimal(hex);
        }
    }
    let is_system = !value.is_empty() && SYSTEM.split_ascii_whitespace().any(|name| name == value);
    is_system.then(|| Paint::opaque(None))
}

/// Whether a colour is that of the element around.
pub(super) fn is_inherited(value: &str) -> bool {
    value == "currentcolor" || is_wide(value)
}

fn hexadecimal(hex: &str) -> Option<Paint> {
    let digits: Option<Vec<u8>> =
        hex.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let (colour, alpha) = match digits?[..] {
        [r, g, b] => ([r * 17, g * 17, b * 17], 255),
        [r, g, b, a] => ([r * 17, g * 17, b * 17], a * 17),
        [a, b, c, d, e, f] => ([a * 16 + b, c * 16 + d, e * 16 + f], 255),
        [a, b, c, d, e, f, g, h] => ([a * 16 + b, c * 16 + d, e * 16 + f], g * 16 + h),
        _ => return None,
    };
    Some(Paint { colour: Some(colour), is_clear: f32::from(alpha) < FAINT * 255.0 })
}

fn function(name: &str, inner: &str) -> Option<Paint> {
    let parts = || inner.split([',', ' ', '/']).filter(|part| !part.is_empty());
    let colour = match name {
        name if UNKNOWN.contains(&name) => None,
        // A variable may be several numbers.
        "rgb" | "rgba" | "hsl" | "hsla" if inner.contains('(') => None,
        "rgb" | "rgba" => {
            let mut parts = parts().map(|part| component(part, 255.0));
            let mut next = || parts.next().flatten().map(|part| part.clamp(0.0, 255.0) as u8);
            Some([next()?, next()?, next()?])
        }
        "hsl" | "hsla" => {
            let mut parts = parts().skip(1).map(|part| component(part, 100.0));
            let (saturation, lightness) = (parts.next()??, parts.next()??);
            // Only greys matter here, and they need no hue.
            let is_grey = saturation < 1.0 || !(1.0..=99.0).contains(&lightness);
            is_grey.then(|| [(lightness.clamp(0.0, 100.0) * 2.55).round() as u8; 3])
        }
        _ => return None,
    };
    let opaque = ["var", "color-mix", "light-dark"].contains(&name);
    let is_clear = !opaque && alpha(inner).is_some_and(|alpha| alpha < FAINT);
    Some(Paint { colour, is_clear })
}

/// The opacity of a colour: behind a slash, or the last of four values. A variable may be the other three.
fn alpha(inner: &str) -> Option<f32> {
    let value = match inner.rsplit_once('/') {
        Some((_, alpha)) => Some(alpha),
        None if matches!(inner.matches(',').count(), 1 | 3) => inner.rsplit(',').next(),
        None => None,
    };
    component(value?.trim(), 1.0)
}

/// A number, or a percentage of `full`.
fn component(part: &str, full: f32) -> Option<f32> {
    match quantity(part) {
        Some((number, "%")) => Some(number / 100.0 * full),
        Some((number, "")) => Some(number),
        _ => (part == "none").then_some(0.0),
    }
}

/// Whether text cannot be distinguished from its background.
pub(in crate::html) fn blends(foreground: Colour, background: Colour) -> bool {
    let (Some(foreground), Some(background)) = (foreground, background) else { return false };
    foreground
        .iter()
        .zip(background)
        .all(|(foreground, background)| foreground.abs_diff(background) <= 4)
}

#[cfg(test)]
mod tests {
    use super::{Paint, WHITE, paint};

    #[test]
    fn colours_are_read_as_browsers_do() {
        for white in [
            "#fff",
            "#ffffffff",
            "white",
            "rgb(255,255,255)",
            "rgb(100% 100% 100%)",
            "rgba(255, 255, 255, .5)",
            "hsl(0 0% 100%)",
        ] {
            assert_eq!(paint(white), Some(Paint::opaque(WHITE)), "{white}");
        }
        for clear in [
            "transparent",
            "#0000",
            "#ffffff01",
            "rgb(0 0 0/0)",
            "rgb(0 0 0 / 1%)",
            "rgba(0,0,0,.0)",
            "rgba(0,0,0,1e-3)",
            "rgba(var(--rgb),0)",
            "hsl(0 0% 0%/0)",
            "oklch(0 0 0/0)",
        ] {
            assert!(paint(clear).is_some_and(|paint| paint.is_clear), "{clear}");
        }
        for unknown in ["var(--x)", "var(--x,0)", "color-mix(in srgb,red,blue)", "canvas"] {
            assert_eq!(paint(unknown), Some(Paint::opaque(None)), "{unknown}");
        }
        for wrong in ["", "x", "#ff", "#ggg", "rgb(1,2)", "rgb(a b c)", "colour(red)", "ffffff"] {
            assert_eq!(paint(wrong), None, "{wrong}");
        }
    }
}
