//! Finds the dated lines of a section, and the lines with names around them.

use super::dates::{self, Period, Written};
use super::entries::{starts_or_ends, without_period};
use super::lines::Line;
use super::names::{self, is_degree, is_institution, names_study, parts};
use super::places::is_place;
use super::roles::names_role;
use super::section_kind::SectionKind;

/// The longest line that names a position or a degree, in words.
const MAX_NAME_WORDS: usize = 14;

/// What kind of entries are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    Position,
    Study,
}

/// A line with dates, the rest of it, and the lines that go with it.
#[derive(Debug)]
pub(super) struct Entry {
    pub period: Period,
    /// Names on the line and around it, in order.
    pub names: Vec<String>,
    /// Whether a line above the dates has one of the names.
    pub above: bool,
    /// Whether it dates a company whose positions follow with dates of their own.
    pub head: bool,
    pub bullets: Vec<String>,
}

/// A line with dates.
#[derive(Clone, Debug)]
struct Anchor {
    line: usize,
    period: Period,
    /// The other names on the line, without places.
    rest: Vec<String>,
}

/// The lines of a document that may hold entries of a kind.
pub(super) struct Entries<'a> {
    lines: &'a [Line],
    kind: EntryKind,
    /// Whether sections have headings.
    pub headed: bool,
    /// Whether blank lines separate the entries.
    blocks: bool,
}

impl<'a> Entries<'a> {
    pub(super) fn new(lines: &'a [Line], kind: EntryKind) -> Self {
        let section = match kind {
            EntryKind::Position => SectionKind::Experience,
            EntryKind::Study => SectionKind::Education,
        };
        let headed = lines.iter().any(|line| line.section == Some(section));
        let entries = Self { lines, kind, headed, blocks: false };
        let inner = lines
            .windows(2)
            .filter(|pair| entries.owns(&pair[1]) && !pair[0].heading && !pair[1].heading);
        let blocks = inner.into_iter().any(|pair| pair[1].after_blank);
        Self { blocks, ..entries }
    }

    pub(super) fn owns(&self, line: &Line) -> bool {
        match (self.kind, line.section) {
            (EntryKind::Position, Some(SectionKind::Experience)) => true,
            (EntryKind::Position, None | Some(SectionKind::Contact | SectionKind::Summary)) => {
                !self.headed
            }
            (EntryKind::Position, _) => false,
            (EntryKind::Study, section) if self.headed => section == Some(SectionKind::Education),
            (EntryKind::Study, section) => {
                section.is_none_or(|kind| kind == SectionKind::Experience)
            }
        }
    }

    /// Whether a text has a title or a degree.
    fn is_main(&self, text: &str) -> bool {
        match self.kind {
            EntryKind::Position => names_role(text),
            EntryKind::Study => is_degree(text),
        }
    }

    fn is_text(&self, line: &Line) -> bool {
        self.owns(line) && !line.heading
    }

    /// The dates of a line that begins an entry.
    fn dates_of(&self, at: usize) -> Option<Period> {
        let line = &self.lines[at];
        let text = &line.text;
        match self.kind {
            EntryKind::Position => {
                let Some(period) = dates::period(text) else { return self.single_date_of(at) };
                // Without headings a period of study looks the same but for its words.
                let study = !self.headed && names_study(text) && !names_role(text);
                // Bullets hold years that are no dates of employment.
                let short = text.len() - (period.end - period.start) < 80;
                let fits = !line.bullet || short && starts_or_ends(text, &period);
                (!study && fits && !is_remark(text, &period)).then_some(period)
            }
            EntryKind::Study => {
                let period = dates::period(text);
                let study = names_study(text);
                let found = period.or_else(|| dates::single(text))?;
                let fits = if self.headed {
                    (!line.bullet || study) && !is_detail(text)
                } else {
                    study && !line.bullet && (!names_role(text) || period.is_none())
                };
                fits.then_some(found)
            }
        }
    }

    /// One date instead of a period: "Intern, Maple Payments (Summer 2024)".
    fn single_date_of(&self, at: usize) -> Option<Period> {
        let line = &self.lines[at];
        let text = &line.text;
        if !self.headed || text.ends_with('.') || text.split_whitespace().count() > MAX_NAME_WORDS {
            return None;
        }
        let date = dates::last_run(text)?;
        let (before, after) = (&text[..date.start], &text[date.end..]);
        let gap = is_set_apart(before);
        let first = before.trim().is_empty();
        let last = !after.contains(char::is_alphanumeric);
        let alone = first && last;
        let named = if alone {
            let above = self.lines[at.saturating_sub(2)..at].iter();
            !line.bullet
                && above.filter(|line| self.is_text(line)).any(|line| {
                    is_name_line(line)
                        && names_role(&line.text)
                        && dates::period(&line.text).is_none()
                })
        } else {
            (last && gap || first && after.starts_with([':', ' ', '\t', ',', '|']))
                && names_role(text)
        };
        named.then_some(date)
    }

    fn anchor(&self, line: usize) -> Option<Anchor> {
        let period = self.dates_of(line)?;
        Some(Anchor { line, period, rest: self.rest(line, &period) })
    }

    fn anchors(&self) -> Vec<Anchor> {
        let own = (0..self.lines.len()).filter(|at| self.is_text(&self.lines[*at]));
        let mut anchors: Vec<Anchor> = own.filter_map(|line| self.anchor(line)).collect();
        // Bullets are entries if they name one, or if there is nothing else.
        let free = anchors.iter().any(|anchor| !self.lines[anchor.line].bullet);
        anchors.retain(|anchor| {
            let line = &self.lines[anchor.line];
            let Period { start, .. } = anchor.period;
            !line.bullet
                || (!free || self.is_main(&without_period(&line.text, &anchor.period)))
                    && is_set_apart(&line.text[..start])
        });
        anchors
    }

    /// The names on a dated line, without places.
    fn rest(&self, line: usize, period: &Period) -> Vec<String> {
        let rest = without_period(&self.lines[line].text, period);
        if is_place(&rest) {
            return Vec::new();
        }
        let parts = parts(&rest);
        let named = names::without_places(parts.clone());
        if named.len() == 1 && is_place(&named[0]) {
            Vec::new()
        } else if named.is_empty() {
            parts
        } else {
            named
        }
    }

    fn lacks_main(&self, names: &[String]) -> bool {
        !names.iter().any(|name| self.is_main(name))
    }

    /// Whether the names of a line are all that the entry has.
    fn is_complete(&self, anchor: &Anchor, outer: bool) -> bool {
        let rest = &anchor.rest;
        // "Vice President, Sales" where companies have lines of their own.
        if outer && rest.len() == 2 && !rest.iter().any(|name| names::is_company(name)) {
            return false;
        }
        if rest.len() < 2 || self.lacks_main(rest) {
            return false;
        }
        // "Bachelor of Arts, Literature" below or above the institution.
        let adjacent = |at: Option<usize>| {
            at.and_then(|at| self.lines.get(at)).is_some_and(|line| {
                self.is_text(line)
                    && is_name_line(line)
                    && is_institution(&line.text)
                    && self.dates_of_any(line).is_none()
            })
        };
        self.kind == EntryKind::Position
            || rest.iter().any(|name| is_institution(name))
            || !adjacent(anchor.line.checked_sub(1)) && !adjacent(Some(anchor.line + 1))
    }

    /// Whether most entries have their companies on other lines than their titles.
    fn has_outer_companies(&self, anchors: &[Anchor]) -> bool {
        let is_outer = |anchor: &&Anchor| anchor.rest.len() == 1 && !self.lacks_main(&anchor.rest);
        self.kind == EntryKind::Position
            && anchors.iter().filter(is_outer).count() * 2 > anchors.len()
    }

    fn dates_of_any(&self, line: &Line) -> Option<Period> {
        dates::period(&line.text).or_else(|| dates::single(&line.text))
    }

    /// Whether an anchor dates a company whose positions follow with dates of their own.
    fn is_head(&self, anchor: &Anchor, next: Option<&Anchor>) -> bool {
        let Some(next) = next.filter(|_| self.kind == EntryKind::Position) else { return false };
        let (rest, inner) = (&anchor.rest, &next.rest);
        let between = &self.lines[anchor.line + 1..next.line];
        let title_between =
            between.iter().any(|line| line.bullet || is_name_line(line) && names_role(&line.text));
        !rest.is_empty()
            && self.lacks_main(rest)
            && inner.len() == 1
            && !self.lacks_main(inner)
            && between.len() <= 2
            && !title_between
            && contains(&anchor.period, &next.period)
    }

    /// Finds the lines with dates and the names around them.
    pub(super) fn read(&self) -> Vec<Entry> {
        let anchors = self.anchors();
        let heads: Vec<bool> = anchors
            .iter()
            .enumerate()
            .map(|(index, anchor)| self.is_head(anchor, anchors.get(index + 1)))
            .collect();
        let outer = self.has_outer_companies(&anchors);
        let before = self.names_precede(&anchors, &heads, outer);
        let mut found: Vec<Entry> = Vec::new();
        let mut free = 0;
        let mut grouped = false;
        for (index, anchor) in anchors.iter().enumerate() {
            let next = anchors.get(index + 1).map_or(self.lines.len(), |next| next.line);
            let rest = &anchor.rest;
            let lacking = self.lacks_main(rest);
            let head = heads[index];
            let inner = grouped && rest.len() == 1 && !lacking;
            grouped = head || inner;
            let complete = self.is_complete(anchor, outer) || head || inner;
            // A place after the company leaves room for the title, but only a title may take it.
            let fits = |line: &&Line| {
                is_name_line(line)
                    && (rest.len() < 2
                        || outer
                        || self.is_main(&line.text)
                        || self.kind == EntryKind::Study)
            };
            let is_own = |line: &&Line| self.is_text(line);
            let mut names = Vec::new();
            if before && !complete {
                let start = self.name_lines_before(free, anchor.line, rest.is_empty());
                names.extend(
                    self.lines[start..anchor.line]
                        .iter()
                        .filter(is_own)
                        .filter(fits)
                        .map(|line| line.text.clone()),
                );
            }
            let above = !names.is_empty() && !rest.is_empty() || names.len() > 1 || head;
            if !rest.is_empty() {
                names.push(without_period(&self.lines[anchor.line].text, &anchor.period));
            }
            let after = self.lines[anchor.line + 1..next].iter().take_while(is_own);
            let mut used = anchor.line + 1;
            if !before && !complete {
                let room = 2_usize.saturating_sub(rest.len()).max(usize::from(lacking || outer));
                let mut taken = 0;
                for line in after.clone().take_while(fits) {
                    let place = is_place(&line.text);
                    if taken >= room && !place {
                        break;
                    }
                    taken += usize::from(!place);
                    names.push(line.text.clone());
                    used += 1;
                }
            }
            // The names of the next entry are no text of this one.
            let stop = match anchors.get(index + 1) {
                Some(next) if before => {
                    let bare = next.rest.is_empty();
                    self.name_lines_before(used, next.line, bare)
                }
                _ => next,
            };
            let bullets = self.lines[used.min(stop)..stop]
                .iter()
                .take_while(is_own)
                .map(|line| line.text.clone())
                .collect();
            free = used;
            found.push(Entry { period: anchor.period, names, above, head, bullets });
        }
        found
    }

    /// Whether titles and companies come before the dates: by the first entry whose line does not have both.
    fn names_precede(&self, anchors: &[Anchor], heads: &[bool], outer: bool) -> bool {
        let open = anchors
            .iter()
            .zip(heads)
            .find(|(anchor, head)| !**head && !self.is_complete(anchor, outer));
        let Some((anchor, _)) = open else { return false };
        let rest = &anchor.rest;
        let previous = anchor.line.checked_sub(1).map(|at| &self.lines[at]).filter(|line| {
            self.is_text(line)
                && is_name_line(line)
                && !anchors.iter().any(|other| std::ptr::eq(&self.lines[other.line], *line))
        });
        if rest.len() > 1
            && self.kind == EntryKind::Position
            && !previous.is_some_and(|line| self.is_main(&line.text))
        {
            return false;
        }
        match previous {
            // Without headings the line before the first entry is contact data or a summary.
            Some(previous) if previous.section.is_none() => {
                names_role(&previous.text) || is_degree(&previous.text)
            }
            other => other.is_some(),
        }
    }

    /// The first of the lines with names directly before a line: at most two, or three if it has no names; none a bullet.
    fn name_lines_before(&self, free: usize, at: usize, bare: bool) -> usize {
        let most = if bare { 3 } else { 2 };
        let mut start = at;
        while start > free && at - start < most && is_name_line(&self.lines[start - 1]) {
            start -= 1;
            if self.blocks && self.lines[start].after_blank {
                return start;
            }
        }
        let named = |line: &Line| self.is_main(&line.text) || is_place(&line.text);
        // A third line is a name only if one of the others is a place.
        if at - start == 3 && !self.lines[start..at].iter().any(|line| is_place(&line.text)) {
            start += 1;
        }
        // Text of the entry before it, without a blank line to separate them.
        let text = self.blocks
            && start == free
            && free > 0
            && !self.lines[start..at].iter().any(named)
            && !self.lines[free - 1].heading;
        if text { at } else { start }
    }
}

/// Whether signs or a gap separate dates from the text before them; "since 2019" in a sentence is not.
fn is_set_apart(before: &str) -> bool {
    before.trim().is_empty()
        || before.ends_with("  ")
        || before.trim_end().ends_with(['(', ',', '.', '|', '–', '—', '-', ':', '·', '\t', '['])
}

/// Whether a period lies in another one.
fn contains(outer: &Period, inner: &Period) -> bool {
    let year = |written: Written| match written {
        Written::Date { year, .. } => year,
        Written::Present => u16::MAX,
    };
    let from = |period: &Period| period.from.map_or(0, year);
    from(outer) <= from(inner) && year(inner.to) <= year(outer.to)
}

/// Whether a dated line is a sentence: "Worked from 2016 to 2022 in finance."
fn is_remark(text: &str, period: &Period) -> bool {
    let words = text.split_whitespace().count();
    let inside = !starts_or_ends(text, period);
    inside && text.ends_with('.') && words > 8
}

/// Whether a line of education is about a degree: a thesis, grades or courses.
fn is_detail(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words = [
        "thesis",
        "dissertation",
        "gpa",
        "grade",
        "coursework",
        "relevant courses",
        "courses:",
        "modules",
        "abschlussarbeit",
        "masterarbeit",
        "bachelorarbeit",
        "diplomarbeit",
        "thema",
        "note",
        "schwerpunkt",
        "mémoire",
        "mention",
        "thèse",
        "tesis",
        "nota",
        "tese",
        "tesi",
        "voto",
        "honors",
        "honours",
        "awards",
        "activities",
        "supervisor",
    ];
    words.iter().any(|word| {
        lower.strip_prefix(word).is_some_and(|rest| rest.starts_with([':', ' ', 's', ',']))
            && !is_institution(text)
    })
}

pub(super) fn is_short_name(line: &Line) -> bool {
    line.text.split_whitespace().count() <= MAX_NAME_WORDS
}

fn is_name_line(line: &Line) -> bool {
    let words = line.text.split_whitespace().count();
    let prose = line.text.ends_with('.') && words > 5;
    let capital = |first: char| first.is_uppercase() || first.is_numeric();
    !line.bullet
        && !line.heading
        && !prose
        && is_short_name(line)
        && !is_detail(&line.text)
        && line.text.starts_with(capital)
}
