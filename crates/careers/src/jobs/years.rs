//! How many years of experience a job asks for.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::{beginning, ending, has_phrase};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Years {
    pub min: Option<u32>,
    pub max: Option<u32>,
}

const NUMBERS: [(&str, u32); 47] = [
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("twelve", 12),
    ("fifteen", 15),
    ("twenty", 20),
    ("ein", 1),
    ("einem", 1),
    ("zwei", 2),
    ("drei", 3),
    ("vier", 4),
    ("fünf", 5),
    ("sechs", 6),
    ("sieben", 7),
    ("acht", 8),
    ("neun", 9),
    ("zehn", 10),
    ("un", 1),
    ("deux", 2),
    ("trois", 3),
    ("quatre", 4),
    ("cinq", 5),
    ("sept", 7),
    ("huit", 8),
    ("neuf", 9),
    ("dix", 10),
    ("uno", 1),
    ("dos", 2),
    ("tres", 3),
    ("cuatro", 4),
    ("cinco", 5),
    ("seis", 6),
    ("siete", 7),
    ("ocho", 8),
    ("nueve", 9),
    ("diez", 10),
    ("a couple of", 2),
    ("eleven", 11),
    ("zwölf", 12),
    ("doce", 12),
];

static YEARS: LazyLock<Regex> = LazyLock::new(|| {
    let words: Vec<&str> = NUMBERS.iter().map(|(word, _)| *word).collect();
    let number = format!(r"(?:\d{{1,2}}|{})", words.join("|"));
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(&format!(
        r"(?ix)
        (?P<lead> at\s+least | a?\s*minimum\s+(?:of\s+)? | min\.? | no\s+less\s+than | not\s+less\s+than | more\s+than | over
          | up\s+to | a?\s*maximum\s+of | mindestens | wenigstens | min\. | über | mehr\s+als | bis\s+zu | ab
          | au\s+moins | minimum | plus\s+de | jusqu['’]à | al\s+menos | (?:un\s+)?mínimo\s+(?:de\s+)? | más\s+de | hasta | como\s+mínimo
          | between | zwischen | entre | from | von | de | >=? | ≥ )?
        \s* \b (?P<low> {number}) \b \s* (?P<open> \+ | plus\b | (?:or|oder|ou|o)\s+(?:more|mehr|plus|más)\b )?
        (?: \s* (?: – | — | - | ‑ | \bto\b | \band\b | \bor\b | \bbis\b | \bund\b | \boder\b | à | \bet\b | \bou\b | \ba\b | \by\b | \bo\b ) \s* (?P<high> {number}) \b )?
        \s* (?P<open2> \+ )? [\s-]*
        (?: \( \d{{1,2}} \) \s* )?
        (?: full | volle | great | solid )? \s*
        \b (?: years? | yrs? | jahre?n? | ans | années? | años? ) \b ['’]?
        (?P<open3> \s* (?: \+ | (?:or|oder|ou|o)\s+(?:more|mehr|plus|más)\b | minimum | mínimo | upwards | and\s+up ) )?"
    ))
    .expect("a pattern that compiles")
});

/// Words further from a number than this many bytes say nothing about it. A text with many numbers would be read once for
/// each without a limit.
const NEAR: usize = 200;

/// Words of experience, in lower case.
const EXPERIENCE: &str = "experience|experienced|erfahrung|berufserfahrung|praxis|expérience|experiencia|similar role|similar position|\
    comparable role|relevant|working|worked|work|professional|in the field|in a role|as a|as an|behind you|background|practice|hands-on|\
    track record|industry|vergleichbar|vergleichbaren|ähnlichen|tätigkeit|poste similaire|puesto similar|in the job|under your belt|\
    berufspraxis|trabajando|trabajado|commercial|post-qualification|qualified";

/// Words after a number of years that is no experience, in lower case.
const NOT_EXPERIENCE: &str = "old|ago|of age|contract|warranty|fixed|history|anniversary|in business|on the market|alt|vertrag|befristet|\
    befristung|gegründet|geschichte|contrat|d'existence|d'histoire|contrato|edad|historia|de antigüedad|leave|plan|duration|project|of growth";

/// The years in a text; `named` if its key says that they are experience.
pub(super) fn find(text: &str, named: bool) -> Option<Years> {
    let lower = text.to_lowercase();
    YEARS.captures_iter(&lower).find_map(|found| {
        let whole = found.get(0)?;
        let before: String = last_words(ending(&lower[..whole.start()], NEAR), 8);
        let after: String = first_words(beginning(&lower[whole.end()..], NEAR), 8);
        let has = |text: &str, words: &str| words.split('|').any(|word| has_phrase(text, word));
        if has(&first_words(&after, 3), NOT_EXPERIENCE)
            || has(&last_words(&before, 3), "founded|since|for the past|for the last")
        {
            return None;
        }
        if !named && !has(&after, EXPERIENCE) && !has(&before, EXPERIENCE) {
            return None;
        }
        let part = |name: &str| found.name(name).map(|part| part.as_str());
        let low = number(part("low")?)?;
        let lead = part("lead").unwrap_or("").trim();
        let most = ["up to", "bis zu", "hasta", "jusqu'à", "jusqu’à"].contains(&lead)
            || lead.contains("maximum");
        Some(match part("high").and_then(number) {
            Some(high) if high > low && part("open2").is_none() => {
                Years { min: Some(low), max: Some(high) }
            }
            None if most => Years { min: None, max: Some(low) },
            _ => Years { min: Some(low), max: None },
        })
    })
}

/// Puts a mark in the place of years, so that they can be left out of lists.
pub(super) fn mark(text: &str, mark: &str) -> String {
    YEARS.replace_all(text, format!(" {mark} ")).into_owned()
}

fn number(written: &str) -> Option<u32> {
    let written = written.trim();
    written
        .parse()
        .ok()
        .or_else(|| NUMBERS.iter().find(|(word, _)| *word == written).map(|(_, number)| *number))
}

fn first_words(text: &str, count: usize) -> String {
    text.split(['.', ';', '\n'])
        .next()
        .unwrap_or("")
        .split_whitespace()
        .take(count)
        .collect::<Vec<_>>()
        .join(" ")
}

fn last_words(text: &str, count: usize) -> String {
    let clause = text.rsplit(['.', ';', '\n']).next().unwrap_or("");
    let words: Vec<&str> = clause.split_whitespace().collect();
    words[words.len().saturating_sub(count)..].join(" ")
}
