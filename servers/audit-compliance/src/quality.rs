use std::sync::Arc;

use analysis::quality::{self, Check, Quality, Severity};
use kit::{Ctx, Fault, Skipped};
use language::prose::Language;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::dictionaries::Dictionaries;
use crate::input;
use crate::offsets::Offsets;

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

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum CheckName {
    Spelling,
    Readability,
    Structure,
    Links,
    Placeholders,
    Consistency,
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

/// What no formula fits is null.
#[derive(Serialize, JsonSchema)]
struct Readability {
    /// Flesch reading ease, from 0 (hard) to 100 (easy).
    flesch: Option<f64>,
    /// Flesch–Kincaid school grade.
    grade: Option<f64>,
    /// LIX: below 40 is easy, above 60 very hard.
    lix: Option<f64>,
}

pub(crate) async fn check(
    input: Input,
    _ctx: Ctx,
    dictionaries: Arc<Dictionaries>,
) -> Result<Output, Fault> {
    let Input { text, file_text, language, checks, check_links } = input;
    let text = input::text(text, file_text)?;
    let mut checks: Vec<Check> = match checks {
        Some(checks) => checks.into_iter().map(Check::from).collect(),
        None => Check::ALL.to_vec(),
    };
    checks.sort();
    checks.dedup();
    kit::blocking(move || judge(&text, language, &checks, check_links, &dictionaries)).await?
}

fn judge(
    text: &str,
    language: Option<String>,
    checks: &[Check],
    check_links: bool,
    dictionaries: &Dictionaries,
) -> Result<Output, Fault> {
    let language = language.or_else(|| Language::detect(text).map(|found| found.code().to_owned()));
    let mut skipped = Vec::new();
    let mut dictionary = None;
    if checks.contains(&Check::Spelling) {
        match dictionaries.of(language.as_deref()) {
            Ok(found) => dictionary = Some(found),
            Err(missing) if checks == [Check::Spelling] => {
                let details = json!({"installed": dictionaries.installed(), "package": missing.package, "fix": missing.fix});
                return Err(Fault::unsupported(missing.why).details(details));
            }
            Err(missing) => {
                skipped.push(Skipped {
                    what: "spelling".to_owned(),
                    why: missing.why,
                    fix: missing.fix,
                });
            }
        }
    }
    if check_links {
        skipped.push(Skipped {
            what: "check_links".to_owned(),
            why: "this server opens no links; their form was checked".to_owned(),
            fix: "open the links with a tool that fetches pages, such as `scrape` of web-research-mcp".to_owned(),
        });
    }
    let quality = quality::check(
        text,
        language.as_deref(),
        checks,
        dictionary.as_ref().map(|found| found.dictionary()),
    );
    Ok(output(text, quality, language, skipped))
}

fn output(text: &str, quality: Quality, language: Option<String>, skipped: Vec<Skipped>) -> Output {
    let offsets = Offsets::of(text);
    let findings = quality.issues.into_iter().map(|issue| Finding {
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
