//! Ink and its connected parts.

use crate::grey::Grey;

/// More parts than these are noise; the rest of the picture is not searched.
const MAX_PARTS: usize = 200_000;

/// A connected part of the ink: its box (right and bottom exclusive) and its number of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) left: usize,
    pub(crate) top: usize,
    pub(crate) right: usize,
    pub(crate) bottom: usize,
    pub(crate) area: usize,
}

impl Part {
    pub(crate) fn width(&self) -> usize {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> usize {
        self.bottom - self.top
    }

    fn join(&mut self, other: &Self) {
        self.left = self.left.min(other.left);
        self.top = self.top.min(other.top);
        self.right = self.right.max(other.right);
        self.bottom = self.bottom.max(other.bottom);
        self.area += other.area;
    }
}

/// The shade that best separates two classes of pixels (Otsu): ink is darker or equal.
pub(crate) fn threshold(counts: &[u32; 256]) -> u8 {
    let total: f64 = counts.iter().map(|count| f64::from(*count)).sum();
    let weighted = |range: &[u32]| -> f64 {
        range.iter().zip(0u32..).map(|(count, shade)| f64::from(*count) * f64::from(shade)).sum()
    };
    let all = weighted(counts);
    let (mut below, mut below_sum, mut best) = (0.0, 0.0, (0.0, 127u8));
    for shade in 0..=255u8 {
        let count = f64::from(counts[usize::from(shade)]);
        below += count;
        below_sum += count * f64::from(shade);
        let above = total - below;
        if below == 0.0 || above == 0.0 {
            continue;
        }
        let apart = below_sum / below - (all - below_sum) / above;
        let variance = below * above * apart * apart;
        if variance > best.0 {
            best = (variance, shade);
        }
    }
    best.1
}

/// A horizontal run of ink.
struct Run {
    left: usize,
    right: usize,
    part: usize,
}

/// The connected parts (in eight directions) of all pixels at most as light as `ink`.
pub(crate) fn parts(picture: &Grey, ink: u8) -> Vec<Part> {
    let mut forest = Forest::default();
    let mut above: Vec<Run> = Vec::new();
    for y in 0..picture.height() {
        if forest.parts.len() > MAX_PARTS {
            break;
        }
        let mut here = Vec::new();
        let mut first = 0;
        for (left, right) in runs(picture.row(y), ink) {
            while first < above.len() && above[first].right < left {
                first += 1;
            }
            let run = Part { left, top: y, right, bottom: y + 1, area: right - left };
            let mut touching =
                above[first..].iter().take_while(|run| run.left <= right).map(|run| run.part);
            let part = match touching.next() {
                Some(part) => forest.extend(part, &run),
                None => forest.add(run),
            };
            for other in touching {
                forest.join(part, other);
            }
            here.push(Run { left, right, part });
        }
        above = here;
    }
    forest.roots()
}

/// The runs of ink in a row, right ends exclusive.
pub(crate) fn runs(row: &[u8], ink: u8) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let left = at + row[at..].iter().position(|shade| *shade <= ink)?;
        let length = row[left..].iter().position(|shade| *shade > ink);
        at = length.map_or(row.len(), |length| left + length);
        Some((left, at))
    })
}

/// Parts that are joined while rows are read.
#[derive(Default)]
struct Forest {
    parts: Vec<Part>,
    parents: Vec<usize>,
}

impl Forest {
    fn add(&mut self, part: Part) -> usize {
        self.parts.push(part);
        self.parents.push(self.parents.len());
        self.parts.len() - 1
    }

    fn extend(&mut self, index: usize, run: &Part) -> usize {
        let root = self.root(index);
        self.parts[root].join(run);
        root
    }

    fn root(&mut self, mut index: usize) -> usize {
        while self.parents[index] != index {
            self.parents[index] = self.parents[self.parents[index]];
            index = self.parents[index];
        }
        index
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        if one != other {
            let joined = self.parts[one.max(other)];
            self.parts[one.min(other)].join(&joined);
            self.parents[one.max(other)] = one.min(other);
        }
    }

    fn roots(self) -> Vec<Part> {
        let Self { parts, parents } = self;
        let roots = parts.into_iter().zip(parents).enumerate();
        roots.filter(|(index, (_, parent))| index == parent).map(|(_, (part, _))| part).collect()
    }
}
