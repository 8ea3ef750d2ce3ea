use std::borrow::Cow;
use std::collections::BTreeMap;

use analysis::rules::{self, Pack, PackError, Severity, Status};
use kit::{Computed, Ctx, Done, Fault, Refused, Work};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::input;
use crate::offsets::Offsets;

/// Judges a text, a long one in a confined process.
pub(crate) const JUDGE: Work = Work::new("validate-compliance", judge);

/// The longest text that evidence repeats.
const LONGEST_EVIDENCE: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The text, unless a file is given.
    #[schemars(length(min = 1))]
    text: Option<String>,
    /// The text in a file; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_text: Option<String>,
    /// A pack that ships.
    pack: Option<PackName>,
    /// A pack of your own in YAML: `name`, `version`, `language`, and `rules` with `id`, `title`, `severity`, `reference`,
    /// `when`, `require` or `forbid`, and `message`. A condition is one of `regex`, `phrase`, `section`, `pii`, `order`,
    /// `max_words`, `min_words` (with `per`: text, sentence or paragraph) and `date`.
    #[schemars(length(min = 1, max = 262_144))]
    rules: Option<String>,
}

#[derive(Deserialize)]
#[serde(transparent)]
struct PackName(String);

impl JsonSchema for PackName {
    fn schema_name() -> Cow<'static, str> {
        "PackName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = rules::shipped().collect();
        json_schema!({"type": "string", "enum": names})
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    pack: PackInfo,
    /// One per rule, in the order of the pack.
    findings: Vec<Finding>,
    /// How many rules have each status.
    counts: BTreeMap<String, usize>,
}

#[derive(Serialize, JsonSchema)]
struct PackInfo {
    name: String,
    version: String,
}

#[derive(Serialize, JsonSchema)]
struct Finding {
    /// The id of the rule.
    rule: String,
    title: String,
    /// `satisfied`, `violated`, `undecided` (a person must decide) or `not_applicable`.
    status: String,
    /// `info`, `warning` or `error`.
    severity: String,
    message: String,
    evidence: Vec<Evidence>,
    reference: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Evidence {
    /// In code points.
    start: usize,
    /// In code points, exclusive.
    end: usize,
    /// The beginning of the place.
    text: String,
}

pub(crate) async fn validate(input: Input, ctx: Ctx) -> Result<Computed<Output>, Fault> {
    let Input { text, file_text, pack, rules: own } = input;
    let text = input::text(text, file_text)?;
    let is_own = own.is_some();
    let source = match (pack, own) {
        (Some(name), None) => {
            let source = rules::source(&name.0);
            source
                .ok_or_else(|| Fault::invalid_input(format!("/pack: no pack `{}` ships", name.0)))?
                .to_owned()
        }
        (None, Some(own)) => own,
        (Some(_), Some(_)) => {
            return Err(Fault::invalid_input("/rules: give `pack` or `rules`, not both"));
        }
        (None, None) => {
            return Err(Fault::invalid_input("/pack: give the name of a pack, or `rules`"));
        }
    };
    // A broken pack is reported with its place, which a confined process cannot do.
    let source =
        kit::blocking(move || Pack::check(&source).map(|()| source)).await?.map_err(broken)?;
    if is_own {
        // The patterns of the caller decide how long it takes.
        ctx.compute_confined(&JUDGE, &source, &text).await
    } else {
        ctx.compute(&JUDGE, &source, &text).await
    }
}

fn judge(_: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    kit::compute(&bytes, |source: String, text| {
        let pack = Pack::read(&source).map_err(|error| Refused::new("rules", error.message))?;
        Ok(output(&pack, text))
    })
}

fn broken(error: PackError) -> Fault {
    let mut place = String::new();
    if let Some(line) = error.line {
        place.push_str(&format!("line {line}: "));
    }
    if let Some(rule) = &error.rule {
        place.push_str(&format!("rule `{rule}`: "));
    }
    let message = format!("/rules: {place}{}", error.message);
    Fault::invalid_input(message).details(json!({"line": error.line, "rule": error.rule}))
}

fn output(pack: &Pack, text: &str) -> Output {
    let offsets = Offsets::of(text);
    let mut counts: BTreeMap<String, usize> =
        ["satisfied", "violated", "undecided", "not_applicable"]
            .into_iter()
            .map(|status| (status.to_owned(), 0))
            .collect();
    let mut findings = Vec::new();
    for finding in rules::judge(pack, text) {
        let status = status(finding.status);
        *counts.entry(status.to_owned()).or_default() += 1;
        let evidence = finding.evidence.iter().map(|place| Evidence {
            start: offsets.code_points(place.start),
            end: offsets.code_points(place.end),
            text: text[place.clone()].chars().take(LONGEST_EVIDENCE).collect(),
        });
        findings.push(Finding {
            rule: finding.rule,
            title: finding.title,
            status: status.to_owned(),
            severity: severity(finding.severity).to_owned(),
            message: finding.message,
            evidence: evidence.collect(),
            reference: finding.reference,
        });
    }
    let info = PackInfo { name: pack.name.clone(), version: pack.version.clone() };
    Output { pack: info, findings, counts }
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Satisfied => "satisfied",
        Status::Violated => "violated",
        Status::Undecided => "undecided",
        Status::NotApplicable => "not_applicable",
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}
