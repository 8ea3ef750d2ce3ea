//! Whether text of an Office document can be seen.

use crate::xml::Element;

/// Text below two points counts as hidden; sizes are in half points.
const TINY: u32 = 4;

/// White and what looks the same, in each channel.
const NEARLY_WHITE: u8 = 0xfb;

/// What a run or a style says about its text; none where it leaves that to the style below.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Look {
    vanished: Option<bool>,
    tiny: Option<bool>,
    white: Option<bool>,
    /// Whether there is a colour behind the text.
    pub(super) backed: Option<bool>,
}

impl Look {
    /// Takes what an element of the properties says.
    pub(super) fn read(&mut self, element: &Element<'_>) {
        let value = || element.attribute("val");
        match element.name() {
            "vanish" => self.vanished = Some(element.is_on()),
            "sz" => {
                let size = value().and_then(|size| size.parse::<u32>().ok());
                self.tiny = size.map(|size| size < TINY).or(self.tiny);
            }
            // In slides, in hundredths of a point.
            "rPr" => {
                let size = element.attribute("sz").and_then(|size| size.parse::<u32>().ok());
                self.tiny = size.map(|size| size < TINY * 50).or(self.tiny);
            }
            "color" => self.white = Some(value().is_some_and(|colour| is_white(&colour))),
            "highlight" => {
                self.backed = Some(!matches!(value().as_deref(), Some("white" | "none")));
            }
            "shd" if is_shaded(element) => self.backed = Some(true),
            _ => {}
        }
    }

    /// The same look, completed by that of the style below.
    pub(super) fn or(self, below: Self) -> Self {
        Self {
            vanished: self.vanished.or(below.vanished),
            tiny: self.tiny.or(below.tiny),
            white: self.white.or(below.white),
            backed: self.backed.or(below.backed),
        }
    }

    /// Whether the text is hidden, if what is around it is white.
    pub(super) fn is_hidden(self) -> bool {
        let is = |it: Option<bool>| it == Some(true);
        is(self.vanished) || is(self.tiny) || is(self.white) && !is(self.backed)
    }
}

/// Whether a `shd` sets a colour on which white text can be read.
pub(super) fn is_shaded(element: &Element<'_>) -> bool {
    element.attribute("fill").is_some_and(|fill| fill != "auto" && !is_white(&fill))
}

fn is_white(colour: &str) -> bool {
    let channel =
        |at: usize| colour.get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    colour.len() == 6
        && [0, 2, 4].iter().all(|at| channel(*at).is_some_and(|it| it >= NEARLY_WHITE))
}
