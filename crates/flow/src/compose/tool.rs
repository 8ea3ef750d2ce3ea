//! The tool `research.compose`.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::{self, StreamExt as _};
use markup::{Document, to_markdown};
use proto::{Code, Failure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strip::typed::{About, TypedOutput, TypedTool};
use strip::{Job, run_blocking};
use tokio::time::{Instant, timeout_at};

use super::Draft;
use super::report::{BibliographyEntry, ClaimCounts, Method, Report, Request, Style};
use super::written::{Answer, PROMPT, Part};
use crate::graph::Graph;
use crate::notes::tool::{about, compute, with_model};
use crate::outline::Outline;
use crate::source::{FoundSource, ReportedSource, Source};
use crate::writer::{Refused, TIMEOUT, Writer, prompt_id};
use crate::{hitl, map};
use notes::Note;

/// The most questions of an outline: each claim is compared with each of them.
const MAX_QUESTIONS: usize = 500;

/// How many sections a model writes at once.
const AT_ONCE: usize = 4;

/// How long a model may write: the tool has to finish the report within [`TIMEOUT`].
const WRITING: Duration = TIMEOUT.saturating_sub(Duration::from_secs(30));

/// Writes a report from notes.
pub struct Compose {
    pub writer: Writer,
}

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
    /// The mind map of the outline, which a person may have changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<Graph>,
    pub method: Method,
    /// The prompts that a model was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<String>,
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
        let about = about("research.compose", "Write a report from notes", description);
        with_model(about, &self.writer)
    }

    async fn run(&self, input: ComposeInput, _: &Job) -> Result<TypedOutput<Composed>, Failure> {
        input.check()?;
        if self.writer.is_there() {
            return Ok(self.by_model(&input).await.into());
        }
        let composed = compute(move || {
            let sources = input.sources();
            publish(&input, &sources, super::compose(input.request(&sources)))
        });
        Ok(composed.await?.into())
    }
}

impl Compose {
    /// A report whose sections a model writes. One that it does not write keeps the words of its sources.
    async fn by_model(&self, input: &ComposeInput) -> Composed {
        let sources = input.sources();
        let mut draft = run_blocking(usize::MAX, || Draft::new(input.request(&sources)));
        let mut warnings = Vec::new();
        let end = Instant::now() + WRITING;
        let asked = draft.parts();
        let parts: Vec<_> = asked.iter().map(|part| (*part, draft.arguments(*part))).collect();
        let answers: Vec<_> = stream::iter(parts)
            .map(|(part, arguments)| async move { (part, self.ask(&arguments, end).await) })
            .buffered(AT_ONCE)
            .collect()
            .await;
        let mut written = 0;
        for (part, answer) in answers {
            written += usize::from(draft.take(part, answer, &mut warnings));
        }
        if written > 0 {
            let arguments = draft.arguments(Part::Lead);
            let answer = self.ask(&arguments, end).await;
            draft.take(Part::Lead, answer, &mut warnings);
        }
        let mut composed = run_blocking(usize::MAX, || publish(input, &sources, draft.finish()));
        composed.warnings.extend(warnings);
        composed
    }

    /// The model's answer, unless it comes too late for the report.
    async fn ask(&self, arguments: &Value, end: Instant) -> Option<Result<Answer, Refused>> {
        let answer = self.writer.ask::<Answer>(PROMPT, arguments);
        timeout_at(end, answer).await.unwrap_or(Some(Err(Refused::Late)))
    }
}

impl Draft<'_> {
    /// Takes a model's answer over, or says why the part stays as it is.
    fn take(
        &mut self,
        part: Part,
        answer: Option<Result<Answer, Refused>>,
        warnings: &mut Vec<String>,
    ) -> bool {
        let name = match part {
            Part::Section(section) => self.request.outline.sections[section].heading.as_str(),
            Part::Lead => self.phrases.lead,
        };
        let reason = match answer {
            None => return false,
            Some(Err(refused)) => refused.to_string(),
            Some(Ok(answer)) if self.write(part, &answer) => return true,
            Some(Ok(_)) => "no sentence is supported by the notes that it names".to_owned(),
        };
        warnings.push(format!("The model did not write \"{name}\": {reason}."));
        false
    }
}

impl ComposeInput {
    fn check(&self) -> Result<(), Failure> {
        let count: usize = self.outline.sections.iter().map(|one| one.questions.len()).sum();
        if count > MAX_QUESTIONS {
            let message = format!("/outline: {count} questions; {MAX_QUESTIONS} are allowed");
            return Err(Failure::new(Code::InvalidInput, message));
        }
        Ok(())
    }

    fn sources(&self) -> Vec<Source> {
        self.sources.iter().map(FoundSource::source).collect()
    }

    fn request<'a>(&'a self, sources: &'a [Source]) -> Request<'a> {
        Request {
            outline: &self.outline,
            notes: &self.notes,
            sources,
            style: self.style,
            accessed: self.accessed.as_deref(),
        }
    }
}

fn publish(input: &ComposeInput, sources: &[Source], report: Report) -> Composed {
    let ComposeInput { outline, notes, sources: found, graph, .. } = input;
    let Report { document, bibliography, claims, sources: uses, cited, method, warnings } = report;
    let prompts = match method {
        Method::Extractive => Vec::new(),
        Method::Model => vec![prompt_id(PROMPT)],
    };
    let evidence = cited.iter().zip(&bibliography).map(|(place, entry)| Evidence {
        id: entry.index.to_string(),
        text: quotes(notes, &sources[*place]),
    });
    let list = Document {
        title: format!("Bibliography: {}", document.title),
        references: document.references.clone(),
        ..Document::default()
    };
    let reported = found.iter().zip(sources).zip(uses).enumerate();
    let reported = reported.map(|(place, ((found, source), used))| ReportedSource {
        source: source.clone(),
        scores: found.scores(),
        corroborated: used.corroborated,
        moved: found.moved(),
        used: used.used,
        citation: cited.iter().position(|cited| *cited == place).map(|at| at + 1),
    });
    let graph = graph.as_ref().map(|graph| graph.follow(outline));
    Composed {
        evidence: evidence.collect(),
        sources: reported.collect(),
        outline_markdown: hitl::publish(outline),
        bibliography_markdown: to_markdown(&list),
        map_svg: graph.as_ref().map(map::draw),
        graph,
        document,
        bibliography,
        claims,
        method,
        prompts,
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
