//! The labelled sets: which calls a row needs, and the prediction that its scorer reads.

use std::path::Path;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};

use super::server::Call;
use crate::quality::json_lines::lines;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Set {
    Resumes,
    Jobs,
    Skills,
    Keywords,
    Classify,
    PdfText,
    Tables,
    TableRegions,
    PiiTexts,
    PiiStructured,
    Ocr,
}

/// One row of a set.
pub(super) struct Row {
    id: Value,
    /// The draw of the prediction, if there are several.
    draw: Option<usize>,
    pub(super) calls: Vec<Call>,
}

/// Draws of examples in the set `classify`, and the examples of each label in one draw.
const DRAWS: usize = 4;
const SHOTS: usize = 5;

impl Set {
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Resumes => "resume-profile-mcp",
            Self::Jobs | Self::Skills => "job-search-mcp",
            Self::Keywords | Self::Classify => "text-analysis-mcp",
            Self::PdfText | Self::Tables | Self::TableRegions => "doc-parser-mcp",
            Self::PiiTexts | Self::PiiStructured => "audit-compliance-mcp",
            Self::Ocr => "image-ocr-mcp",
        }
    }

    fn files(self) -> &'static [&'static str] {
        match self {
            Self::Resumes => &["resumes.jsonl"],
            Self::Jobs => &["jobs.jsonl"],
            Self::Skills => &["sentences.jsonl"],
            Self::Keywords => {
                &["inspec.jsonl", "semeval2017.jsonl", "wikinews.jsonl", "ptbn.jsonl"]
            }
            Self::Classify => &["texts.jsonl"],
            Self::PdfText => &["gold.jsonl", "gold-samples.jsonl"],
            Self::Tables | Self::TableRegions => &["gold-eu.jsonl", "gold-us.jsonl"],
            Self::PiiTexts => &["texts.jsonl"],
            Self::PiiStructured => &["structured.jsonl"],
            Self::Ocr => &["gold-made.jsonl", "gold-scans.jsonl"],
        }
    }

    /// The rows of the set in this folder.
    pub(super) fn rows(self, folder: &Path) -> anyhow::Result<Vec<Row>> {
        let mut golds: Vec<Value> = Vec::new();
        for file in self.files() {
            golds.extend(lines::<Value>(&folder.join(file))?);
        }
        if self == Self::Classify {
            return classify(&golds, folder);
        }
        let row = |gold: &Value| {
            Ok(Row { id: gold["id"].clone(), draw: None, calls: self.calls(gold, folder)? })
        };
        golds.iter().map(row).collect()
    }

    fn calls(self, gold: &Value, folder: &Path) -> anyhow::Result<Vec<Call>> {
        let text = || json!({"text": gold["text"]});
        let one = |tool, arguments| Ok(vec![Call { tool, arguments }]);
        match self {
            Self::Resumes => {
                let name = gold["file"].as_str().context("a row without a file")?;
                one("extract_profile", file(&folder.join(name), "file")?)
            }
            Self::Jobs | Self::Skills => one("parse_job_description", text()),
            Self::Keywords => one("extract_keywords", text()),
            Self::PiiTexts | Self::PiiStructured => one("find_pii", text()),
            Self::PdfText => {
                let name = gold["pdf"].as_str().context("a row without a PDF")?;
                let mut whole = file(&folder.join(name), "file")?;
                let mut body = whole.clone();
                whole["part"] = "all".into();
                body["part"] = "body".into();
                let call = |arguments| Call { tool: "extract_text", arguments };
                Ok(vec![call(whole), call(body)])
            }
            Self::Tables | Self::TableRegions => {
                let id = gold["id"].as_str().context("a row without an id")?;
                let mut arguments = file(&folder.join("pdf").join(format!("{id}.pdf")), "file")?;
                if self == Self::TableRegions {
                    let tables = gold["tables"].as_array().into_iter().flatten();
                    let regions: Vec<Value> = tables
                        .map(|table| json!({"page": table["page"], "bbox": table["bbox"]}))
                        .collect();
                    arguments["regions"] = regions.into();
                }
                one("extract_tables", arguments)
            }
            Self::Ocr => {
                let name = gold["image"].as_str().context("a row without a picture")?;
                one("extract", file(&folder.join(name), "image")?)
            }
            Self::Classify => Ok(Vec::new()),
        }
    }

    /// The prediction for a row, by the answers to its calls.
    pub(super) fn prediction(self, row: &Row, answers: &[Value]) -> Value {
        let answer = answers.first().unwrap_or(&Value::Null);
        let id = &row.id;
        match self {
            Self::Resumes | Self::Jobs => json!({"id": id, "result": answer}),
            Self::Skills => json!({"id": id, "spans": list(&answer["skill_spans"])}),
            Self::Keywords => {
                let keywords = answer["keywords"].as_array().into_iter().flatten();
                let phrases: Vec<_> = keywords.map(|keyword| keyword["phrase"].clone()).collect();
                json!({"id": id, "keywords": phrases})
            }
            Self::Classify => json!({"id": id, "label": answer["label"], "draw": row.draw}),
            Self::PdfText => {
                let body = answers.get(1).map(|answer| answer["text"].clone());
                json!({"id": id, "text": or_empty(&answer["text"]), "body": body})
            }
            Self::Tables | Self::TableRegions => {
                json!({"id": id, "tables": list(&answer["tables"])})
            }
            Self::PiiTexts | Self::PiiStructured => {
                json!({"id": id, "spans": list(&answer["spans"])})
            }
            Self::Ocr => json!({"id": id, "text": or_empty(&answer["text"])}),
        }
    }
}

fn list(value: &Value) -> Value {
    if value.is_array() { value.clone() } else { json!([]) }
}

fn or_empty(value: &Value) -> Value {
    if value.is_string() { value.clone() } else { "".into() }
}

/// A file as `NAME_data` and `NAME_type`.
fn file(path: &Path, name: &str) -> anyhow::Result<Value> {
    let bytes =
        std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let kind = match path.extension().and_then(|extension| extension.to_str()) {
        Some("pdf") => "application/pdf",
        Some("docx") => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        Some("md") => "text/markdown",
        Some("txt") => "text/plain",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("tif" | "tiff") => "image/tiff",
        _ => "application/octet-stream",
    };
    let mut arguments = json!({});
    arguments[format!("{name}_data")] = STANDARD.encode(bytes).into();
    arguments[format!("{name}_type")] = kind.into();
    Ok(arguments)
}

/// Each text once for each draw of examples.
fn classify(texts: &[Value], folder: &Path) -> anyhow::Result<Vec<Row>> {
    let examples: Vec<Value> = lines(&folder.join("examples.jsonl"))?;
    let mut names: Vec<&str> = Vec::new();
    for name in examples.iter().filter_map(|example| example["label"].as_str()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut rows = Vec::new();
    for draw in 0..DRAWS {
        let labels: Vec<Value> = names
            .iter()
            .map(|name| {
                let of_label = examples.iter().filter(|example| example["label"] == *name);
                let drawn = of_label.skip(draw * SHOTS).take(SHOTS);
                let drawn: Vec<_> = drawn.map(|example| example["text"].clone()).collect();
                json!({"name": name, "examples": drawn})
            })
            .collect();
        rows.extend(texts.iter().map(|text| {
            let arguments = json!({"text": text["text"], "labels": labels});
            let calls = vec![Call { tool: "classify_text", arguments }];
            Row { id: text["id"].clone(), draw: Some(draw), calls }
        }));
    }
    Ok(rows)
}
