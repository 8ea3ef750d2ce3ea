//! Words of one direction and their opposites.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::prose::stem;

/// One scale per line: words that point up, and words that point down. Words of one side count as similar.
const SCALES: &str = "\
increase rise rising raise grow growth grew rose risen climb expand expansion higher high highest | \
decrease reduce reduction fall falling fell fallen drop decline shrink shrank cut diminish lessen lower low lowest
more | less fewer
most many majority | least few minority
long longer longest | short shorter shortest
overestimate | underestimate
survive survived | die died dead
warm warmer warming hot hotter hottest | cool cooler cooling cold colder coldest chill
large larger largest big bigger | small smaller smallest little
improve improvement better best | worsen worse worst deteriorate
strengthen strong stronger | weaken weak weaker
accelerate fast faster quick quicker sped | slow slower decelerate
positive positively | negative negatively
before earlier early | after later late
above exceed exceeded | below
maximum maximal | minimum minimal
always | never
allow permit legal | forbid forbidden ban prohibit illegal
include inclusion | exclude exclusion
succeed success successful | unsuccessful
cheap cheaper cheapest inexpensive | expensive costly dear
gain win won | lose loss lost
open opened | close closed
north northern | south southern
east eastern | west western
summer | winter
day daytime | night nighttime nocturnal
old older | new newer young younger
safe safer | dangerous unsafe
advantage benefit | disadvantage drawback
support | oppose opposed
accept accepted | reject rejected
true | false
likely | unlikely
possible | impossible
effective | ineffective
sufficient | insufficient
";

/// A side of a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Direction {
    pub(super) scale: usize,
    pub(super) up: bool,
}

static DIRECTIONS: LazyLock<HashMap<String, Direction>> = LazyLock::new(|| {
    let mut directions = HashMap::new();
    for (scale, line) in SCALES.lines().enumerate() {
        for (side, words) in line.split('|').enumerate() {
            for word in words.split_whitespace() {
                directions.insert(stem(word), Direction { scale, up: side == 0 });
            }
        }
    }
    directions
});

/// The side of a scale that a stem is on.
pub(super) fn direction(stem: &str) -> Option<Direction> {
    DIRECTIONS.get(stem).copied()
}

#[cfg(test)]
mod tests {
    use super::{SCALES, direction, stem};

    #[test]
    fn every_word_has_one_direction() {
        for (scale, line) in SCALES.lines().enumerate() {
            let sides: Vec<_> = line.split('|').collect();
            assert_eq!(sides.len(), 2, "{line}");
            for (side, words) in sides.iter().enumerate() {
                for word in words.split_whitespace() {
                    let found = direction(&stem(word)).map(|found| (found.scale, found.up));
                    assert_eq!(found, Some((scale, side == 0)), "`{word}` is on two scales");
                }
            }
        }
    }
}
