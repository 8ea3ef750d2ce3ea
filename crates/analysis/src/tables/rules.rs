//! Ruling lines: joined, and grouped into those that meet.

use documents::layout::Area;

/// Lines that are this close are one line, and lines that end this close meet.
pub(super) const NEAR: f64 = 3.0;

/// The most lines of one page that are looked at.
const MOST: usize = 4_000;

/// A horizontal line at y, or a vertical one at x: `at`; it reaches from `start` to `end`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rule {
    pub(super) at: f64,
    pub(super) start: f64,
    pub(super) end: f64,
}

impl Rule {
    pub(super) fn length(&self) -> f64 {
        self.end - self.start
    }

    /// How much of the line lies between two positions.
    pub(super) fn within(&self, start: f64, end: f64) -> f64 {
        (self.end.min(end) - self.start.max(start)).max(0.0)
    }
}

/// The lines of a page or of a part of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    /// From top to bottom.
    pub(super) horizontal: Vec<Rule>,
    /// From left to right.
    pub(super) vertical: Vec<Rule>,
}

impl Rules {
    /// The lines of a page, with those joined that continue each other.
    pub(super) fn new(areas: &[Area]) -> Self {
        let mut rules = Self::default();
        for area in areas.iter().take(MOST) {
            if area.width() >= area.height() {
                let at = area.middle();
                rules.horizontal.push(Rule { at, start: area.left, end: area.right });
            } else {
                let at = area.center();
                rules.vertical.push(Rule { at, start: area.top, end: area.bottom });
            }
        }
        rules.horizontal = joined(rules.horizontal);
        rules.vertical = joined(rules.vertical);
        rules
    }

    /// The lines that lie within an area.
    pub(super) fn within(&self, area: &Area) -> Self {
        let inside = |rule: &Rule, across: (f64, f64), along: (f64, f64)| {
            (across.0..=across.1).contains(&rule.at)
                && rule.within(along.0, along.1) > rule.length() * 0.5
        };
        let (x, y) = ((area.left, area.right), (area.top, area.bottom));
        Self {
            horizontal: self.horizontal.iter().filter(|it| inside(it, y, x)).copied().collect(),
            vertical: self
                .vertical
                .iter()
                .filter(|it| (x.0..=x.1).contains(&it.at) && it.within(y.0, y.1) > 2.0)
                .copied()
                .collect(),
        }
    }

    /// Groups of lines that meet, each with the area that it covers.
    pub(super) fn groups(&self) -> Vec<(Area, Self)> {
        let areas: Vec<Area> = self
            .horizontal
            .iter()
            .map(|it| Area::new(it.start, it.at, it.end, it.at))
            .chain(self.vertical.iter().map(|it| Area::new(it.at, it.start, it.at, it.end)))
            .collect();
        let mut parent: Vec<usize> = (0..areas.len()).collect();
        let mut order: Vec<usize> = (0..areas.len()).collect();
        order.sort_by(|one, other| areas[*one].top.total_cmp(&areas[*other].top));
        for (at, one) in order.iter().enumerate() {
            let reach = areas[*one].grow(NEAR);
            // Sorted by their upper end: none after the lower end of this line can meet it.
            let after =
                order[at + 1..].iter().take_while(|other| areas[**other].top <= reach.bottom);
            for other in after.take(600) {
                let area = &areas[*other];
                if area.left <= reach.right && area.right >= reach.left && area.bottom >= reach.top
                {
                    let (one, other) = (root(&mut parent, *one), root(&mut parent, *other));
                    parent[one] = other;
                }
            }
        }
        let mut groups: std::collections::BTreeMap<usize, (Area, Self)> = Default::default();
        for (at, area) in areas.iter().enumerate() {
            let (all, rules) =
                groups.entry(root(&mut parent, at)).or_insert_with(|| (*area, Self::default()));
            *all = all.union(area);
            match at.checked_sub(self.horizontal.len()) {
                None => rules.horizontal.push(self.horizontal[at]),
                Some(at) => rules.vertical.push(self.vertical[at]),
            }
        }
        groups.into_values().collect()
    }
}

fn root(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}

/// Joins lines at the same position that touch or overlap.
fn joined(mut rules: Vec<Rule>) -> Vec<Rule> {
    rules.sort_by(|one, other| one.at.total_cmp(&other.at));
    let mut bands: Vec<Vec<Rule>> = Vec::new();
    for rule in rules {
        match bands.last_mut().filter(|band| rule.at - band[0].at <= NEAR * 0.7) {
            Some(band) => band.push(rule),
            None => bands.push(vec![rule]),
        }
    }
    let mut all = Vec::new();
    for mut band in bands {
        band.sort_by(|one, other| one.start.total_cmp(&other.start));
        let mut open: Option<Rule> = None;
        for rule in band {
            match &mut open {
                Some(last) if rule.start <= last.end + NEAR => last.end = last.end.max(rule.end),
                _ => {
                    all.extend(open);
                    open = Some(rule);
                }
            }
        }
        all.extend(open);
    }
    all.sort_by(|one, other| one.at.total_cmp(&other.at));
    all
}

/// Positions that are at least `apart` from each other, from small to large.
pub(super) fn distinct(mut positions: Vec<f64>, apart: f64) -> Vec<f64> {
    positions.sort_by(f64::total_cmp);
    let mut distinct: Vec<f64> = Vec::new();
    for position in positions {
        if distinct.last().is_none_or(|last| position - last > apart) {
            distinct.push(position);
        }
    }
    distinct
}
