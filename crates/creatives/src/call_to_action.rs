//! What a text asks its readers to do.

use std::ops::Range;

use crate::cues::{Cue, Cues, Word, segments};

/// The longest call to action that is quoted, in words.
const MOST_WORDS: usize = 14;

/// At most this many lead-in phrases come before an imperative.
const MOST_LEADS: usize = 3;

/// German infinitives are calls to action after one of these: "Jetzt Termin buchen".
const NOW: [&str; 8] =
    ["jetzt", "hier", "gleich", "heute", "direkt", "einfach", "schnell", "online"];

/// The place of the last call to action of a text: it is the one that a reader acts on.
pub(crate) fn find(words: &[Word], language: Option<&str>) -> Option<Range<usize>> {
    let own = Cues::of(language);
    let english = &Cues::all()[0];
    let mut found = None;
    for segment in segments(words) {
        let mut start = own.iter().filter_map(|cues| find_in(cues, segment)).min();
        if start.is_none() {
            // Ads in other languages use the English phrases, too.
            start = english.find(Cue::Anywhere, segment).map(|(at, _)| at);
        }
        if let Some(start) = start {
            let quoted = &segment[start..segment.len().min(start + MOST_WORDS)];
            let end = quoted.last().map_or(segment[start].end, |word| word.end);
            found = Some(segment[start].start..end);
        }
    }
    found
}

/// French verbs in the polite imperative end in `-ez`; these words do, too, or ask for nothing.
const NO_IMPERATIVES: &str = "assez chez nez rez avez savez voulez pouvez devez aurez serez ferez irez pourrez allez \
    pensez imaginez arrêtez oubliez croyez connaissez cherchez aimez cessez";

fn is_french_imperative(words: &[Word]) -> bool {
    // "Cherchez-vous" asks; "inscrivez-vous" is in the list.
    let asks = words.get(1).is_some_and(|next| next.folded == "vous");
    words.first().is_some_and(|word| {
        let listed = NO_IMPERATIVES.split_whitespace().any(|known| known == word.folded);
        word.folded.ends_with("ez") && word.folded.chars().count() > 4 && !asks && !listed
    })
}

/// The word with which a call to action begins.
fn find_in(cues: &Cues, segment: &[Word]) -> Option<usize> {
    let mut at = 0;
    for _ in 0..=MOST_LEADS {
        let rest = &segment[at..];
        let french = cues.language == "fr" && is_french_imperative(rest);
        if french || cues.match_start(Cue::Action, rest).is_some() {
            return Some(at);
        }
        match cues.match_start(Cue::Lead, &segment[at..]) {
            Some(length) if at + length < segment.len() => at += length,
            _ => break,
        }
    }
    if let Some((at, _)) = cues.find(Cue::Anywhere, segment) {
        return Some(at);
    }
    let ends = segment.len().checked_sub(1)?;
    cues.match_start(Cue::Infinitive, &segment[ends..])?;
    segment[..ends].iter().position(|word| NOW.contains(&word.folded.as_str()))
}
