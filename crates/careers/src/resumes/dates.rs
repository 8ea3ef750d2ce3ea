//! Dates of employment and education as they are written in English, German, French, Spanish, Portuguese and Italian.

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
const MONTHS: &[(&str, u8)] = &[
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
    ("decembre", 12),
    ("diciembre", 12),
    ("janeiro", 1),
    ("fevereiro", 2),
    ("marco", 3),
    ("maio", 5),
    ("junho", 6),
    ("julho", 7),
    ("setembro", 9),
    ("outubro", 10),
    ("novembro", 11),
    ("dezembro", 12),
    ("gennaio", 1),
    ("febbraio", 2),
    ("aprile", 4),
    ("maggio", 5),
    ("giugno", 6),
    ("luglio", 7),
    ("settembre", 9),
    ("ottobre", 10),
    ("dicembre", 12),
    ("januari", 1),
    ("februari", 2),
    ("maart", 3),
    ("mei", 5),
    ("augustus", 8),
];

const MONTH_WORD: &str = r"(?:Out|OUT|(?i:jan(?:uary|uar|vier|v|eiro|uari)?|j[äa]n(?:ner)?|ene(?:ro)?|gen(?:naio)?|feb(?:ruary|ruar|rero|braio|ruari)?|f[ée]v(?:rier|r|ereiro)?|mar(?:ch|s|zo|[cç]o)?|m[äa]e?rz?|mrz|maart|apr(?:ile?)?|avr(?:il)?|abr(?:il)?|may(?:o)?|mai(?:o)?|mei|mag(?:gio)?|june?|juni?o?|junho|juin?|giu(?:gno)?|july?|juli?o?|julho|juil(?:let)?|lug(?:lio)?|aug(?:ust(?:us)?)?|ao[uû]t?|ago(?:sto)?|sep(?:tember|tembre|tiembre|t)?|set(?:iembre|embro|tembre)?|o[ck]t(?:ober|obre|ubre)?|outubro|ott(?:obre)?|nov(?:ember|embre|iembre|embro)?|d[eé][cz](?:ember|embre|embro)?|dic(?:iembre|embre)?|summers?|winters?|spring|fall|autumn|sommer|herbst|frühjahr|frühling|été|printemps|automne|hiver|verano|invierno|otoño|primavera|verão|inverno|outono|autunno))";
static DATE: LazyLock<String> = LazyLock::new(|| {
    let year = r"(?:(?:19|20)\d{2}\b|['’]\d{2}\b)";
    format!(
        r"(?:(?:\b\d{{1,2}}(?:\.|st|nd|rd|th|er|º)?\s?)?\b{MONTH_WORD}\b\.?(?:,|\s*/|-)?\s*(?:\d{{1,2}}(?:st|nd|rd|th)?,\s*)?(?:de\s+|of\s+|del\s+)?{year}|\bQ[1-4][\s/-]*{year}|\b(?:19|20)\d{{2}}[\s/-]*Q[1-4]\b|\b\d{{1,2}}[./-]\d{{1,2}}[./-](?:19|20)\d{{2}}\b|\b\d{{1,2}}\s?[/.]\s?(?:19|20)\d{{2}}\b|\b\d{{1,2}}-(?:19|20)\d{{2}}\b|\b(?:19|20)\d{{2}}[-/.]\d{{1,2}}\b|\b(?:19|20)\d{{2}}\b|\b\d{{1,2}}/\d{{2}}\b)"
    )
});
const NOW: &str = r"(?i:present|presently|now|current|currently|today|to\s+date|ongoing|date|continuing|heute|laufend|jetzt|aktuell|gegenwart|dato|aujourd['’]hui|à\s+ce\s+jour|ce\s+jour|présent|actuel(?:lement)?|en\s+cours|maintenant|actualidad|presente|actual(?:mente)?|hoy|la\s+fecha|la\s+actualidad|o\s+momento|atual(?:mente)?|momento|hoje|oggi|in\s+corso|attual(?:e|mente)|heden)";

/// What is between the dates of a period.
const UNTIL: &str = r"(?:–|—|-|‑|−|→|~|/|>|\b(?i:to|till|until|through|thru|bis|à|au|jusqu['’]à|a|al|hasta|até|ao|ad|fino)\b)";

static PERIOD: LazyLock<Regex> = LazyLock::new(|| {
    let date = DATE.as_str();
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(&format!(
        r"(?:\b(?i:from|von|de|du|depuis|desde|dal|da)\s+)?(?P<from>{date})\s*{UNTIL}\s*(?:{UNTIL}\s*)?(?i:zum\s+)?(?:(?P<to>{date})|(?P<now>{NOW})\b)|(?:\b(?i:since|seit|depuis|desde|dal|à\s+partir\s+de|a\s+partir\s+de)|^\s*(?i:from|ab|von))\s+(?P<since>{date})|(?P<open>{date}[–—-])(?:\s{{2,}}|\t|\s*[)\]|,;:]|\s*$)|(?P<ended>{date}\s+[–—-])\s*(?:[)\]]|$)"
    ))
    .expect("a pattern that compiles")
});

/// "2012–14": the second year without its century.
static SHORT_YEARS: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(r"\b(?P<from>(?:19|20)\d{2})(?P<dash>\s?[–—/-]\s?)(?P<to>\d{2})\b")
        .expect("a pattern that compiles")
});

static SINGLE: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(&DATE).expect("a pattern that compiles")
});

/// The first period of a line.
pub(crate) fn period(line: &str) -> Option<Period> {
    let found = PERIOD.captures_iter(line).find_map(|found| read_period(&found));
    found.or_else(|| SHORT_YEARS.captures_iter(line).find_map(|found| read_short_years(&found)))
}

fn read_short_years(found: &Captures<'_>) -> Option<Period> {
    let whole = found.get(0)?;
    let (from, to) = (found["from"].parse::<u16>().ok()?, found["to"].parse::<u16>().ok()?);
    let last = from / 100 * 100 + to;
    let last = if last < from { last + 100 } else { last };
    // "2012-11" is a month; a dash makes it a year.
    let months = to <= 12 && found["dash"].contains(['-', '/']);
    let written = |year| Written::Date { year, month: None };
    (!months && last - from <= 30 && last <= 2100).then_some(Period {
        from: Some(written(from)),
        to: written(last),
        start: whole.start(),
        end: whole.end(),
    })
}

fn read_period(found: &Captures<'_>) -> Option<Period> {
    let whole = found.get(0)?;
    let date = |name: &str| found.name(name).and_then(|part| date(part.as_str()));
    let (start, end) = (whole.start(), whole.end());
    if let Some(since) = date("since") {
        return Some(Period { from: Some(since), to: Written::Present, start, end });
    }
    for name in ["open", "ended"] {
        if let Some(open) = found.name(name) {
            let from = self::date(open.as_str().trim_end_matches([' ', '–', '—', '-']))?;
            let (start, end) = (open.start(), open.end());
            return Some(Period { from: Some(from), to: Written::Present, start, end });
        }
    }
    let from = date("from")?;
    let to = if found.name("now").is_some() {
        Written::Present
    } else {
        last_date(found.name("to")?.as_str())?
    };
    let in_order = match (from, to) {
        (Written::Date { year: from, .. }, Written::Date { year: to, .. }) => from <= to,
        _ => true,
    };
    in_order.then_some(Period { from: Some(from), to, start, end })
}

/// The last date of a line that has no period.
pub(crate) fn single(line: &str) -> Option<Period> {
    singles(line).last()
}

/// The dates at the end of an enumeration as a period: "Fall 2017, Fall 2018".
pub(super) fn last_run(line: &str) -> Option<Period> {
    let mut run: Option<Period> = None;
    for date in singles(line) {
        let own = Period { from: Some(date.to), ..date };
        run = Some(match run {
            Some(run) if is_conjunction(&line[run.end..date.start]) => {
                Period { start: run.start, from: run.from, ..own }
            }
            _ => own,
        });
    }
    run
}

fn is_conjunction(text: &str) -> bool {
    [",", "&", "and", "und", "et", "y", "e", ";"].contains(&text.trim())
}

/// Whether a line has a date with its day, as mail and signatures have.
pub(super) fn has_day(line: &str) -> bool {
    singles(line).any(|date| numbers(&line[date.start..date.end]).len() > 2)
}

fn singles(line: &str) -> impl Iterator<Item = Period> {
    SINGLE.find_iter(line).filter_map(|found| {
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
    })
}

/// A date as it is written; a quarter is its first month.
pub(super) fn date(written: &str) -> Option<Written> {
    let written = written.trim();
    if let Some((year, quarter)) = quarter(written) {
        return dated(year, Some(quarter * 3 - 2));
    }
    if written.starts_with(|first: char| first.is_alphabetic()) {
        return in_words(written);
    }
    if written.contains(char::is_alphabetic) {
        // "1. März 2018": the day does not count.
        let month = written.trim_start_matches(|sign: char| !sign.is_alphabetic());
        let month = ["st ", "nd ", "rd ", "th ", "er "]
            .iter()
            .find_map(|sign| month.strip_prefix(sign))
            .unwrap_or(month);
        return in_words(month.trim_start());
    }
    let numbers = numbers(written);
    let (year, month) = match numbers.as_slice() {
        [year] => (*year, None),
        [year, month] if *year > 1000 => (*year, Some(*month)),
        [month, year] if *year > 1000 => (*year, Some(*month)),
        [month, year] => (century(*year), Some(*month)),
        // A month of more than 12 is the day of an American date.
        [month, day, year] if *day > 12 => (*year, Some(*month)),
        [_, month, year] => (*year, Some(*month)),
        _ => return None,
    };
    dated(year, month)
}

/// A date that ends a period: a quarter is its last month.
fn last_date(written: &str) -> Option<Written> {
    match quarter(written.trim()) {
        Some((year, quarter)) => dated(year, Some(quarter * 3)),
        None => date(written),
    }
}

/// The year and the quarter of "Q3 2018".
fn quarter(written: &str) -> Option<(u16, u16)> {
    written.contains(['Q', 'q']).then_some(())?;
    let numbers = numbers(written);
    match numbers.as_slice() {
        [quarter @ 1..=4, year] | [year, quarter @ 1..=4] => {
            Some((if *year < 100 { century(*year) } else { *year }, *quarter))
        }
        _ => None,
    }
}

fn numbers(written: &str) -> Vec<u16> {
    let parts = written.split(|sign: char| !sign.is_ascii_digit());
    parts.filter(|part| !part.is_empty()).filter_map(|part| part.parse().ok()).collect()
}

fn in_words(written: &str) -> Option<Written> {
    let word: String = written.chars().take_while(|sign| sign.is_alphabetic()).collect();
    // "May 1, 2018": the day does not count.
    let year = *numbers(written).last()?;
    let year = if year < 100 { century(year) } else { year };
    let word = fold(&word);
    // Seasons and the like are no months.
    let month = month(&word);
    (month.is_some() || SEASONS.contains(&word.as_str())).then_some(())?;
    dated(year, month.map(u16::from))
}

/// Words before a year that name no month, without accents.
const SEASONS: [&str; 24] = [
    "summer",
    "summers",
    "winter",
    "winters",
    "spring",
    "fall",
    "autumn",
    "sommer",
    "herbst",
    "fruhjahr",
    "fruhling",
    "ete",
    "printemps",
    "automne",
    "hiver",
    "verano",
    "invierno",
    "otono",
    "primavera",
    "verao",
    "inverno",
    "outono",
    "autunno",
    "jui",
];

fn month(word: &str) -> Option<u8> {
    if word.len() < 3 || word == "jui" {
        return None;
    }
    MONTHS.iter().filter(|(name, _)| name.starts_with(word)).map(|(_, month)| *month).next()
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

/// Lower case, without accents.
pub(super) fn fold(word: &str) -> String {
    let fold = |sign: char| match sign {
        'ä' | 'á' | 'à' | 'â' | 'ã' | 'å' => 'a',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'û' | 'ü' | 'ù' | 'ú' => 'u',
        'ó' | 'ö' | 'ô' | 'õ' | 'ò' | 'ø' => 'o',
        'í' | 'î' | 'ï' | 'ì' => 'i',
        'ñ' => 'n',
        'ç' => 'c',
        other => other,
    };
    word.to_lowercase().chars().map(fold).collect()
}
