//! The tool `research.compose`.

use async_trait::async_trait;
use markup::{Document, to_markdown};
use proto::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strip::Job;
use strip::typed::{About, TypedOutput, TypedTool};

use super::report::{BibliographyEntry, ClaimCounts, Report, Request, Style};
use crate::graph::Graph;
use crate::note::Note;
use crate::notes::tool::{about, compute};
use crate::outline::Outline;
use crate::source::{FoundSource, ReportedSource, Source};
use crate::{hitl, map};

/// Writes a report from notes.
pub struct Compose;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComposeInput {
    pub outline: Outline,
    /// Of `research.summarize`.
    pub notes: Vec<Note>,
    /// The sources that the notes name, or chunks of them.
    pub sources: Vec<FoundSource>,
    #[serde(default)]
    pub style: Style,
    /// When the sources were read, such as `2026-11-16`.
    #[schemars(length(max = 32))]
    pub accessed: Option<String>,
    /// The mind map of the plan, to be drawn.
    pub graph: Option<Graph>,
}

/// A report, and what is published with it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Composed {
    pub document: Document,
    pub bibliography: Vec<BibliographyEntry>,
    pub claims: ClaimCounts,
    pub sources: Vec<ReportedSource>,
    /// What each entry of the bibliography says, in its own words.
    pub evidence: Vec<Evidence>,
    pub outline_markdown: String,
    pub bibliography_markdown: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_svg: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The quotes of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// The number of its entry in the bibliography.
    pub id: String,
    pub text: String,
}

#[async_trait]
impl TypedTool for Compose {
    type Input = ComposeInput;
    type Output = Composed;

    fn about(&self) -> About {
        let description = "Writes a report from an outline and notes. Every sentence cites its sources; claims without \
                           support are left out.";
        about("research.compose", "Write a report from notes", description)
    }

    async fn run(&self, input: ComposeInput, _: &Job) -> Result<TypedOutput<Composed>, Failure> {
        Ok(compute(move || publish(&input)).await?.into())
    }
}

fn publish(input: &ComposeInput) -> Composed {
    let ComposeInput { outline, notes, sources: found, style, accessed, graph } = input;
    let sources: Vec<Source> = found.iter().map(FoundSource::source).collect();
    let report = super::compose(Request {
        outline,
        notes,
        sources: &sources,
        style: *style,
        accessed: accessed.as_deref(),
    });
    let Report { document, bibliography, claims, sources: uses, cited, warnings } = report;
    let evidence = cited.iter().zip(&bibliography).map(|(place, entry)| Evidence {
        id: entry.index.to_string(),
        text: quotes(notes, &sources[*place]),
    });
    let list = Document {
        title: format!("Bibliography: {}", document.title),
        references: document.references.clone(),
        ..Document::default()
    };
    let reported =
        found.iter().zip(&sources).zip(uses).map(|((found, source), used)| ReportedSource {
            source: source.clone(),
            scores: found.scores(),
            corroborated: used.corroborated,
            moved: found.moved(),
            used: used.used,
        });
    Composed {
        evidence: evidence.collect(),
        sources: reported.collect(),
        outline_markdown: hitl::render(outline),
        bibliography_markdown: to_markdown(&list),
        map_svg: graph.as_ref().map(map::draw),
        document,
        bibliography,
        claims,
        warnings,
    }
}

/// What was quoted of a source, each quote once.
fn quotes(notes: &[Note], source: &Source) -> String {
    let names = [Some(source.id.as_str()), source.url.as_deref(), source.file_id.as_deref()];
    let mut quotes: Vec<&str> = Vec::new();
    for note in notes.iter().filter(|note| note.source.is_some()) {
        if names.contains(&note.source.as_deref()) && !quotes.contains(&note.quote.as_str()) {
            quotes.push(&note.quote);
        }
    }
    quotes.join("\n\n")
}
