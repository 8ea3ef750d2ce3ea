//! What the scorer knows about each block: its text, the blocks next to it, the elements around it and the page.

use std::collections::HashMap;

use super::appended::Appended;
use super::category::{CATEGORIES, COMMENT, Categorizer};
use super::landmarks::Landmarks;
use super::repeats::{copies, signatures};
use super::stats::{Lexicon, Stats};
use crate::html::block::{Container, Kind};
use crate::html::page::Page;

/// The levels of elements around a block whose content is described.
pub(super) const LEVELS: usize = 5;

/// The last features of each block are those of its page.
pub(super) const OF_PAGE: usize = 12;

/// More than the number of features, with those of the context.
const ROOM: usize = 256;

/// A block of so many words in sentences is prose.
const PROSE: f32 = 15.0;

/// Siblings of the same kind from which content counts as repeated.
const REPEATED: u32 = 3;

/// The features of all blocks.
pub(super) struct Features {
    pub(super) rows: Vec<Vec<f32>>,
    /// The words of each block.
    pub(super) words: Vec<f32>,
    /// The ranges of blocks of the elements around each block, from the innermost.
    pub(super) around: Vec<[(usize, usize); LEVELS]>,
    /// Blocks in elements of the same tags and classes have the same number.
    pub(super) alike: Vec<usize>,
    /// The content that follows the page's own article, if the page is one.
    pub(super) appended: Appended,
}

/// Totals over the blocks of a container.
#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    blocks: f32,
    words: f32,
    linked: f32,
    prose: f32,
    headings: f32,
    prices: f32,
}

impl Sum {
    fn minus(self, other: Self) -> Self {
        Self {
            blocks: self.blocks - other.blocks,
            words: self.words - other.words,
            linked: self.linked - other.linked,
            prose: self.prose - other.prose,
            headings: self.headings - other.headings,
            prices: self.prices - other.prices,
        }
    }

    fn link_density(self) -> f32 {
        self.linked / self.words.max(1.0)
    }
}

/// A container with the same tag and classes as some of its siblings.
#[derive(Debug, Default, Clone, Copy)]
struct Group {
    count: u32,
    words: f32,
    linked: f32,
}

struct Build<'a> {
    page: &'a Page,
    stats: Vec<Stats>,
    /// Totals of all blocks before each block, and one for all.
    before: Vec<Sum>,
    /// The nearest container of each category around each container.
    nearest: Vec<[u32; CATEGORIES]>,
    /// The share of the page's words in each container.
    shares: Vec<f32>,
    /// Containers with the same tag and first class have the same number. Further classes are often a state.
    signatures: Vec<u32>,
    /// The group of siblings that each container belongs to.
    groups: Vec<Group>,
    copies: Vec<f32>,
    /// The container with most of the prose.
    core: usize,
    landmarks: Landmarks,
}

pub(super) fn features(page: &Page) -> Features {
    let lexicon = Lexicon::new(page.meta.title.as_deref().unwrap_or_default());
    let stats: Vec<Stats> = page.blocks.blocks.iter().map(|block| lexicon.count(block)).collect();
    let words = stats.iter().map(|stats| stats.words).collect();
    let mut build = Build {
        page,
        before: totals(page, &stats),
        nearest: nearest(page),
        shares: Vec::new(),
        signatures: signatures(page),
        groups: Vec::new(),
        copies: copies(page),
        core: 0,
        landmarks: Landmarks::default(),
        stats,
    };
    build.shares = build.shares();
    build.groups = build.groups();
    build.core = build.core();
    build.landmarks = Landmarks::find(page, &build.stats);
    let headings = build.headings();
    let around: Vec<_> = (0..build.stats.len()).map(|at| build.around(at)).collect();
    let rows = (0..build.stats.len()).map(|at| build.row(at, &headings, &around[at])).collect();
    let alike = build.alike();
    let appended = Appended {
        title: build.landmarks.title(),
        in_comments: (0..build.stats.len()).map(|at| build.is_in_comments(at)).collect(),
        of_article: (0..build.stats.len()).map(|at| build.article_of(at)).collect(),
        prose: build.stats.iter().map(Stats::is_prose).collect(),
    };
    Features { rows, words, around, alike, appended }
}

/// The headings before a block.
#[derive(Debug, Clone, Copy)]
struct Heading {
    at: usize,
    level: u8,
    other: f32,
    is_first: bool,
}

impl Build<'_> {
    fn sum(&self, container: &Container) -> Sum {
        self.before[container.end].minus(self.before[container.first])
    }

    fn all(&self) -> Sum {
        self.before.last().copied().unwrap_or_default()
    }

    /// Finds siblings with the same tag and classes.
    fn groups(&self) -> Vec<Group> {
        let containers = &self.page.blocks.containers;
        let mut groups: HashMap<(usize, u32), Group> = HashMap::new();
        let key = |at: usize| (containers[at].parent, self.signatures[at]);
        for (at, container) in containers.iter().enumerate() {
            let sum = self.sum(container);
            if sum.blocks > 0.0 {
                let group = groups.entry(key(at)).or_default();
                group.count += 1;
                group.words += sum.words;
                group.linked += sum.linked;
            }
        }
        let group = |at| groups.get(&key(at)).copied().unwrap_or_default();
        (0..containers.len()).map(group).collect()
    }

    fn shares(&self) -> Vec<f32> {
        let all = self.all().words.max(1.0);
        let containers = &self.page.blocks.containers;
        containers.iter().map(|container| self.sum(container).words / all).collect()
    }

    /// Numbers blocks by the signatures of the three elements around them.
    fn alike(&self) -> Vec<usize> {
        let containers = &self.page.blocks.containers;
        let mut numbers = HashMap::new();
        let blocks = self.page.blocks.blocks.iter().map(|block| {
            let parent = containers[block.container].parent;
            let path = [block.container, parent, containers[parent].parent];
            let heading = matches!(block.kind, Kind::Heading(_));
            let next = numbers.len();
            *numbers.entry((heading, path.map(|at| self.signatures[at]))).or_insert(next)
        });
        blocks.collect()
    }

    /// Descends from the page to the innermost element that still has most of its prose.
    fn core(&self) -> usize {
        let containers = &self.page.blocks.containers;
        let mut core = 0;
        for at in 1..containers.len() {
            let container = &containers[at];
            let (own, outer) = (self.sum(container), self.sum(&containers[core]));
            if container.parent == core && own.prose > outer.prose * 0.6 {
                core = at;
            }
        }
        core
    }

    /// The last heading of at most level 4 before each block.
    fn headings(&self) -> Vec<Option<Heading>> {
        let mut last: Option<Heading> = None;
        let mut found = Vec::with_capacity(self.stats.len());
        let mut first = true;
        for (at, block) in self.page.blocks.blocks.iter().enumerate() {
            found.push(last);
            if let Kind::Heading(level @ 1..=4) = block.kind {
                last = Some(Heading { at, level, other: self.stats[at].other, is_first: first });
                first &= level > 1;
            }
        }
        found
    }

    fn row(
        &self,
        at: usize,
        headings: &[Option<Heading>],
        around: &[(usize, usize); LEVELS],
    ) -> Vec<f32> {
        let mut row = Vec::with_capacity(ROOM);
        self.text(at, &mut row);
        self.position(at, headings, &mut row);
        self.adjacent(at, &mut row);
        self.surroundings(at, around, &mut row);
        self.repetition(at, &mut row);
        self.categories(at, &mut row);
        self.landmarks.row(at, around, &mut row);
        row.push(headings[at].map_or(0.0, |heading| self.stats[heading.at].link_density));
        row.push(self.article_of(at));
        self.page(&mut row);
        row
    }

    fn text(&self, at: usize, row: &mut Vec<f32>) {
        let (stats, block) = (&self.stats[at], &self.page.blocks.blocks[at]);
        let heading = match block.kind {
            Kind::Heading(level) => f32::from(level),
            _ => 0.0,
        };
        let kind = match block.kind {
            Kind::Paragraph => 0.0,
            Kind::Heading(_) => 1.0,
            Kind::Item(_) => 2.0,
            Kind::Row => 3.0,
            Kind::Code => 4.0,
        };
        row.extend([
            stats.words,
            stats.alphanumerics / stats.words.max(1.0),
            stats.link_density,
            stats.sentences,
            flag(stats.ends_sentence),
            flag(stats.starts_capital),
            stats.commas / stats.words.max(1.0),
            stats.digits,
            stats.capitals,
            stats.symbols,
            kind,
            heading,
            block.level as f32,
            block.quotes as f32,
            stats.links,
            stats.strong,
            flag(stats.price),
            flag(stats.year),
            flag(stats.copyright),
            flag(stats.at_sign),
            stats.phrases,
            stats.other,
            stats.title,
            self.copies[at],
        ]);
    }

    fn position(&self, at: usize, headings: &[Option<Heading>], row: &mut Vec<f32>) {
        let (all, before) = (self.all(), self.before[at]);
        let core = &self.page.blocks.containers[self.core];
        let block = &self.page.blocks.blocks[at];
        let depth = self.page.blocks.containers[block.container].depth as f32;
        let heading = headings[at];
        let inside = (core.first..core.end).contains(&at);
        let distance = if at < core.first {
            core.first as f32 - at as f32
        } else if inside {
            0.0
        } else {
            core.end as f32 - at as f32 - 1.0
        };
        row.extend([
            at as f32 / all.blocks.max(1.0),
            before.words / all.words.max(1.0),
            before.words,
            all.words - before.words,
            depth,
            heading.map_or(-1.0, |heading| (at - heading.at) as f32),
            heading.map_or(0.0, |heading| f32::from(heading.level)),
            heading.map_or(0.0, |heading| heading.other),
            heading.map_or(0.0, |heading| flag(heading.is_first)),
            heading.map_or(0.0, |heading| before.words - self.before[heading.at].words),
            flag(inside),
            distance,
            depth - core.depth as f32,
            before.prose,
            all.prose - before.prose,
        ]);
    }

    fn adjacent(&self, at: usize, row: &mut Vec<f32>) {
        let container = |at: usize| self.page.blocks.blocks[at].container;
        for offset in [-3_isize, -2, -1, 1, 2, 3] {
            let other = at.checked_add_signed(offset).filter(|at| *at < self.stats.len());
            match other {
                Some(other) => {
                    let stats = &self.stats[other];
                    row.extend([stats.words, stats.link_density]);
                    if offset.abs() == 1 {
                        let parent = |at: usize| self.page.blocks.containers[container(at)].parent;
                        row.extend([
                            flag(parent(at) == parent(other)),
                            flag(stats.ends_sentence),
                            match self.page.blocks.blocks[other].kind {
                                Kind::Heading(level) => f32::from(level),
                                _ => 0.0,
                            },
                        ]);
                    }
                }
                None => {
                    row.extend([-1.0, -1.0]);
                    if offset.abs() == 1 {
                        row.extend([-1.0; 3]);
                    }
                }
            }
        }
        // The words within some blocks around.
        for reach in [5, 12] {
            let from = self.before[at.saturating_sub(reach)];
            let to = self.before[(at + reach + 1).min(self.stats.len())];
            let around = to.minus(from);
            row.extend([
                around.words / around.blocks.max(1.0),
                around.link_density(),
                around.prose / around.words.max(1.0),
            ]);
        }
    }

    fn surroundings(&self, at: usize, around: &[(usize, usize)], row: &mut Vec<f32>) {
        let all = self.all();
        for &(first, end) in around {
            let own = self.before[end].minus(self.before[first]);
            row.extend([
                own.blocks,
                own.words,
                own.link_density(),
                own.words / own.blocks.max(1.0),
                own.words / all.words.max(1.0),
                own.prose / own.words.max(1.0),
                own.headings / own.blocks.max(1.0),
                (at - first) as f32 / own.blocks.max(1.0),
            ]);
        }
    }

    /// The ranges of the elements around a block. An element with nothing else in it is the same as its child.
    fn around(&self, at: usize) -> [(usize, usize); LEVELS] {
        let containers = &self.page.blocks.containers;
        let mut container = &containers[self.page.blocks.blocks[at].container];
        let mut ranges = [(0, 0); LEVELS];
        for range in &mut ranges {
            *range = (container.first, container.end);
            while container.parent != 0 && (container.first, container.end) == *range {
                container = &containers[container.parent];
            }
        }
        ranges
    }

    fn repetition(&self, at: usize, row: &mut Vec<f32>) {
        let all = self.all();
        let containers = &self.page.blocks.containers;
        let mut container = self.page.blocks.blocks[at].container;
        let mut found: Vec<(f32, Group)> = Vec::new();
        let mut level = 0.0;
        while container != 0 {
            let group = self.groups[container];
            if group.count >= REPEATED {
                found.push((level, group));
            }
            container = containers[container].parent;
            level += 1.0;
        }
        let largest = found.iter().copied().max_by(|a, b| a.1.words.total_cmp(&b.1.words));
        for chosen in [found.first().copied(), largest] {
            match chosen {
                Some((level, group)) => row.extend([
                    level,
                    group.count as f32,
                    group.words / group.count as f32,
                    group.linked / group.words.max(1.0),
                    group.words / all.words.max(1.0),
                ]),
                None => row.extend([-1.0, 0.0, 0.0, 0.0, 0.0]),
            }
        }
    }

    /// For each category the share of the page's words in the nearest element of it: the smaller, the more it says.
    fn categories(&self, at: usize, row: &mut Vec<f32>) {
        let block = &self.page.blocks.blocks[at];
        row.extend(self.nearest[block.container].iter().map(|container| match container {
            0 => 2.0,
            found => self.shares[*found as usize],
        }));
    }

    /// Whether a block is in an element for comments that is not the whole page.
    fn is_in_comments(&self, at: usize) -> bool {
        let block = &self.page.blocks.blocks[at];
        match self.nearest[block.container][COMMENT] {
            0 => false,
            nearest => self.shares[nearest as usize] < 0.95,
        }
    }

    /// Whether the nearest `article` around a block is the one with the page's title: an article that follows has its own.
    fn article_of(&self, at: usize) -> f32 {
        const ARTICLE: usize = 5;
        let block = &self.page.blocks.blocks[at];
        let nearest = self.nearest[block.container][ARTICLE] as usize;
        match self.landmarks.title() {
            Some(title) if nearest > 0 => {
                let article = &self.page.blocks.containers[nearest];
                flag((article.first..article.end).contains(&title))
            }
            _ => -1.0,
        }
    }

    fn page(&self, row: &mut Vec<f32>) {
        let all = self.all();
        row.extend([
            all.blocks,
            all.words,
            all.link_density(),
            all.words / all.blocks.max(1.0),
            all.prose / all.words.max(1.0),
            all.headings / all.blocks.max(1.0),
            all.prices / all.blocks.max(1.0),
            flag(self.page.hints.article),
            flag(self.page.hints.product),
            flag(self.page.hints.list),
            flag(self.page.hints.forum),
            flag(self.page.hints.website),
        ]);
    }
}

fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}

fn totals(page: &Page, stats: &[Stats]) -> Vec<Sum> {
    let mut sum = Sum::default();
    let mut before = vec![sum];
    for (stats, block) in stats.iter().zip(&page.blocks.blocks) {
        sum.blocks += 1.0;
        sum.words += stats.words;
        sum.linked += stats.words * stats.link_density;
        sum.headings += flag(matches!(block.kind, Kind::Heading(_)));
        sum.prices += flag(stats.price);
        if stats.words >= PROSE && stats.link_density < 0.35 {
            sum.prose += stats.words;
        }
        before.push(sum);
    }
    before
}

fn nearest(page: &Page) -> Vec<[u32; CATEGORIES]> {
    let categorizer = Categorizer::shared();
    let mut nearest: Vec<[u32; CATEGORIES]> = Vec::with_capacity(page.blocks.containers.len());
    for (at, container) in page.blocks.containers.iter().enumerate() {
        let mut own = nearest.get(container.parent).copied().unwrap_or([0; CATEGORIES]);
        let mut found = categorizer.of(&page.tree, container.node);
        while found != 0 {
            own[found.trailing_zeros() as usize] = at as u32;
            found &= found - 1;
        }
        nearest.push(own);
    }
    nearest
}
