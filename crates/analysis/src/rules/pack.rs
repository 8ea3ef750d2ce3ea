//! Packs as they are written.

use std::collections::HashSet;

use schema::yaml::{self, Spanned};
use serde::{Deserialize, Serialize};

use super::condition::{Condition, RawCondition};

/// The largest pack.
pub const MAX_PACK_BYTES: usize = 256 << 10;

/// The most rules of a pack.
const MOST_RULES: usize = 200;

/// How much a rule matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Info,
    #[default]
    Warning,
    Error,
}

/// A pack whose rules can be judged.
#[derive(Debug)]
pub struct Pack {
    pub name: String,
    pub version: String,
    /// The language of its phrases; texts in others leave its rules undecided.
    pub language: Option<String>,
    pub(super) rules: Vec<Rule>,
}

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) severity: Severity,
    pub(super) reference: Option<String>,
    pub(super) message: String,
    pub(super) when: Option<Condition>,
    pub(super) demand: Demand,
}

#[derive(Debug)]
pub(super) enum Demand {
    Require(Condition),
    Forbid(Condition),
}

/// Why a pack cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackError {
    /// Counted from 1.
    pub line: Option<usize>,
    /// The id of the rule, if the error is in one that has an id.
    pub rule: Option<String>,
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPack {
    name: String,
    version: Version,
    #[serde(default)]
    language: Option<String>,
    rules: Vec<Spanned<RawRule>>,
}

/// `1`, `1.2` or `"1.2.3"`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Version {
    Text(String),
    Whole(u32),
    Decimal(f64),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    id: String,
    title: String,
    #[serde(default)]
    severity: Severity,
    #[serde(default)]
    reference: Option<String>,
    #[serde(default)]
    when: Option<RawCondition>,
    #[serde(default)]
    require: Option<RawCondition>,
    #[serde(default)]
    forbid: Option<RawCondition>,
    message: String,
}

impl Pack {
    /// Reads a pack from YAML.
    pub fn read(text: &str) -> Result<Self, PackError> {
        let mut rules = Vec::new();
        let pack = Self::each_rule(text, |rule| rules.push(rule))?;
        Ok(Self { rules, ..pack })
    }

    /// Checks a pack without keeping it: the patterns of all rules together can take a gigabyte.
    pub fn check(text: &str) -> Result<(), PackError> {
        Self::each_rule(text, drop).map(drop)
    }

    /// Gives each rule of a pack to `visit`, and returns the pack without rules.
    fn each_rule(text: &str, mut visit: impl FnMut(Rule)) -> Result<Self, PackError> {
        let limits =
            yaml::Limits { max_bytes: MAX_PACK_BYTES, merge_keys: false, custom_tags: false };
        let raw: RawPack = yaml::parse(text, limits).map_err(|error| PackError {
            line: error.line,
            rule: error.line.and_then(|line| rule_at(text, line)),
            message: error.message,
        })?;
        let fault =
            |message: &str| PackError { line: Some(1), rule: None, message: message.to_owned() };
        if raw.rules.is_empty() || raw.rules.len() > MOST_RULES {
            return Err(fault(&format!("a pack has 1 to {MOST_RULES} rules")));
        }
        if raw.name.trim().is_empty() {
            return Err(fault("the pack has no name"));
        }
        let mut ids = HashSet::new();
        for rule in raw.rules {
            let line = usize::try_from(rule.referenced.line()).ok().filter(|line| *line > 0);
            let id = rule.value.id.clone();
            let refuse = |message: String| PackError { line, rule: Some(id.clone()), message };
            if !ids.insert(id.clone()) {
                return Err(refuse(format!("another rule has the id `{id}`")));
            }
            visit(rule.value.build().map_err(refuse)?);
        }
        let version = match raw.version {
            Version::Text(text) => text,
            Version::Whole(number) => number.to_string(),
            Version::Decimal(number) => number.to_string(),
        };
        Ok(Self { name: raw.name, version, language: raw.language, rules: Vec::new() })
    }
}

impl RawRule {
    fn build(self) -> Result<Rule, String> {
        let demand = match (self.require, self.forbid) {
            (Some(condition), None) => Demand::Require(condition.build()?),
            (None, Some(condition)) => Demand::Forbid(condition.build()?),
            (Some(_), Some(_)) => return Err("give `require` or `forbid`, not both".to_owned()),
            (None, None) => return Err("give `require` or `forbid`".to_owned()),
        };
        let when = self.when.map(RawCondition::build).transpose()?;
        Ok(Rule {
            id: self.id,
            title: self.title,
            severity: self.severity,
            reference: self.reference,
            message: self.message,
            when,
            demand,
        })
    }
}

/// The id of the rule that is written at a line: the last `id:` at or before it, or the first below in the same item.
fn rule_at(text: &str, line: usize) -> Option<String> {
    let id = |line: &str| {
        let rest = line.trim_start().trim_start_matches("- ").trim_start();
        rest.strip_prefix("id:").map(|id| id.trim().trim_matches(['"', '\'']).to_owned())
    };
    text.lines().take(line).filter_map(id).last()
}
