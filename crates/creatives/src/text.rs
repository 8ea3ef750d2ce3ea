//! Measures of a text: language, length, tags, links and phrases.

mod language;

use analysis::quality::Readability;
use analysis::sentiment::{self, Sentiment};

pub use crate::hook::{Hook, HookKind};

use crate::cues::{Cue, Cues, Word, segments, words};
use crate::pieces::{Piece, PieceKind, fold, is_styled, take_apart};
use crate::platform::Platform;
use crate::{call_to_action, count, hook};

/// More characters than this are counted, but not read: no platform takes so many.
pub const MOST_READ: usize = 100_000;

/// Fewer words have no reading ease.
const FEWEST_WORDS: usize = 5;

/// The fewest lines with item marks that make a list.
const LIST_LINES: usize = 3;

/// The measures of a text; positions are bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct TextReport {
    /// As an ISO 639-1 code, if it is known.
    pub language: Option<&'static str>,
    pub hook: Option<Hook>,
    pub call_to_action: Option<std::ops::Range<usize>>,
    /// Flesch reading ease.
    pub reading_ease: Option<f64>,
    /// `None` if there is no list for the language.
    pub emotion: Option<Emotion>,
    pub length: Length,
    pub hashtags: Vec<String>,
    pub links: Vec<String>,
    pub mentions: Vec<String>,
    pub emoji: Vec<String>,
    pub traits: Traits,
    /// Whether the text was not read to its end.
    pub cut: bool,
}

/// The emotion of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Emotion {
    /// From -1 to 1.
    pub valence: f64,
    /// From 0 to 1.
    pub intensity: f64,
    /// Each once, in the order of the text.
    pub words: Vec<String>,
}

/// How long a text is, in characters as the platform counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    pub characters: usize,
    pub limit: Option<usize>,
    /// How many are shown before "see more"; all of a shorter text.
    pub shown: Option<usize>,
}

/// What scores and findings need beyond the report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Traits {
    pub words: usize,
    /// Whether there are phrases for the language; without them what was not found is not known.
    pub phrases_known: bool,
    pub asks: bool,
    pub has_number: bool,
    pub how_to: bool,
    pub list: bool,
    pub offer: bool,
    pub urgency: bool,
    /// Whether it says that the link is in the profile.
    pub names_profile_link: bool,
    pub exclamations: usize,
    /// Words in capitals, and their share of words with four characters and more.
    pub shouted: usize,
    pub shouted_share: f64,
    pub bait: Option<std::ops::Range<usize>>,
    pub first_link: Option<std::ops::Range<usize>>,
    pub placeholder: Option<std::ops::Range<usize>>,
    pub hashtag_count: usize,
    pub styled: usize,
    pub invisible: usize,
    /// Where the hook ends, in characters as the platform counts them.
    pub hook_end: usize,
}

/// Whether a text has something to read: a word, a number or an emoji.
pub fn has_content(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric) || count::emoji(text).next().is_some()
}

/// Reads a text.
pub fn read(whole: &str, platform: Platform) -> TextReport {
    let end = whole.char_indices().nth(MOST_READ).map_or(whole.len(), |(at, _)| at);
    let text = &whole[..end];
    let pieces = take_apart(text);
    let words = words(&pieces);
    let prose = prose(text, &pieces);
    let language = language::detect(&prose, &words);
    let hook = hook::find(text, &pieces, &words, language);
    let rules = platform.rules();
    let characters = count::characters(text, &pieces, platform) + whole[end..].chars().count();
    let mut traits = traits(text, &pieces, &words, language);
    if let Some(hook) = &hook {
        let until = pieces.partition_point(|piece| piece.start < hook.place.end);
        traits.hook_end = count::characters(&text[..hook.place.end], &pieces[..until], platform);
        traits.how_to |= hook.kind == HookKind::HowTo;
    }
    TextReport {
        language,
        call_to_action: call_to_action::find(&words, language),
        hook,
        reading_ease: (traits.words >= FEWEST_WORDS)
            .then(|| Readability::measure(&prose, language).flesch)
            .flatten(),
        emotion: sentiment::measure(&prose, language).map(|found| emotion(&prose, &found)),
        length: Length {
            characters,
            limit: rules.limit,
            shown: rules.shown.map(|shown| shown.min(characters)),
        },
        hashtags: listed(&pieces, PieceKind::Hashtag, true),
        links: listed(&pieces, PieceKind::Link, false),
        mentions: listed(&pieces, PieceKind::Mention, true),
        emoji: listed(&pieces, PieceKind::Emoji, false),
        traits,
        cut: end < whole.len(),
    }
}

/// The text without hashtags, mentions and links, in plain characters.
fn prose(text: &str, pieces: &[Piece<'_>]) -> String {
    let mut prose = String::with_capacity(text.len());
    let mut at = 0;
    for piece in pieces {
        use PieceKind::{Email, Hashtag, Link, Mention, Word};
        prose += &text[at..piece.start];
        match piece.kind {
            Hashtag | Mention | Link | Email => {}
            Word if piece.text.is_ascii() => prose += piece.text,
            Word => prose += &plain(piece.text),
            _ => prose += piece.text,
        }
        at = piece.end();
    }
    prose + &text[at..]
}

/// A word without styled characters and invisible characters, with its capitals.
fn plain(word: &str) -> String {
    use unicode_normalization::UnicodeNormalization as _;
    word.nfkc().filter(|c| !is_hidden(*c)).collect()
}

fn is_hidden(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

fn emotion(prose: &str, found: &Sentiment) -> Emotion {
    let mut words: Vec<String> = Vec::new();
    for word in &found.words {
        let word = &prose[word.place.clone()];
        if !words.iter().any(|known| known.eq_ignore_ascii_case(word)) {
            words.push(word.to_owned());
        }
        if words.len() == 50 {
            break;
        }
    }
    Emotion { valence: found.valence, intensity: found.intensity, words }
}

/// The pieces of a kind, each once.
fn listed(pieces: &[Piece<'_>], kind: PieceKind, folded: bool) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let own = pieces.iter().filter(|piece| piece.kind == kind);
    let fresh = own
        .filter(|piece| seen.insert(if folded { fold(piece.text) } else { piece.text.to_owned() }));
    fresh.map(|piece| piece.text.to_owned()).collect()
}

fn traits(text: &str, pieces: &[Piece<'_>], words: &[Word], language: Option<&str>) -> Traits {
    let cues = Cues::of(language);
    let has = |cue: Cue| {
        segments(words).any(|segment| cues.iter().any(|cues| cues.find(cue, segment).is_some()))
    };
    let bait = segments(words).find_map(|segment| {
        let (at, length) = cues.iter().find_map(|cues| cues.find(Cue::Bait, segment))?;
        Some(segment[at].start..segment[at + length - 1].end)
    });
    let long = |piece: &&Piece<'_>| {
        piece.kind == PieceKind::Word
            && piece.text.chars().filter(|c| c.is_alphabetic()).nth(3).is_some()
    };
    let capitals = |piece: &&Piece<'_>| {
        piece.text.chars().all(|c| !c.is_lowercase()) && piece.text.chars().any(char::is_uppercase)
    };
    let long_words = pieces.iter().filter(long).count();
    let shouted = pieces.iter().filter(long).filter(capitals).count();
    let link = pieces.iter().find(|piece| piece.kind == PieceKind::Link);
    let lines = text.lines().filter(|line| is_item(line.trim_start())).count();
    Traits {
        words: words.iter().filter(|word| word.folded.chars().any(char::is_alphabetic)).count(),
        phrases_known: language.map_or_else(
            || !words.iter().any(|word| word.folded.chars().any(language::is_foreign)),
            |language| Cues::all().iter().any(|cues| cues.language == language),
        ),
        asks: text.split_inclusive(['?', '？', '؟']).any(hook::ends_as_question),
        has_number: hook::has_number(words, &cues),
        how_to: false,
        list: lines >= LIST_LINES,
        offer: has(Cue::Offer)
            || segments(words).any(|segment| {
                cues.iter().any(|cues| cues.match_start(Cue::Gift, segment).is_some())
            }),
        urgency: has(Cue::Urgency),
        names_profile_link: names_profile_link(words),
        exclamations: text.matches(['!', '！']).count(),
        shouted,
        shouted_share: shouted as f64 / long_words.max(1) as f64,
        bait,
        first_link: link.map(|link| link.start..link.end()),
        placeholder: placeholder(text),
        hashtag_count: pieces.iter().filter(|piece| piece.kind == PieceKind::Hashtag).count(),
        styled: text.chars().filter(|c| is_styled(*c)).count(),
        invisible: text.chars().filter(|c| is_hidden(*c)).count(),
        hook_end: 0,
    }
}

fn is_item(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered =
        rest.len() < line.len() && (rest.starts_with(['.', ')', '️', '⃣']) || rest.starts_with("/ "));
    numbered
        || line.starts_with(['•', '✅', '✔', '→', '➡', '👉', '▪', '◾', '🔹', '⭐', '✨', '☑'])
        || line.starts_with("- ")
        || line.starts_with("– ")
        || line.starts_with("* ")
}

/// "Link in bio", in any of our languages.
fn names_profile_link(words: &[Word]) -> bool {
    segments(words).any(|segment| {
        let at = |names: &[&str]| segment.iter().any(|word| names.contains(&word.folded.as_str()));
        at(&["link", "lien", "enlace", "links"]) && at(&["bio", "profil", "profile", "perfil"])
    })
}

/// The first placeholder that should be replaced before the text is posted.
fn placeholder(text: &str) -> Option<std::ops::Range<usize>> {
    static PLACEHOLDER: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| {
        crate::pieces::compiled(
            r"(?i)\{\{[^{}\n]{1,40}\}\}|\[(?:your|insert|link|name|brand|product|company|date|dein|ihr|votre|ton|tu|su|nombre|enlace|lien|datum)\b[^\]\n]{0,40}\]|<(?:your|insert|name|link)[^>\n]{0,40}>|lorem ipsum|\bXX+ ?%",
        )
    });
    PLACEHOLDER.find(text).map(|found| found.range())
}

#[cfg(test)]
mod tests;
