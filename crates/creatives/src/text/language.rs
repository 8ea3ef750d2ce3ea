//! The language of a short text.

use analysis::sentiment::{self, EmotionWord};
use language::prose::Language;

use crate::cues::{Cue, Cues, Word, segments};

/// What each sign of a language counts.
const PHRASE: usize = 3;
const FUNCTION_WORD: usize = 2;
const CHARACTER: usize = 2;

/// At most this many words with an emotion count, one each.
const MOST_EMOTION: usize = 4;

/// Texts with fewer words have too few function words to be sure.
const SHORT: usize = 16;

/// Posts are short and have few function words: phrases and characters of the languages decide with them.
pub(super) fn detect(prose: &str, words: &[Word]) -> Option<&'static str> {
    let detected = Language::detect(prose).map(Language::code);
    let ours = |code: &str| Cues::all().iter().any(|cues| cues.language == code);
    if words.len() >= SHORT && detected.is_some() {
        return detected;
    }
    // Another language is kept unless one of ours is much more likely.
    let other = detected
        .filter(|code| !ours(code))
        .map_or(0, |code| function_words(code, words) * FUNCTION_WORD + FUNCTION_WORD);
    if prose.chars().any(is_foreign) {
        return detected;
    }
    let mut points: Vec<(usize, &'static str)> =
        Cues::all().iter().map(|cues| (points(cues, prose, words), cues.language)).collect();
    points.sort_by_key(|(points, _)| std::cmp::Reverse(*points));
    let [(most, language), (second, _), ..] = points[..] else { return detected };
    if most > second && most > other { Some(language) } else { detected }
}

/// Whether a character belongs to a script that none of our languages uses.
pub(super) fn is_foreign(c: char) -> bool {
    c.is_alphabetic() && !matches!(u32::from(c), 0..=0x24f | 0x1e00..=0x1eff | 0x1d400..=0x1d7ff)
}

/// Enough of a text to find its language.
fn beginning(prose: &str) -> &str {
    let end = prose.char_indices().nth(500).map_or(prose.len(), |(at, _)| at);
    &prose[..end]
}

/// Emoji have no language, and are shorter.
fn is_word(word: &&EmotionWord) -> bool {
    word.place.len() > 4
}

fn function_words(language: &str, words: &[Word]) -> usize {
    Language::named(language)
        .map_or(0, |language| words.iter().filter(|word| language.has(&word.folded)).count())
}

fn points(cues: &Cues, prose: &str, words: &[Word]) -> usize {
    let phrases =
        [Cue::Action, Cue::Anywhere, Cue::HowTo, Cue::Offer, Cue::Claim, Cue::Urgency, Cue::Story];
    let phrases = phrases
        .into_iter()
        .filter(|cue| segments(words).any(|segment| cues.find(*cue, segment).is_some()));
    let function_words = function_words(cues.language, words);
    let own: &[char] = match cues.language {
        "de" => &['ß', 'ä', 'ö', 'ü', 'Ä', 'Ö', 'Ü'],
        "fr" => &['ç', 'œ', 'ê', 'è', 'à', 'ù', 'î', 'ô', 'â', 'É', 'À'],
        "es" => &['ñ', '¿', '¡', 'í', 'ó', 'ú', 'á', 'Ñ'],
        _ => &[],
    };
    let emotion = sentiment::measure(beginning(prose), Some(cues.language));
    let emotion = emotion.map_or(0, |found| found.words.iter().filter(is_word).count());
    phrases.count() * PHRASE
        + emotion.min(MOST_EMOTION)
        + function_words * FUNCTION_WORD
        + usize::from(prose.contains(own)) * CHARACTER
}
