//! How platforms count characters.

use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization as _;

use crate::pieces::{Piece, PieceKind, compiled};
use crate::platform::Platform;

/// The characters that X counts for a link of any length.
const X_LINK: usize = 23;

static EMOJI: LazyLock<Regex> = LazyLock::new(|| compiled(EMOJI_PATTERN));

/// Flags, keycaps, and pictures with their colours and joined parts.
const EMOJI_PATTERN: &str = concat!(
    r"\p{Regional_Indicator}{2}|[#*0-9]\x{FE0F}?\x{20E3}",
    r"|\p{Extended_Pictographic}(?:\x{FE0F}|\p{Emoji_Modifier})?[\x{E0020}-\x{E007F}]*",
    r"(?:\x{200D}\p{Extended_Pictographic}(?:\x{FE0F}|\p{Emoji_Modifier})?)*",
);

/// The places of the emoji in a text. Signs that are text unless they are followed by a selector, such as `©`, are none.
pub(crate) fn emoji(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    EMOJI.find_iter(text).filter(|found| is_emoji(found.as_str())).map(|found| found.range())
}

fn is_emoji(text: &str) -> bool {
    let first = text.chars().next().unwrap_or_default();
    let plain = matches!(first, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{21ff}');
    !plain || text.contains('\u{fe0f}') || text.contains('\u{20e3}')
}

/// The characters of a text as its platform counts them: code points; on X weighted, with 23 for each link.
pub(crate) fn characters(text: &str, pieces: &[Piece<'_>], platform: Platform) -> usize {
    if platform != Platform::X {
        return text.chars().count();
    }
    let mut count = 0;
    let mut at = 0;
    for link in pieces.iter().filter(|piece| piece.kind == PieceKind::Link) {
        count += weigh(&text[at..link.start]) + X_LINK;
        at = link.end();
    }
    count + weigh(&text[at..])
}

/// X counts each emoji, and each character of most scripts beyond the Latin, Greek, Cyrillic and Semitic ones, as two.
fn weigh(text: &str) -> usize {
    let mut count = 0;
    let mut at = 0;
    for place in emoji(text) {
        count += weigh_plain(&text[at..place.start]) + 2;
        at = place.end;
    }
    count + weigh_plain(&text[at..])
}

fn weigh_plain(text: &str) -> usize {
    let is_light =
        |c: char| matches!(u32::from(c), 0..=4351 | 8192..=8205 | 8208..=8223 | 8242..=8247);
    text.nfc().map(|c| if is_light(c) { 1 } else { 2 }).sum()
}
