//! What a caller asks for.

use notes::text::has_words;
use proto::{Code, Failure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest topic, in characters.
pub(super) const MAX_TOPIC_CHARS: usize = 500;
/// The most perspectives of a topic.
const MAX_PERSPECTIVES: usize = 8;
/// The most collections that are searched.
const MAX_COLLECTIONS: usize = 8;
/// The most sources that are read.
const MAX_SOURCES: u32 = 50;

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[schemars(length(min = 1, max = 500))]
    pub topic: String,
    /// Angles such as `history` or `cost`.
    #[schemars(length(min = 1, max = 8))]
    pub perspectives: Option<Vec<String>>,
    #[serde(default)]
    pub depth: Depth,
    #[serde(default)]
    pub sources: SourceChoice,
    /// Whether results are ordered by quality as well.
    #[serde(default = "yes")]
    pub rerank: bool,
    /// Lets a person add questions first.
    #[serde(default)]
    pub merge_questions: bool,
    /// Lets a person edit the outline before the report is written.
    #[serde(default)]
    pub approve_outline: bool,
    #[serde(default = "markdown_only")]
    #[schemars(length(min = 1, max = 4))]
    pub formats: Vec<ExportFormat>,
    #[schemars(range(min = 1, max = 50))]
    pub max_sources: Option<u32>,
    /// Fails if the citation audit finds an error.
    #[serde(default)]
    pub strict: bool,
    /// The longest wait for the report.
    #[schemars(range(max = 600_000))]
    pub wait_ms: Option<u64>,
}

fn yes() -> bool {
    true
}

fn markdown_only() -> Vec<ExportFormat> {
    vec![ExportFormat::Markdown]
}

/// How many questions are asked and sources read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    Quick,
    #[default]
    Standard,
    Deep,
}

impl Depth {
    pub(super) fn questions_per_perspective(self) -> u32 {
        match self {
            Self::Quick => 1,
            Self::Standard => 3,
            Self::Deep => 5,
        }
    }

    pub(super) fn sources(self) -> u32 {
        match self {
            Self::Quick => 5,
            Self::Standard => 12,
            Self::Deep => 30,
        }
    }
}

/// Where sources come from.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceChoice {
    #[serde(default = "yes")]
    pub web: bool,
    #[serde(default)]
    #[schemars(length(max = 8))]
    pub collections: Vec<String>,
}

impl Default for SourceChoice {
    fn default() -> Self {
        Self { web: true, collections: Vec::new() }
    }
}

/// A form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    Markdown,
    Html,
    Docx,
    Pdf,
}

impl ExportFormat {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Html => "html",
            Self::Docx => "docx",
            Self::Pdf => "pdf",
        }
    }

    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Docx => "docx",
            Self::Pdf => "pdf",
        }
    }
}

impl Input {
    /// The forms in which the report is stored. Where all that were asked for need another tool, which may be missing, Markdown
    /// comes with them.
    pub(super) fn stored_formats(&self) -> Vec<ExportFormat> {
        let own =
            |format: &ExportFormat| matches!(format, ExportFormat::Markdown | ExportFormat::Html);
        let mut formats = self.formats.clone();
        if !formats.iter().any(own) {
            formats.push(ExportFormat::Markdown);
        }
        formats
    }

    /// Reports the first thing that the schema cannot say.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let topic = self.topic.trim();
        if topic.is_empty() || topic.chars().count() > MAX_TOPIC_CHARS {
            return Err(invalid("topic", &format!("must have 1 to {MAX_TOPIC_CHARS} characters")));
        }
        if !has_words(topic) {
            return Err(invalid("topic", "must have a letter or a digit"));
        }
        if let Some(names) = &self.perspectives
            && !(1..=MAX_PERSPECTIVES).contains(&names.len())
        {
            return Err(invalid("perspectives", "must be 1 to 8 names"));
        }
        if !self.sources.web && self.sources.collections.is_empty() {
            return Err(invalid("sources", "must allow the web or name a collection"));
        }
        if self.sources.collections.len() > MAX_COLLECTIONS {
            return Err(invalid("sources.collections", "must be at most 8 names"));
        }
        if self.max_sources.is_some_and(|most| !(1..=MAX_SOURCES).contains(&most)) {
            return Err(invalid("max_sources", "must be 1 to 50"));
        }
        let repeated = |(at, format)| self.formats[..at].contains(format);
        if self.formats.is_empty() || self.formats.iter().enumerate().any(repeated) {
            return Err(invalid("formats", "must name each format once"));
        }
        Ok(())
    }

    pub(super) fn most_sources(&self) -> u32 {
        self.max_sources.unwrap_or_else(|| self.depth.sources())
    }
}

pub(super) fn invalid(path: &str, problem: &str) -> Failure {
    Failure::new(Code::InvalidInput, format!("`{path}` {problem}"))
}
