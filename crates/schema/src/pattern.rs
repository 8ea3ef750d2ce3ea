//! The work of a pattern per byte of text.
//!
//! The engine takes linear time, multiplied by the size of the pattern: `[ab]*a[ab]{5000}c` has thousands of active
//! states at every byte.

/// A character class that is not plain ASCII is several states.
const WIDE: u64 = 4;

/// About how many states the pattern has, with counted repetitions expanded.
pub(super) fn weight(pattern: &str) -> u64 {
    let mut characters = pattern.chars().peekable();
    // The weight of each open group so far, and of the last thing in it, which a repetition would repeat.
    let mut open: Vec<(u64, u64)> = Vec::new();
    let (mut sum, mut last) = (0_u64, 0_u64);
    while let Some(character) = characters.next() {
        let atom = match character {
            '(' => {
                open.push((sum, last));
                (sum, last) = (0, 0);
                continue;
            }
            ')' => {
                let group = sum;
                (sum, _) = open.pop().unwrap_or_default();
                group
            }
            '{' => {
                let counts: String =
                    characters.clone().take_while(|c| c.is_ascii_digit() || *c == ',').collect();
                let times = counts.split(',').filter_map(|count| count.parse().ok()).max();
                let more = times.unwrap_or(1_u64).saturating_sub(1);
                let repeated = last.saturating_mul(more);
                sum = sum.saturating_add(repeated);
                last = last.saturating_add(repeated);
                characters.by_ref().take_while(|c| *c != '}').for_each(drop);
                continue;
            }
            '[' => class(&mut characters),
            '\\' => match characters.next() {
                Some('p' | 'P' | 'S' | 'W' | 'D' | 'w' | 's' | 'd') => WIDE,
                _ => 1,
            },
            '.' => WIDE,
            '*' | '+' | '?' | '|' | '^' | '$' => continue,
            _ => 1,
        };
        sum = sum.saturating_add(atom);
        last = atom;
    }
    open.into_iter().fold(sum, |sum, (outer, _)| sum.saturating_add(outer))
}

/// Skips a class up to its closing bracket.
fn class(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> u64 {
    let mut weight = 1;
    let mut depth = 1;
    if characters.peek() == Some(&'^') {
        weight = WIDE;
    }
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                weight = WIDE;
                characters.next();
            }
            '[' => depth += 1,
            ']' => depth -= 1,
            character if !character.is_ascii() => weight = WIDE,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    weight
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::weight;

    #[test]
    fn repetitions_are_written_out() {
        for (pattern, expected) in [
            ("", 0),
            ("abc", 3),
            ("^a+$", 1),
            ("a{5}", 5),
            ("a{2,7}b", 8),
            ("a{3,}", 3),
            ("(ab){10}", 20),
            ("((a{10}){10}){10}", 1_000),
            ("((a{1000000}){1000000}){1000000}{1000000}", u64::MAX),
            ("[a-z]{10}", 10),
            ("[^a-z]{10}", 40),
            (r"[\]}]{3}", 12),
            (r"\{3\}", 3),
            (".{255}", 1_020),
            ("[ab]*a[ab]{500}c", 503),
            ("(a|b|(c{9}", 11),
            ("x)y{3}", 4),
        ] {
            assert_eq!(weight(pattern), expected, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_weight(pattern in any::<String>(), odd in "[(){}\\[\\]\\\\,0-9^a]{0,40}") {
            let _ = weight(&pattern);
            let _ = weight(&odd);
        }
    }
}
