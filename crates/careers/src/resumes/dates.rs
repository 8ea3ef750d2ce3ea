//! Dates of employment and education as they are written in English, German, French and Spanish.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// A month, or a year where no month is written; or the present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Date { year: u16, month: Option<u8> },
    Present,
}

/// A period in a line, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Period {
    pub from: Option<Written>,
    pub to: Written,
    pub start: usize,
    pub end: usize,
}

impl Written {
    /// `YYYY-MM`, `YYYY` or `present`.
    pub(super) fn text(self) -> String {
        match self {
            Self::Date { year, month: Some(month) } => format!("{year:04}-{month:02}"),
            Self::Date { year, month: None } => format!("{year:04}"),
            Self::Present => "present".to_owned(),
        }
    }
}

/// The beginnings of the names of months, without accents. "jui" is June or July in French, so it is no month.
const MONTHS: [(&str, u8); 45] = [
    ("january", 1),
    ("januar", 1),
    ("janner", 1),
    ("janvier", 1),
    ("enero", 1),
    ("february", 2),
    ("februar", 2),
    ("fevrier", 2),
    ("febrero", 2),
    ("march", 3),
    ("marz", 3),
    ("maerz", 3),
    ("mars", 3),
    ("marzo", 3),
    ("mrz", 3),
    ("april", 4),
    ("avril", 4),
    ("abril", 4),
    ("may", 5),
    ("mai", 5),
    ("mayo", 5),
    ("june", 6),
    ("juni", 6),
    ("juin", 6),
    ("junio", 6),
    ("july", 7),
    ("juli", 7),
    ("juillet", 7),
    ("julio", 7),
    ("august", 8),
    ("aout", 8),
    ("agosto", 8),
    ("september", 9),
    ("septembre", 9),
    ("septiembre", 9),
    ("setiembre", 9),
    ("october", 10),
    ("oktober", 10),
    ("octobre", 10),
    ("octubre", 10),
    ("november", 11),
    ("novembre", 11),
    ("noviembre", 11),
    ("dezember", 12),
    ("december", 12),
];
const MORE_MONTHS: [(&str, u8); 3] = [("decembre", 12), ("diciembre", 12), ("sept", 9)];

const MONTH_WORD: &str = r"(?i:jan(?:uary|uar|vier)?|j[äa]n(?:ner)?|ene(?:ro)?|feb(?:ruary|ruar|rero)?|f[ée]v(?:rier|r)?|mar(?:ch|s|zo)?|m[äa]e?rz?|mrz|apr(?:il)?|avr(?:il)?|abr(?:il)?|may(?:o)?|mai|june?|juni?o?|juin?|july?|juli?o?|juil(?:let)?|aug(?:ust)?|ao[uû]t?|ago(?:sto)?|sep(?:tember|tembre|tiembre|t)?|set(?:iembre)?|o[ck]t(?:ober|obre|ubre)?|nov(?:ember|embre|iembre)?|d[eé][cz](?:ember|embre)?|dic(?:iembre)?|summer|winter|spring|fall|autumn|sommer|herbst|été|hiver|verano)";
static DATE: LazyLock<String> = LazyLock::new(|| {
    format!(
        r"(?:(?:\b\d{{1,2}}\.\s?)?\b{MONTH_WORD}\b\.?,?\s*(?:de\s+|of\s+)?(?:(?:19|20)\d{{2}}\b|['’]\d{{2}}\b)|\b\d{{1,2}}[./-]\d{{1,2}}[./-](?:19|20)\d{{2}}\b|\b\d{{1,2}}\s?[/.]\s?(?:19|20)\d{{2}}\b|\b(?:19|20)\d{{2}}[-/.]\d{{1,2}}\b|\b(?:19|20)\d{{2}}\b|\b\d{{1,2}}/\d{{2}}\b)"
    )
});
const NOW: &str = r"(?i:present|presently|now|current|currently|today|to\s+date|ongoing|date|heute|laufend|jetzt|aktuell|gegenwart|dato|aujourd['’]hui|à\s+ce\s+jour|présent|actuel(?:lement)?|en\s+cours|maintenant|actualidad|presente|actual(?:mente)?|hoy|la\s+fecha|la\s+actualidad)";

static PERIOD: LazyLock<Regex> = LazyLock::new(|| {
    let date = DATE.as_str();
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(&format!(
        r"(?:\b(?i:from|von|de|du|depuis|desde)\s+)?(?P<from>{date})\s*(?:–|—|-|‑|−|→|~|/|\b(?i:to|till|until|through|bis|à|au|jusqu['’]à|a|al|hasta)\b)\s*(?i:zum\s+)?(?:(?P<to>{date})|(?P<now>{NOW})\b)|\b(?i:since|seit|depuis|desde)\s+(?P<since>{date})"
    ))
    .expect("a pattern that compiles")
});

static SINGLE: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(&DATE).expect("a pattern that compiles")
});

/// The first period of a line.
pub(crate) fn period(line: &str) -> Option<Period> {
    PERIOD.captures_iter(line).find_map(|found| read_period(&found))
}

fn read_period(found: &Captures<'_>) -> Option<Period> {
    let whole = found.get(0)?;
    let date = |name: &str| found.name(name).and_then(|part| date(part.as_str()));
    let (start, end) = (whole.start(), whole.end());
    if let Some(since) = date("since") {
        return Some(Period { from: Some(since), to: Written::Present, start, end });
    }
    let from = date("from")?;
    let to = if found.name("now").is_some() { Written::Present } else { date("to")? };
    let in_order = match (from, to) {
        (Written::Date { year: from, .. }, Written::Date { year: to, .. }) => from <= to,
        _ => true,
    };
    in_order.then_some(Period { from: Some(from), to, start, end })
}

/// The last date of a line that has no period.
pub(crate) fn single(line: &str) -> Option<Period> {
    let found = SINGLE.find_iter(line).filter_map(|found| {
        let before = line[..found.start()].chars().next_back();
        let after = line[found.end()..].chars().next();
        let inside = |sign: Option<char>| sign.is_some_and(|sign| sign.is_alphanumeric());
        let to = date(found.as_str())?;
        (!inside(before) && !inside(after)).then_some(Period {
            from: None,
            to,
            start: found.start(),
            end: found.end(),
        })
    });
    found.last()
}

/// A date as it is written.
pub(super) fn date(written: &str) -> Option<Written> {
    let written = written.trim();
    if written.starts_with(|first: char| first.is_alphabetic()) {
        return in_words(written);
    }
    let numbers: Vec<u16> = written
        .split(|sign: char| !sign.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .filter_map(|part| part.parse().ok())
        .collect();
    if written.contains(char::is_alphabetic) {
        // "1. März 2018": the day does not count.
        return in_words(written.trim_start_matches(|sign: char| !sign.is_alphabetic()));
    }
    let (year, month) = match numbers.as_slice() {
        [year] => (*year, None),
        [year, month] if *year > 1000 => (*year, Some(*month)),
        [month, year] if *year > 1000 => (*year, Some(*month)),
        [month, year] => (century(*year), Some(*month)),
        [_, month, year] => (*year, Some(*month)),
        _ => return None,
    };
    dated(year, month)
}

fn in_words(written: &str) -> Option<Written> {
    let word: String = written.chars().take_while(|sign| sign.is_alphabetic()).collect();
    let digits: String = written.chars().filter(char::is_ascii_digit).collect();
    let year: u16 = digits.parse().ok()?;
    let year = if year < 100 { century(year) } else { year };
    let word = fold(&word);
    // Seasons and the like are no months.
    let month = month(&word);
    let season = [
        "summer", "winter", "spring", "fall", "autumn", "sommer", "herbst", "ete", "hiver",
        "verano", "jui",
    ];
    (month.is_some() || season.contains(&word.as_str())).then_some(())?;
    dated(year, month.map(u16::from))
}

fn month(word: &str) -> Option<u8> {
    if word.len() < 3 || word == "jui" {
        return None;
    }
    let all = MONTHS.iter().chain(&MORE_MONTHS);
    all.filter(|(name, _)| name.starts_with(word)).map(|(_, month)| *month).next()
}

fn dated(year: u16, month: Option<u16>) -> Option<Written> {
    let month = match month {
        None => None,
        Some(month @ 1..=12) => Some(month as u8),
        Some(_) => return None,
    };
    (1940..=2100).contains(&year).then_some(Written::Date { year, month })
}

/// Two digits are a year up to 2049.
fn century(year: u16) -> u16 {
    if year < 50 { 2000 + year } else { 1900 + year }
}

/// Lower case, without the accents of the four languages.
pub(super) fn fold(word: &str) -> String {
    let fold = |sign: char| match sign {
        'ä' | 'á' | 'à' | 'â' => 'a',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'û' | 'ü' | 'ù' | 'ú' => 'u',
        'ó' | 'ö' | 'ô' => 'o',
        'í' | 'î' | 'ï' => 'i',
        'ñ' => 'n',
        'ç' => 'c',
        other => other,
    };
    word.to_lowercase().chars().map(fold).collect()
}
