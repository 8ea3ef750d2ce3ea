//! The consistency check: repeated words, two spellings of one word, two forms of quotation marks or dates.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::issue::{Check, Issue, Outcome, Severity, penalised};
use super::text::{Text, Word};

/// British and American spellings, and words written in two ways.
const VARIANTS: &str = "colour color|favourite favorite|behaviour behavior|honour honor|labour labor|\
     organise organize|organisation organization|recognise recognize|realise realize|analyse analyze|optimise optimize|\
     centre center|metre meter|theatre theater|licence license|defence defense|offence offense|programme program|\
     catalogue catalog|dialogue dialog|cheque check|grey gray|travelling traveling|cancelled canceled|labelled labeled|\
     modelling modeling|fulfil fulfill|enrol enroll|judgement judgment|ageing aging|email e-mail|online on-line|\
     website web-site|startup start-up|cooperate co-operate|coordinate co-ordinate|per cent percent|adviser advisor|\
     customise customize|summarise summarize|authorise authorize|emphasise emphasize|minimise minimize|maximise maximize|\
     favour favor|flavour flavor|rumour rumor|humour humor|armour armor|artefact artifact|tyre tire|aluminium aluminum";

static PAIRS: LazyLock<HashMap<&str, (usize, usize)>> = LazyLock::new(|| {
    let mut pairs = HashMap::new();
    for (index, pair) in VARIANTS.split('|').enumerate() {
        for (side, word) in pair.splitn(2, ' ').enumerate() {
            pairs.insert(word, (index, side));
        }
    }
    pairs
});

static NUMERIC_DATE: LazyLock<Regex> =
    LazyLock::new(|| pii::compiled(r"\b\d{1,2}/\d{1,2}/\d{4}\b"));
static ISO_DATE: LazyLock<Regex> = LazyLock::new(|| pii::compiled(r"\b\d{4}-\d{2}-\d{2}\b"));

pub(super) fn check(text: &Text<'_>) -> Outcome {
    let mut issues = repeated(text);
    issues.extend(spellings(text));
    issues.extend(quotation_marks(text.source));
    issues.extend(dates(text.source));
    let evidence = vec![format!("{} inconsistencies", issues.len())];
    Outcome { value: penalised(&issues, text.words.len()), evidence, issues }
}

fn issue(severity: Severity, message: String, place: std::ops::Range<usize>) -> Issue {
    Issue {
        check: Check::Consistency,
        severity,
        message,
        start: place.start,
        end: place.end,
        suggestions: Vec::new(),
    }
}

/// `the the`; words that are rightly repeated are left out.
fn repeated(text: &Text<'_>) -> Vec<Issue> {
    let words: Vec<&Word<'_>> = text.prose().collect();
    words
        .windows(2)
        .filter(|pair| {
            let between = &text.source[pair[0].end()..pair[1].start];
            pair[0].text.eq_ignore_ascii_case(pair[1].text)
                && !between.is_empty()
                && between.chars().all(|c| c == ' ' || c == '\n')
                && between.matches('\n').count() < 2
                && pair[0].text.chars().all(char::is_alphabetic)
                && !["had", "that", "very", "bye", "no", "so"]
                    .contains(&pair[0].text.to_lowercase().as_str())
        })
        .map(|pair| {
            let mut found = issue(
                Severity::Warning,
                format!("`{}` is there twice.", pair[0].text),
                pair[0].start..pair[1].end(),
            );
            found.suggestions = vec![pair[0].text.to_owned()];
            found
        })
        .collect()
}

fn spellings(text: &Text<'_>) -> Vec<Issue> {
    let mut seen: HashMap<usize, [Option<&Word<'_>>; 2]> = HashMap::new();
    for word in text.prose() {
        if let Some((pair, side)) = PAIRS.get(word.text.to_lowercase().as_str()) {
            seen.entry(*pair).or_default()[*side].get_or_insert(word);
        }
    }
    seen.into_values()
        .filter_map(|[first, second]| {
            let (mut one, mut other) = (first?, second?);
            if one.start > other.start {
                (one, other) = (other, one);
            }
            let message =
                format!("`{}` is spelt `{}` earlier. Use one spelling.", other.text, one.text);
            let mut found = issue(Severity::Info, message, other.start..other.end());
            found.suggestions = vec![one.text.to_owned()];
            Some(found)
        })
        .collect()
}

fn quotation_marks(source: &str) -> Option<Issue> {
    let straight = source.find('"')?;
    source.find(['“', '”'])?;
    Some(issue(
        Severity::Info,
        "Straight and curly quotation marks are mixed.".to_owned(),
        straight..straight + 1,
    ))
}

fn dates(source: &str) -> Option<Issue> {
    let numeric = NUMERIC_DATE.find(source)?;
    ISO_DATE.find(source)?;
    Some(issue(Severity::Info, "Dates have two forms.".to_owned(), numeric.range()))
}
