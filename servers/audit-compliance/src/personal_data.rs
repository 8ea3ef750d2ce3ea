use std::borrow::Cow;
use std::collections::BTreeMap;

use kit::{Computed, Ctx, Done, Fault, Refused, Work};
use pii::{Kind, Options, Tier};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::input;
use crate::offsets::Offsets;

/// Searches a text, a long one in a confined process.
pub(crate) const FIND: Work = Work::new("find-pii", find_in);

/// A type of personal data in arguments.
#[derive(Serialize, Deserialize, Clone, Copy)]
#[serde(transparent)]
pub(crate) struct TypeName(pub(crate) Kind);

impl JsonSchema for TypeName {
    fn schema_name() -> Cow<'static, str> {
        "PersonalDataType".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        json_schema!({"type": "string", "enum": names})
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The text, unless a file is given.
    #[schemars(length(min = 1))]
    text: Option<String>,
    /// The text in a file; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_text: Option<String>,
    /// The types to look for; all if it is left out.
    #[schemars(length(min = 1))]
    types: Option<Vec<TypeName>>,
    /// Spans that are less sure are left out.
    #[serde(default = "half")]
    #[schemars(range(min = 0.0, max = 1.0))]
    min_confidence: f32,
    /// The country whose phone numbers are written without a country code, such as `DE`.
    #[schemars(regex(pattern = "^[A-Za-z]{2}$"))]
    region: Option<String>,
    /// Whether the answer repeats the values.
    #[serde(default)]
    include_text: bool,
}

fn half() -> f32 {
    0.5
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// In the order of the text.
    spans: Vec<Span>,
    /// How many spans of each type there are.
    counts: BTreeMap<String, usize>,
}

#[derive(Serialize, JsonSchema)]
struct Span {
    r#type: String,
    /// `pattern` or `context`.
    tier: String,
    /// In code points.
    start: usize,
    /// In code points, exclusive.
    end: usize,
    confidence: f64,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// What to look for.
#[derive(Serialize, Deserialize)]
struct Search {
    types: Vec<TypeName>,
    min_confidence: f32,
    region: Option<String>,
    include_text: bool,
}

pub(crate) async fn find(input: Input, ctx: Ctx) -> Result<Computed<Output>, Fault> {
    let Input { text, file_text, types, min_confidence, region, include_text } = input;
    let text = input::text(text, file_text)?;
    let types = types.unwrap_or_default();
    ctx.compute(&FIND, &Search { types, min_confidence, region, include_text }, &text).await
}

fn find_in(_: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    kit::compute(&bytes, |search: Search, text| Ok(output(&search, text)))
}

fn output(search: &Search, text: &str) -> Output {
    let kinds = search.types.iter().map(|name| name.0).collect();
    let options =
        Options { kinds, min_confidence: search.min_confidence, region: search.region.clone() };
    let offsets = Offsets::of(text);
    let mut counts = BTreeMap::new();
    let spans = pii::find(text, &options)
        .into_iter()
        .map(|finding| {
            *counts.entry(finding.kind.name().to_owned()).or_default() += 1;
            span(text, &offsets, &finding, search.include_text)
        })
        .collect();
    Output { spans, counts }
}

fn span(text: &str, offsets: &Offsets<'_>, finding: &pii::Finding, include_text: bool) -> Span {
    let tier = match finding.kind.tier() {
        Tier::Pattern => "pattern",
        Tier::Context => "context",
    };
    Span {
        r#type: finding.kind.name().to_owned(),
        tier: tier.to_owned(),
        start: offsets.code_points(finding.start),
        end: offsets.code_points(finding.end),
        confidence: (f64::from(finding.confidence) * 100.0).round() / 100.0,
        reason: finding.reason.to_owned(),
        text: include_text.then(|| text[finding.start..finding.end].to_owned()),
    }
}
