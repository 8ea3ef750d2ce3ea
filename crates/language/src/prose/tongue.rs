use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

const TABLE: &str = include_str!("function_words.txt");

type Words = HashSet<&'static str>;

static TONGUES: LazyLock<Vec<(&'static str, Words)>> = LazyLock::new(|| {
    TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let (code, words) = line.split_once(' ')?;
            Some((code, words.split(' ').collect()))
        })
        .collect()
});

/// Where each word is at home.
static HOMES: LazyLock<HashMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut homes: HashMap<_, Vec<_>> = HashMap::new();
    for (index, (_, words)) in TONGUES.iter().enumerate() {
        for word in words {
            homes.entry(*word).or_default().push(index);
        }
    }
    homes
});

/// The share of function words below which a language is not named.
const ENOUGH: f64 = 0.12;

/// A language whose function words are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tongue(usize);

impl Tongue {
    /// The language that most of the words speak for.
    pub(super) fn of<'a>(words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut votes = vec![0.0; TONGUES.len()];
        let mut count = 0.0;
        for word in words {
            count += 1.0;
            // A word of many languages speaks for each of them a little.
            for home in HOMES.get(word).into_iter().flatten() {
                votes[*home] += 1.0 / HOMES[word].len() as f64;
            }
        }
        let (best, share) = votes.into_iter().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let enough: f64 = if count < 12.0 { ENOUGH / 2.0 } else { ENOUGH };
        (share > 0.0 && share >= enough * count).then_some(Self(best))
    }

    /// The language of this code, such as `en`.
    pub fn named(code: &str) -> Option<Self> {
        TONGUES.iter().position(|(known, _)| *known == code).map(Self)
    }

    /// Its code, such as `en`.
    pub fn code(self) -> &'static str {
        TONGUES[self.0].0
    }

    /// Whether a folded word only holds sentences of this language together.
    pub fn has(self, word: &str) -> bool {
        TONGUES[self.0].1.contains(word)
    }
}
