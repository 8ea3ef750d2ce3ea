//! Characters of fonts that do not name them, guessed from the codes of their glyphs.

/// Fewer glyphs say too little.
const LEAST: usize = 40;

/// The offsets from a code to its character: 0 where it is ASCII, as in bitmap fonts of TeX, and 29 where it is the number
/// of a glyph in the usual order of TrueType fonts.
const OFFSETS: [u32; 2] = [0, 29];

/// How the codes of a page become characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Guess {
    offset: u32,
}

impl Guess {
    /// `None` if no reading of the codes looks like words in the Latin alphabet.
    pub(super) fn of(codes: &[u32]) -> Option<Self> {
        let guesses = OFFSETS.map(|offset| Self { offset });
        guesses.into_iter().find(|guess| codes.len() >= LEAST && guess.is_plausible(codes))
    }

    pub(super) fn text(self, code: u32) -> Option<String> {
        // The ligatures of TeX's fonts.
        let ligature = match code {
            11 => "ff",
            12 => "fi",
            13 => "fl",
            14 => "ffi",
            15 => "ffl",
            _ => "",
        };
        if self.offset == 0 && !ligature.is_empty() {
            return Some(ligature.to_owned());
        }
        let character = char::from_u32(code.checked_add(self.offset)?)?;
        (' '..='~').contains(&character).then(|| character.to_string())
    }

    /// Whether characters are as frequent as in European languages.
    fn is_plausible(self, codes: &[u32]) -> bool {
        let texts: Vec<String> = codes.iter().filter_map(|code| self.text(*code)).collect();
        let characters: Vec<char> =
            texts.iter().flat_map(|text| text.chars()).filter(|it| *it != ' ').collect();
        let alphabetic: Vec<char> =
            characters.iter().copied().filter(char::is_ascii_alphabetic).collect();
        let share = |set: &str| {
            let found = alphabetic.iter().filter(|it| set.contains(it.to_ascii_lowercase()));
            found.count() as f64 / alphabetic.len().max(1) as f64
        };
        let lower = alphabetic.iter().filter(|it| it.is_ascii_lowercase()).count();
        texts.len() * 20 >= codes.len() * 19
            && alphabetic.len() * 10 >= characters.len() * 7
            && lower * 10 >= alphabetic.len() * 6
            && (0.28..0.52).contains(&share("aeiou"))
            && share("eainrtso") > 0.5
            && share("ea") > 0.1
            && share("jqxzwky") < 0.15
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "The quick brown fox jumps over the lazy dog, and no person in the town was in the least surprised.";

    #[test]
    fn codes_that_read_as_words_are_characters() {
        let codes: Vec<u32> = TEXT.chars().map(u32::from).collect();
        assert_eq!(Guess::of(&codes), Some(Guess { offset: 0 }));
        let glyphs: Vec<u32> = codes.iter().map(|code| code - 29).collect();
        let guess = Guess::of(&glyphs).expect("a guess");
        let text: String = glyphs.iter().filter_map(|code| guess.text(*code)).collect();
        assert_eq!(text, TEXT);
    }

    #[test]
    fn other_codes_are_not_guessed() {
        let mut seen: Vec<char> = Vec::new();
        let mut by_first_use = |start: u32| -> Vec<u32> {
            let code = |it: char| {
                let at = seen.iter().position(|known| *known == it).unwrap_or_else(|| {
                    seen.push(it);
                    seen.len() - 1
                });
                start + at as u32
            };
            TEXT.chars().map(code).collect()
        };
        for start in [1, 33, 65, 97] {
            assert_eq!(Guess::of(&by_first_use(start)), None, "{start}");
        }
        assert_eq!(Guess::of(&[84, 104, 101]), None);
        assert_eq!(
            Guess::of(&"0123456789".repeat(9).chars().map(u32::from).collect::<Vec<_>>()),
            None
        );
    }
}
