//! The beginning of a text, which decides whether people read on.

use std::ops::Range;

use language::prose::sentences;
use serde::Serialize;

use crate::cues::{Cue, Cues, Word, segments};
use crate::pieces::{Piece, PieceKind};

/// An emoji after fewer words is part of the sentence.
const FEWEST_WORDS: usize = 3;

/// Longer beginnings are cut, in characters.
const LONGEST: usize = 280;

/// The first sentence or line with words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// Its bytes in the text.
    pub place: Range<usize>,
    pub kind: HookKind,
}

/// How a text begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookKind {
    Question,
    HowTo,
    Story,
    Offer,
    Number,
    Claim,
    None,
}

impl HookKind {
    pub const ALL: [Self; 7] = [
        Self::HowTo,
        Self::Question,
        Self::Number,
        Self::Story,
        Self::Offer,
        Self::Claim,
        Self::None,
    ];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::HowTo => "how_to",
            Self::Story => "story",
            Self::Offer => "offer",
            Self::Number => "number",
            Self::Claim => "claim",
            Self::None => "none",
        }
    }

    /// Its value in scores, from 0 to 1.
    pub fn value(self) -> f64 {
        match self {
            Self::HowTo => 1.0,
            Self::Question | Self::Number | Self::Story => 0.9,
            Self::Offer | Self::Claim => 0.8,
            Self::None => 0.3,
        }
    }
}

/// The hook of a text; `None` if it has no words.
pub(crate) fn find(
    text: &str,
    pieces: &[Piece<'_>],
    words: &[Word],
    language: Option<&str>,
) -> Option<Hook> {
    let first = words.first()?.start;
    let line = text[..first].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let line_end = text[first..].find(['\n', '\r']).map_or(text.len(), |at| first + at);
    let within = &text[line..line_end];
    let sentence = sentences(within)
        .map(|sentence| {
            let start = line + (sentence.text.as_ptr() as usize - within.as_ptr() as usize);
            start..start + sentence.text.len()
        })
        .find(|place| place.end > first)?;
    let place = cut(text, trim(text, pieces, sentence));
    let kind = classify(text, &place, words, language);
    Some(Hook { place, kind })
}

/// Without the hashtags and emoji at its end. An emoji before a capital ends a sentence, too.
fn trim(text: &str, pieces: &[Piece<'_>], place: Range<usize>) -> Range<usize> {
    let first = pieces.partition_point(|piece| piece.start < place.start);
    let own = &pieces[first..pieces.partition_point(|piece| piece.start < place.end)];
    let mut end = place.end;
    let mut count = 0;
    for piece in own {
        count += usize::from(piece.kind == PieceKind::Word);
        let next = text[piece.end()..place.end].trim_start().chars().next();
        let begins = next.is_some_and(|next| next.is_uppercase() || matches!(next, '¡' | '¿'));
        if piece.kind == PieceKind::Emoji && count >= FEWEST_WORDS && begins {
            end = piece.start;
            break;
        }
    }
    let last = own.iter().rfind(|piece| {
        let said = matches!(piece.kind, PieceKind::Word | PieceKind::Link | PieceKind::Break);
        said && piece.end() <= end && !piece.text.trim().is_empty()
    });
    let end = last.map_or(end, Piece::end);
    let closed = text[end..place.end].chars().take_while(|c| matches!(c, '"' | '”' | '’' | '»'));
    place.start..end + closed.map(char::len_utf8).sum::<usize>()
}

fn cut(text: &str, place: Range<usize>) -> Range<usize> {
    let end = text[place.clone()]
        .char_indices()
        .nth(LONGEST)
        .map_or(place.end, |(at, _)| place.start + at);
    place.start..end
}

fn classify(text: &str, place: &Range<usize>, words: &[Word], language: Option<&str>) -> HookKind {
    let own = words.partition_point(|word| word.end <= place.end);
    let words = &words[words.partition_point(|word| word.start < place.start)..own];
    let cues = Cues::of(language);
    let has = |cue: Cue| {
        segments(words).any(|segment| cues.iter().any(|cues| cues.find(cue, segment).is_some()))
    };
    let begins = |cue: Cue, within: usize| {
        segments(words).any(|segment| {
            let starts = (0..segment.len().min(within)).map(|at| &segment[at..]);
            starts
                .into_iter()
                .any(|rest| cues.iter().any(|cues| cues.match_start(cue, rest).is_some()))
        })
    };
    if ends_as_question(&text[place.clone()]) {
        HookKind::Question
    } else if begins(Cue::HowTo, 1) {
        HookKind::HowTo
    } else if begins(Cue::Story, 2) {
        HookKind::Story
    } else if has(Cue::Offer) || begins(Cue::Gift, 1) || begins(Cue::Urgency, 1) {
        HookKind::Offer
    } else if has_number(words, &cues) {
        HookKind::Number
    } else if has(Cue::HowTo) {
        HookKind::HowTo
    } else if has(Cue::Claim) {
        HookKind::Claim
    } else {
        HookKind::None
    }
}

/// Whether a sentence ends with a question mark, before closing quotes and emoji.
pub(crate) fn ends_as_question(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(|c: char| {
        !c.is_alphanumeric() && !matches!(c, '?' | '？' | '؟' | '.' | '!' | ':' | '…')
    });
    // "Really?!" asks, too.
    end.trim_end_matches(['!', '.', '…']).ends_with(['?', '？', '؟'])
}

/// Months and marks of times: a number before one of them is a date or a time.
const DATES: &str = "january february march april may june july august september october november december \
    januar februar märz mai juni juli oktober dezember janvier février mars avril juin juillet août septembre \
    octobre novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre \
    diciembre jan feb apr jun jul aug sep sept oct nov dec uhr am pm st nd rd th";

/// Such as `8h` and `8h12`.
fn is_french_time(text: &str) -> bool {
    text.split_once('h').is_some_and(|(hours, minutes)| {
        let digits = |part: &str| part.len() <= 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        digits(hours) && digits(minutes)
    })
}

/// Whether there is a number that is no date or time, or a number word at the beginning.
pub(crate) fn has_number(words: &[Word], cues: &[&Cues]) -> bool {
    let digits = words.iter().enumerate().any(|(at, word)| {
        let text = word.folded.as_str();
        let year = text.len() == 4
            && (text.starts_with("19") || text.starts_with("20"))
            && text.bytes().all(|byte| byte.is_ascii_digit());
        // Spanish has a word between: "3 de mayo".
        let after = words[at + 1..].iter().find(|next| next.folded != "de");
        let dated =
            after.is_some_and(|next| DATES.split_whitespace().any(|date| date == next.folded));
        let ordinal = ["st", "nd", "rd", "th", "am", "pm"].iter().any(|end| text.ends_with(end));
        text.starts_with(|c: char| c.is_ascii_digit())
            && !(year || dated || ordinal || text.contains(':') || is_french_time(text))
    });
    digits || cues.iter().any(|cues| cues.match_start(Cue::Numbers, words).is_some())
}
