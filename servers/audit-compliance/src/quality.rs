use std::sync::Arc;

use analysis::quality::{self, Check, Quality, Severity};
use analysis::spelling::Dictionary;
use kit::{Computed, Ctx, Done, Fault, Refused, Skipped, Work};
use language::prose::Language;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::dictionaries::{Dictionaries, LoadedDictionary, Source};
use crate::input;
use crate::offsets::Offsets;

/// Checks a long text in a confined process.
pub(crate) const CHECK: Work = Work::new("check-quality", check_long);

/// The largest installed dictionary that a confined process gets, in bytes; with the text it has to fit into a request.
const LARGEST_DICTIONARY: usize = 6 << 20;

/// The most findings that are listed.
const MOST_FINDINGS: usize = 20_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The text, unless a file is given. Headings and links are read as Markdown.
    #[schemars(length(min = 1))]
    text: Option<String>,
    /// The text in a file; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_text: Option<String>,
    /// ISO 639-1 code, such as `en`; recognised if it is left out.
    #[schemars(regex(pattern = "^[a-z]{2}$"))]
    language: Option<String>,
    /// The checks to make; all if it is left out.
    #[schemars(length(min = 1, max = 6))]
    checks: Option<Vec<CheckName>>,
    /// Whether links are opened. This server opens none; it says so in `skipped`.
    #[serde(default)]
    check_links: bool,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
enum CheckName {
    Spelling,
    Readability,
    Structure,
    Links,
    Placeholders,
    Consistency,
}

impl CheckName {
    const ALL: [Self; 6] = [
        Self::Spelling,
        Self::Readability,
        Self::Structure,
        Self::Links,
        Self::Placeholders,
        Self::Consistency,
    ];
}

impl From<CheckName> for Check {
    fn from(name: CheckName) -> Self {
        match name {
            CheckName::Spelling => Self::Spelling,
            CheckName::Readability => Self::Readability,
            CheckName::Structure => Self::Structure,
            CheckName::Links => Self::Links,
            CheckName::Placeholders => Self::Placeholders,
            CheckName::Consistency => Self::Consistency,
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// From 0 to 100: the total of the contributions of all parts.
    score: f64,
    parts: Vec<Part>,
    /// In the order of the text.
    findings: Vec<Finding>,
    readability: Readability,
    /// As an ISO 639-1 code, if it is known.
    language: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<Skipped>,
}

#[derive(Serialize, JsonSchema)]
struct Part {
    name: String,
    weight: f64,
    /// From 0 to 1.
    value: f64,
    /// 100 · weight · value.
    contribution: f64,
    evidence: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Finding {
    check: String,
    /// `info`, `warning` or `error`.
    severity: String,
    message: String,
    /// In code points.
    start: usize,
    /// In code points, exclusive.
    end: usize,
    suggestions: Vec<String>,
}

/// Scores without a formula for the language are null.
#[derive(Serialize, JsonSchema)]
struct Readability {
    /// Flesch reading ease, from 0 (hard) to 100 (easy).
    flesch: Option<f64>,
    /// Flesch–Kincaid school grade.
    grade: Option<f64>,
    /// LIX: below 40 is easy, above 60 very hard.
    lix: Option<f64>,
}

/// What is checked, and by which dictionary.
#[derive(Serialize, Deserialize)]
struct Order {
    language: Option<String>,
    checks: Vec<CheckName>,
    /// The dictionary of a language other than the shipped one.
    dictionary: Option<Source>,
    skipped: Vec<Skipped>,
}

impl Order {
    fn run(self, text: &str, dictionary: Option<&Dictionary>) -> Output {
        let checks: Vec<Check> = self.checks.iter().copied().map(Check::from).collect();
        let quality = quality::check(text, self.language.as_deref(), &checks, dictionary);
        output(text, quality, self.language, self.skipped)
    }
}

pub(crate) async fn check(
    input: Input,
    ctx: Ctx,
    dictionaries: Arc<Dictionaries>,
) -> Result<Computed<Output>, Fault> {
    let Input { text, file_text, language, checks, check_links } = input;
    let text = input::text(text, file_text)?;
    let mut checks = checks.unwrap_or_else(|| CheckName::ALL.to_vec());
    checks.sort();
    checks.dedup();
    let language =
        language.or_else(|| Language::detect(&text).map(|found| found.code().to_owned()));
    let mut order = Order { language, checks, dictionary: None, skipped: Vec::new() };
    if check_links {
        order.skipped.push(Skipped {
            what: "check_links".to_owned(),
            why: "this server opens no links; their form was checked".to_owned(),
            fix: "open the links with a tool that fetches pages, such as `scrape` of web-research-mcp".to_owned(),
        });
    }
    kit::blocking(move || prepare(order, text, &dictionaries)).await??.run(&ctx).await
}

/// A text with what is needed to check it.
enum Prepared {
    Answered(Box<Output>),
    /// A long text, for a confined process.
    Long(Order, String),
}

impl Prepared {
    async fn run(self, ctx: &Ctx) -> Result<Computed<Output>, Fault> {
        match self {
            Self::Answered(output) => Computed::new(&*output),
            Self::Long(order, text) => ctx.compute(&CHECK, &order, &text).await,
        }
    }
}

fn prepare(mut order: Order, text: String, dictionaries: &Dictionaries) -> Result<Prepared, Fault> {
    let mut dictionary = None;
    if order.checks.contains(&CheckName::Spelling) {
        match dictionaries.of(order.language.as_deref()) {
            Ok(found) => dictionary = Some(found),
            Err(missing) if order.checks == [CheckName::Spelling] => {
                let details = json!({"installed": dictionaries.installed(), "package": missing.package, "fix": missing.fix});
                return Err(Fault::unsupported(missing.why).details(details));
            }
            Err(missing) => order.skip_spelling(missing.why, missing.fix),
        }
    }
    if !kit::is_long(&text) {
        let dictionary = dictionary.as_ref().map(LoadedDictionary::dictionary);
        return Ok(Prepared::Answered(Box::new(order.run(&text, dictionary))));
    }
    if let (Some(LoadedDictionary::Installed(_)), Some(language)) = (&dictionary, &order.language) {
        order.dictionary =
            dictionaries.source(language).filter(|source| source.len() <= LARGEST_DICTIONARY);
        if order.dictionary.is_none() {
            let why = format!("the dictionary of `{language}` is too large for a long text");
            order.skip_spelling(why, "send the text in parts of 20,000 bytes".to_owned());
        }
    }
    Ok(Prepared::Long(order, text))
}

impl Order {
    fn skip_spelling(&mut self, why: String, fix: String) {
        self.checks.retain(|check| *check != CheckName::Spelling);
        self.skipped.push(Skipped { what: "spelling".to_owned(), why, fix });
    }
}

fn check_long(_: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    kit::compute(&bytes, |order: Order, text| {
        let own = order.dictionary.as_ref().map(Source::dictionary).transpose();
        let own = own.map_err(|error| Refused::new("dictionary", error))?;
        let dictionary = match &own {
            Some(own) => Some(own),
            None if order.checks.contains(&CheckName::Spelling) => Dictionary::english(),
            None => None,
        };
        Ok(order.run(text, dictionary))
    })
}

fn output(
    text: &str,
    quality: Quality,
    language: Option<String>,
    mut skipped: Vec<Skipped>,
) -> Output {
    let offsets = Offsets::of(text);
    let count = quality.issues.len();
    if count > MOST_FINDINGS {
        skipped.push(Skipped {
            what: "findings".to_owned(),
            why: format!("there are {count}; the first {MOST_FINDINGS} are listed"),
            fix: "correct those first, or send the text in parts".to_owned(),
        });
    }
    let findings = quality.issues.into_iter().take(MOST_FINDINGS).map(|issue| Finding {
        check: issue.check.name().to_owned(),
        severity: match issue.severity {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
        .to_owned(),
        message: issue.message,
        start: offsets.code_points(issue.start),
        end: offsets.code_points(issue.end),
        suggestions: issue.suggestions,
    });
    let findings = findings.collect();
    let parts = quality.parts.into_iter().map(|part| Part {
        name: part.check.name().to_owned(),
        weight: part.weight,
        value: part.value,
        contribution: part.contribution,
        evidence: part.evidence,
    });
    let quality::Readability { flesch, grade, lix } = quality.readability;
    Output {
        score: quality.score,
        parts: parts.collect(),
        findings,
        readability: Readability { flesch, grade, lix },
        language,
        skipped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_findings_of_very_many_are_listed() {
        let order = Order {
            language: Some("en".to_owned()),
            checks: vec![CheckName::Placeholders],
            dictionary: None,
            skipped: Vec::new(),
        };
        let found = order.run(&"TODO write. ".repeat(MOST_FINDINGS + 1), None);
        assert_eq!(found.findings.len(), MOST_FINDINGS);
        assert_eq!((found.findings[0].start, found.skipped.len()), (0, 1));
        assert!(found.skipped[0].why.contains("20001"), "{}", found.skipped[0].why);
    }
}
