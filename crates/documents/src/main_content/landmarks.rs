//! Where blocks are by the page's title, by headings that end its content, and by the runs of its prose.

use super::features::LEVELS;
use super::stats::Stats;
use crate::html::block::Kind;
use crate::html::page::Page;

/// A heading of which so many words introduce other content ends the page's own.
const ENDS: f32 = 0.34;

/// Headings of more words are sentences.
const LONGEST_END: f32 = 8.0;

/// Blocks to both sides among which replies and ages are counted.
const REACH: usize = 12;

/// A block of so many words in sentences is prose.
const PROSE: f32 = 15.0;

/// How many blocks without prose end a run of prose.
const GAP: usize = 4;

/// Data with fewer words is no text of the page.
const LEAST_DATA: usize = 60;

/// Characters of a block that are looked for in the data.
const COMPARED: usize = 40;

/// Blocks of fewer characters are in any data.
const LEAST_COMPARED: usize = 12;

/// The position of one block among headings, prose and data.
#[derive(Debug, Default, Clone, Copy)]
struct BlockContext {
    /// Blocks and words since the last heading that ends the content, and the number of those.
    since_end: Option<(f32, f32)>,
    ends: f32,
    end_level: f32,
    replies: f32,
    ages: f32,
    /// Blocks since the last prose, and the words of prose in its run so far.
    since_prose: f32,
    prose_run: f32,
    /// Whether the page's data has the text; -1 if the data has none.
    in_data: f32,
    words_before: f32,
}

/// The places of all blocks.
#[derive(Debug, Default)]
pub(super) struct Landmarks {
    title: Option<usize>,
    places: Vec<BlockContext>,
}

impl Landmarks {
    pub(super) fn find(page: &Page, stats: &[Stats]) -> Self {
        let data = page.data.text().filter(|text| text.split_whitespace().count() >= LEAST_DATA);
        let data: Option<String> = data.map(|text| word_characters(&text).collect());
        let mut places: Vec<BlockContext> = Vec::with_capacity(stats.len());
        let (mut end, mut ends): (Option<(usize, f32, f32)>, f32) = (None, 0.0);
        let (mut words, mut last_prose, mut run) = (0.0, None, 0.0);
        for (at, (stats, block)) in stats.iter().zip(&page.blocks.blocks).enumerate() {
            let is_prose = stats.words >= PROSE && stats.link_density < 0.35;
            if last_prose.is_none_or(|last| at - last > GAP) {
                run = 0.0;
            }
            places.push(BlockContext {
                since_end: end.map(|(heading, before, _)| ((at - heading) as f32, words - before)),
                ends,
                end_level: end.map_or(0.0, |(_, _, level)| level),
                since_prose: last_prose.map_or(-1.0, |last| (at - last) as f32),
                prose_run: run,
                in_data: data.as_ref().map_or(-1.0, |data| found_in(data, &block.text)),
                words_before: words,
                ..BlockContext::default()
            });
            words += stats.words;
            if is_prose {
                last_prose = Some(at);
                run += stats.words;
            }
            if let Kind::Heading(level) = block.kind
                && stats.other >= ENDS
                && stats.words <= LONGEST_END
            {
                end = Some((at, words, f32::from(level)));
                ends += 1.0;
            }
        }
        count_around(&mut places, stats, |stats| stats.reply, |place, count| place.replies = count);
        count_around(&mut places, stats, |stats| stats.age, |place, count| place.ages = count);
        Self { title: title(page, stats), places }
    }

    /// The block with the page's title.
    pub(super) fn title(&self) -> Option<usize> {
        self.title
    }

    pub(super) fn row(&self, at: usize, around: &[(usize, usize); LEVELS], row: &mut Vec<f32>) {
        let place = &self.places[at];
        // The innermost element around the block that also has the title.
        let level = self.title.and_then(|title| {
            around.iter().position(|(first, end)| (*first..*end).contains(&title))
        });
        let since_title = self.title.map(|title| {
            let words = place.words_before - self.places[title].words_before;
            (at as f32 - title as f32, words)
        });
        row.extend([
            since_title.map_or(-1e4, |(blocks, _)| blocks),
            since_title.map_or(-1e5, |(_, words)| words),
            level.map_or(LEVELS as f32, |level| level as f32),
            place.since_end.map_or(-1.0, |(blocks, _)| blocks),
            place.since_end.map_or(-1.0, |(_, words)| words),
            place.ends,
            place.end_level,
            place.replies,
            place.ages,
            place.since_prose,
            place.prose_run,
            place.in_data,
        ]);
    }
}

/// The first-level heading that repeats the title, else another heading that does, else the only first-level heading.
fn title(page: &Page, stats: &[Stats]) -> Option<usize> {
    let headings = || {
        page.blocks.blocks.iter().enumerate().filter_map(|(at, block)| match block.kind {
            Kind::Heading(level) => Some((at, level)),
            _ => None,
        })
    };
    let repeats = |at: usize| stats[at].title >= 0.6 && stats[at].words >= 2.0;
    let first = headings().find(|(at, level)| *level == 1 && repeats(*at));
    let other = || headings().find(|(at, _)| repeats(*at));
    let mut tops = headings().filter(|(_, level)| *level == 1);
    let only = tops.next().filter(|_| tops.next().is_none());
    first.or_else(other).or(only).map(|(at, _)| at)
}

/// Counts the blocks of a kind around each block.
fn count_around(
    places: &mut [BlockContext],
    stats: &[Stats],
    is: impl Fn(&Stats) -> bool,
    set: impl Fn(&mut BlockContext, f32),
) {
    let mut before = vec![0_u32];
    for stats in stats {
        before.push(before[before.len() - 1] + u32::from(is(stats)));
    }
    for (at, place) in places.iter_mut().enumerate() {
        let end = (at + REACH + 1).min(stats.len());
        set(place, (before[end] - before[at.saturating_sub(REACH)]) as f32);
    }
}

fn found_in(data: &str, text: &str) -> f32 {
    let part: String = word_characters(text).take(COMPARED).collect();
    let long_enough = part.chars().count() >= LEAST_COMPARED;
    f32::from(u8::from(long_enough && data.contains(&part)))
}

fn word_characters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}
