//! Names of languages: containers use codes of three characters, callers mostly of two.

/// ISO 639-1 with ISO 639-2, of which some languages have two codes.
const CODES: [(&str, &str, &str); 46] = [
    ("ar", "ara", "ara"),
    ("bg", "bul", "bul"),
    ("bn", "ben", "ben"),
    ("ca", "cat", "cat"),
    ("cs", "ces", "cze"),
    ("cy", "cym", "wel"),
    ("da", "dan", "dan"),
    ("de", "deu", "ger"),
    ("el", "ell", "gre"),
    ("en", "eng", "eng"),
    ("es", "spa", "spa"),
    ("et", "est", "est"),
    ("eu", "eus", "baq"),
    ("fa", "fas", "per"),
    ("fi", "fin", "fin"),
    ("fr", "fra", "fre"),
    ("ga", "gle", "gle"),
    ("gl", "glg", "glg"),
    ("he", "heb", "heb"),
    ("hi", "hin", "hin"),
    ("hr", "hrv", "hrv"),
    ("hu", "hun", "hun"),
    ("id", "ind", "ind"),
    ("is", "isl", "ice"),
    ("it", "ita", "ita"),
    ("ja", "jpn", "jpn"),
    ("ko", "kor", "kor"),
    ("lt", "lit", "lit"),
    ("lv", "lav", "lav"),
    ("ms", "msa", "may"),
    ("nb", "nob", "nor"),
    ("nl", "nld", "dut"),
    ("pl", "pol", "pol"),
    ("pt", "por", "por"),
    ("ro", "ron", "rum"),
    ("ru", "rus", "rus"),
    ("sk", "slk", "slo"),
    ("sl", "slv", "slv"),
    ("sr", "srp", "srp"),
    ("sv", "swe", "swe"),
    ("ta", "tam", "tam"),
    ("th", "tha", "tha"),
    ("tr", "tur", "tur"),
    ("uk", "ukr", "ukr"),
    ("vi", "vie", "vie"),
    ("zh", "zho", "chi"),
];

/// Whether two codes name one language, such as `de`, `de-AT`, `deu` and `ger`.
pub fn is_same_language(one: &str, other: &str) -> bool {
    let (one, other) = (main_part(one), main_part(other));
    if one == other {
        return true;
    }
    let names = |code: &str, row: &(&str, &str, &str)| [row.0, row.1, row.2].contains(&code);
    CODES.iter().any(|row| names(&one, row) && names(&other, row))
}

fn main_part(code: &str) -> String {
    let part = code.split(['-', '_']).next().unwrap_or_default();
    part.trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_one_language_are_the_same() {
        for (one, other) in
            [("de", "ger"), ("deu", "ger"), ("pt-BR", "por"), ("EN", "eng"), ("xx", "xx")]
        {
            assert!(is_same_language(one, other), "{one} {other}");
        }
        assert!(!is_same_language("de", "eng") && !is_same_language("", "eng"));
    }
}
