//! Characters: what fonts call them, and the order in which they are read.

#[cfg(test)]
mod tests;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{compose, is_combining_mark};

/// Appends the text of a glyph: ligatures and presentation forms as the characters that they represent.
pub(super) fn push_plain(text: &mut String, character: char) {
    match character {
        '\u{fb00}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fdfc}' | '\u{fe70}'..='\u{fefc}' => {
            text.extend(std::iter::once(character).nfkc());
        }
        // Fonts for Chinese and Japanese name radicals and variants instead of characters.
        '\u{2f00}'..='\u{2fdf}' | '\u{f900}'..='\u{faff}' => {
            text.extend(std::iter::once(character).nfkc());
        }
        // Bullets of the fonts Symbol and Wingdings.
        '\u{f0b7}' | '\u{f0a7}' | '\u{f076}' | '\u{f0d8}' | '\u{f0fc}' => text.push('•'),
        '\t' | '\n' | '\r' | '\u{a0}' => text.push(' '),
        '\0' => {}
        character => text.push(character),
    }
}

/// Whether a character is drawn onto the one before.
pub(super) fn is_mark(character: char) -> bool {
    is_combining_mark(character)
}

/// The letter with an accent that was drawn as a glyph of its own, as older TeX fonts do.
pub(super) fn with_accent(letter: char, accent: char) -> Option<char> {
    let mark = match accent {
        '`' | '\u{2cb}' => '\u{300}',
        '´' | '\u{2ca}' => '\u{301}',
        'ˆ' | '^' => '\u{302}',
        '˜' | '~' => '\u{303}',
        '¯' | '\u{2c9}' => '\u{304}',
        '˘' => '\u{306}',
        '˙' => '\u{307}',
        '¨' => '\u{308}',
        '˚' => '\u{30a}',
        '˝' => '\u{30b}',
        'ˇ' => '\u{30c}',
        '¸' => '\u{327}',
        '˛' => '\u{328}',
        _ => return None,
    };
    let letter = match letter {
        'ı' => 'i',
        'ȷ' => 'j',
        letter => letter,
    };
    compose(letter, mark)
}

/// Whether a character is written from right to left.
pub(super) fn is_rtl(character: char) -> bool {
    matches!(
        character,
        '\u{590}'..='\u{65f}'
            | '\u{66a}'..='\u{6ef}'
            | '\u{6fa}'..='\u{8ff}'
            | '\u{fb1d}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefc}'
            | '\u{10800}'..='\u{10fff}'
            | '\u{1e800}'..='\u{1efff}'
    )
}

/// Whether more characters of a text are written from right to left than from left to right.
pub(super) fn is_mostly_rtl<'a>(texts: impl Iterator<Item = &'a str>) -> bool {
    let (mut right, mut left) = (0_usize, 0_usize);
    for character in texts.flat_map(str::chars) {
        if is_rtl(character) {
            right += 1;
        } else if character.is_alphabetic() {
            left += 1;
        }
    }
    right > left
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Left,
    Right,
    Digit,
    Neutral,
}

fn direction(character: char) -> Direction {
    match character {
        character if character.is_numeric() => Direction::Digit,
        character if is_rtl(character) => Direction::Right,
        character if character.is_alphabetic() => Direction::Left,
        _ => Direction::Neutral,
    }
}

/// A line as it is read, from its characters in their order on the page from left to right.
pub(super) fn in_reading_order(line: String) -> String {
    if line.is_ascii() || !line.chars().any(is_rtl) {
        return line;
    }
    let mut characters: Vec<char> = line.chars().collect();
    if is_mostly_rtl(std::iter::once(line.as_str())) {
        characters.reverse();
        for character in &mut characters {
            *character = mirrored(*character);
        }
        turn_runs(&mut characters, Direction::Left);
    } else {
        turn_runs(&mut characters, Direction::Right);
    }
    characters.into_iter().collect()
}

/// Turns each run of one direction around; digits and characters between two words of the run belong to it.
fn turn_runs(characters: &mut [char], turned: Direction) {
    let strong = |character: char| {
        let direction = direction(character);
        direction == turned || (turned == Direction::Left && direction == Direction::Digit)
    };
    let mut start = 0;
    while start < characters.len() {
        if !strong(characters[start]) {
            start += 1;
            continue;
        }
        let mut end = start + 1;
        let mut at = end;
        while at < characters.len() {
            let direction = direction(characters[at]);
            if strong(characters[at]) {
                end = at + 1;
            } else if matches!(direction, Direction::Left | Direction::Right) {
                break;
            }
            at += 1;
        }
        let run = &mut characters[start..end];
        run.reverse();
        if turned == Direction::Right {
            for character in run.iter_mut() {
                *character = mirrored(*character);
            }
            turn_numbers(run);
        } else if !run.iter().any(|character| direction(*character) == Direction::Left) {
            // Several numbers between words from right to left are in the order of those words.
            run.reverse();
            turn_numbers(run);
        } else {
            for character in run.iter_mut() {
                *character = mirrored(*character);
            }
        }
        start = end;
    }
}

/// Turns each number around, with the separators in it.
fn turn_numbers(characters: &mut [char]) {
    let mut start = 0;
    while start < characters.len() {
        if !characters[start].is_numeric() {
            start += 1;
            continue;
        }
        let mut end = start + 1;
        while end < characters.len() {
            let separates = matches!(characters[end], '.' | ',' | ':' | '/' | '-')
                && characters.get(end + 1).is_some_and(|next| next.is_numeric());
            if !characters[end].is_numeric() && !separates {
                break;
            }
            end += 1;
        }
        characters[start..end].reverse();
        start = end;
    }
}

fn mirrored(character: char) -> char {
    match character {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '<' => '>',
        '>' => '<',
        '«' => '»',
        '»' => '«',
        character => character,
    }
}
