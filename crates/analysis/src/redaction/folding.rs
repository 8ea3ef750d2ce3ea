//! Texts in the forms in which values are compared, with the way back to the source.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;

/// A form of a text, and for each of its bytes the place in the source.
pub(super) struct Folded {
    pub(super) text: String,
    places: Vec<(usize, usize)>,
}

impl Folded {
    /// The characters in one width and case, without accents, blanks, hyphens and invisible characters. `%40` is `@`.
    pub(super) fn compact(source: &str) -> Self {
        let mut folded = Self::empty(source.len());
        let mut at = 0;
        while let Some(c) = source[at..].chars().next() {
            let (c, end) = match c {
                '%' => unescaped(source, at).unwrap_or((c, at + 1)),
                c => (c, at + c.len_utf8()),
            };
            if c.is_ascii() {
                if !c.is_ascii_whitespace() && c != '-' {
                    folded.push(c.to_ascii_lowercase(), at..end);
                }
            } else {
                for c in folded_case(c).filter(|c| !is_dropped(*c)) {
                    folded.push(c, at..end);
                }
            }
            at = end;
        }
        folded
    }

    /// The digits of numbers that are written in groups; other characters are one `x` each time.
    pub(super) fn digits(source: &str) -> Self {
        const WIDEST_GAP: usize = 4;
        let mut folded = Self::empty(source.len() / 4);
        let mut gap = WIDEST_GAP;
        for (at, c) in source.char_indices() {
            let place = at..at + c.len_utf8();
            if let Some(digit) =
                std::iter::once(c).nfkd().map(plain_digit).find(char::is_ascii_digit)
            {
                if gap >= WIDEST_GAP {
                    folded.push('x', at..at);
                }
                gap = 0;
                folded.push(digit, place);
            } else if is_separator(c) {
                gap += usize::from(!is_invisible(c));
            } else {
                gap = WIDEST_GAP;
            }
        }
        folded
    }

    /// The text without invisible characters, in which words go on over the ends of lines after and before `@ . _ /` and
    /// after hyphens, which are kept or dropped. `%40` is `@`.
    pub(super) fn unbroken(source: &str, keep_hyphens: bool) -> Self {
        let mut folded = Self::empty(source.len());
        let mut characters = source.char_indices().filter(|(_, c)| !is_invisible(*c)).peekable();
        // A blank line ends a paragraph.
        let is_line_end = |at: usize, c: char| {
            let length = if source[at..].starts_with("\r\n") { 2 } else { c.len_utf8() };
            is_break(c) && !source[at + length..].starts_with(is_break)
        };
        while let Some((at, c)) = characters.next() {
            if c == '%'
                && let Some((c, end)) = unescaped(source, at)
            {
                folded.push(c, at..end);
                while characters.next_if(|(next, _)| *next < end).is_some() {}
                continue;
            }
            let place = at..at + c.len_utf8();
            let breaks = characters.peek().is_some_and(|(at, next)| is_line_end(*at, *next));
            let mut before = folded.text.chars();
            if breaks && is_hyphen(c) && before.next_back().is_some_and(char::is_alphanumeric) {
                if keep_hyphens {
                    folded.push(c, place);
                }
                while characters.next_if(|(_, next)| next.is_whitespace()).is_some() {}
            } else if breaks && matches!(c, '@' | '.' | '_' | '/' | '＠') {
                folded.push(c, place);
                while characters.next_if(|(_, next)| next.is_whitespace()).is_some() {}
            } else if is_break(c) && characters.peek().is_some_and(|(_, next)| is_joint(*next)) {
                // The next sign goes on with this word.
            } else if is_blank(c) {
                folded.push(' ', place);
            } else {
                for c in std::iter::once(c).nfkc().map(plain_digit) {
                    folded.push(c, place.clone());
                }
            }
        }
        folded.undisguised()
    }

    /// The form with words in one alphabet: what looks Latin in a word with Latin characters is Latin.
    fn undisguised(self) -> Self {
        let is_part = |c: char| c.is_alphanumeric();
        if !self.text.split(|c| !is_part(c)).any(is_disguised) {
            return self;
        }
        let mut folded = Self::empty(self.text.len());
        let mut at = 0;
        while let Some(c) = self.text[at..].chars().next() {
            let rest = &self.text[at..];
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let word = &rest[..end.max(c.len_utf8())];
            let disguised = is_disguised(word);
            for (offset, c) in word.char_indices() {
                let (start, end) = self.places[at + offset];
                folded.push(latin(c).filter(|_| disguised).unwrap_or(c), start..end);
            }
            at += word.len();
        }
        folded
    }

    /// The text with words joined whose characters are written with a blank between them; `None` if there is none.
    pub(super) fn joined(&self) -> Option<Self> {
        let runs = spaced_out(&self.text);
        if runs.is_empty() {
            return None;
        }
        let mut folded = Self::empty(self.text.len());
        let mut runs = runs.into_iter().peekable();
        for (at, c) in self.text.char_indices() {
            runs.next_if(|run| run.end <= at);
            if c != ' ' || !runs.peek().is_some_and(|run| run.contains(&at)) {
                let (start, end) = self.places[at];
                folded.push(c, start..end);
            }
        }
        Some(folded)
    }

    /// The compact form without the dots and low lines that user names and files have in the place of blanks.
    pub(super) fn without_dots(&self) -> Self {
        let mut folded = Self::empty(self.text.len());
        for (at, c) in self.text.char_indices().filter(|(_, c)| !matches!(c, '.' | '_')) {
            let (start, end) = self.places[at];
            folded.push(c, start..end);
        }
        folded
    }

    /// The place in the source of a part of the form.
    pub(super) fn source(&self, part: &Range<usize>) -> Range<usize> {
        let start = self.places.get(part.start).map_or(0, |place| place.0);
        let end = part.end.checked_sub(1).and_then(|last| self.places.get(last));
        start..end.map_or(start, |place| place.1)
    }

    fn empty(capacity: usize) -> Self {
        Self { text: String::with_capacity(capacity), places: Vec::with_capacity(capacity) }
    }

    fn push(&mut self, c: char, place: Range<usize>) {
        self.text.push(c);
        self.places.resize(self.text.len(), (place.start, place.end));
    }
}

/// One character as it is compared: `ß` is `ss`, `Ｗ` is `w`, `ü` is `u` and an accent. What looks Latin is Latin.
fn folded_case(c: char) -> impl Iterator<Item = char> {
    let straight = match c {
        '\u{2018}' | '\u{2019}' => '\'',
        c => c,
    };
    std::iter::once(straight)
        .nfkd()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfkd()
        .map(|c| lookalike(c).unwrap_or(c))
}

/// Where single characters, alphabetic ones among them, follow each other with a blank between them.
fn spaced_out(text: &str) -> Vec<Range<usize>> {
    const FEWEST: usize = 6;
    let mut runs = Vec::new();
    let (mut at, mut start, mut count) = (0_usize, 0_usize, 0);
    for word in text.split(' ').chain(["the end"]) {
        if !word.is_empty() && word.chars().nth(1).is_none() {
            start = if count == 0 { at } else { start };
            count += 1;
        } else {
            let run = start..at.saturating_sub(1).max(start);
            if count >= FEWEST && text[run.clone()].contains(char::is_alphabetic) {
                runs.push(run);
            }
            count = 0;
        }
        at += word.len() + 1;
    }
    runs
}

/// A decimal digit of another script as the one of ASCII; other characters as they are.
fn plain_digit(c: char) -> char {
    const ZEROS: [u32; 18] = [
        0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50,
        0xed0, 0xf20, 0x1040, 0x17e0, 0x1810,
    ];
    let code = u32::from(c);
    let digit = ZEROS.iter().find_map(|zero| code.checked_sub(*zero).filter(|digit| *digit < 10));
    digit.and_then(|digit| char::from_digit(digit, 10)).unwrap_or(c)
}

/// The Latin character that a lowercase one of another alphabet, or its capital, looks like.
fn lookalike(c: char) -> Option<char> {
    Some(match c {
        'а' | 'α' | 'ɑ' => 'a',
        'в' | 'β' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' | 'đ' => 'd',
        'е' | 'ε' => 'e',
        'ɡ' => 'g',
        'һ' | 'н' | 'ħ' => 'h',
        'і' | 'ι' | 'ı' | 'ӏ' => 'i',
        'ј' | 'ϳ' => 'j',
        'к' | 'κ' => 'k',
        'ł' => 'l',
        'м' => 'm',
        'ո' => 'n',
        'о' | 'ο' | 'օ' | 'ø' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'ѕ' | 'ꜱ' => 's',
        'т' | 'τ' | 'ŧ' => 't',
        'ս' => 'u',
        'ѵ' => 'v',
        'ԝ' => 'w',
        'х' | 'χ' => 'x',
        'у' => 'y',
        'ζ' => 'z',
        _ => return None,
    })
}

/// Whether a text has a word that mixes Latin characters with others that look Latin.
fn is_disguised(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_alphabetic()) && word.chars().any(|c| latin(c).is_some())
}

/// The Latin character that another one looks like, in its case.
fn latin(c: char) -> Option<char> {
    let found = lookalike(c.to_lowercase().next()?)?;
    // Accents of Latin alphabets are no disguise.
    let own = matches!(c, '\0'..='\u{24f}');
    (!own).then_some(if c.is_uppercase() { found.to_ascii_uppercase() } else { found })
}

fn is_dropped(c: char) -> bool {
    c.is_whitespace() || is_hyphen(c) || is_invisible(c) || is_accent(c) || is_blank(c)
}

/// Characters that look like a blank and count as alphabetic or as symbols.
fn is_blank(c: char) -> bool {
    matches!(c, '\u{2800}' | '\u{3164}' | '\u{ffa0}')
}

fn is_accent(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{36f}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{fe20}'..='\u{fe2f}'
    )
}

/// Characters that take no space: soft hyphens, joiners, marks of direction.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}' | '\u{1f}')
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_joint(c: char) -> bool {
    matches!(c, '@' | '_' | '＠')
}

/// What is between the groups of a number.
fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || is_hyphen(c)
        || is_invisible(c)
        || is_blank(c)
        || matches!(c, '.' | '/' | '(' | ')' | '+')
}

/// The character that an escape such as `%40` means, and where the escape ends.
fn unescaped(source: &str, at: usize) -> Option<(char, usize)> {
    let byte = |at: usize| {
        let escape = source.get(at..at + 3)?.strip_prefix('%')?;
        escape.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
        u8::from_str_radix(escape, 16).ok()
    };
    let first = byte(at)?;
    let length = match first {
        0..0x80 => 1,
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => return None,
    };
    let bytes: Option<Vec<u8>> = (0..length).map(|index| byte(at + index * 3)).collect();
    let decoded = String::from_utf8(bytes?).ok()?;
    Some((decoded.chars().next()?, at + length * 3))
}
