use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Input of `scrape_page`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScrapePage {
    #[schemars(length(min = 1, max = 8192), regex(pattern = "^[Hh][Tt][Tt][Pp][Ss]?://"))]
    pub url: String,
    /// The whole content, or its headings and first 2 KB.
    #[serde(default)]
    pub mode: ScrapeMode,
    #[serde(default = "page_bytes")]
    #[schemars(range(min = 1))]
    pub max_length: u64,
    #[serde(default)]
    pub offset: u64,
}

impl ScrapePage {
    /// The whole page with defaults.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), mode: ScrapeMode::default(), max_length: page_bytes(), offset: 0 }
    }
}

pub(super) fn page_bytes() -> u64 {
    50_000
}

/// How much of a page to return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScrapeMode {
    #[default]
    Full,
    Preview,
}

/// Output of `scrape_page`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScrapePageOutput {
    /// The address after redirects.
    pub url: String,
    pub content: String,
    pub content_type: ContentType,
    /// Bytes of `content`.
    pub content_length: usize,
    pub truncated: bool,
    /// Bytes of `content` divided by 4.
    pub estimated_tokens: usize,
    pub size_category: SizeCategory,
    /// Bytes of the content before it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_length: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<DocumentMetadata>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation: Option<Citation>,
    /// What the caller should know about this content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What kind of document the content came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ContentType {
    Html,
    Markdown,
    Youtube,
    Pdf,
    Docx,
    Pptx,
    Xlsx,
    Text,
    Json,
}

/// How large a content is, by characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SizeCategory {
    Small,
    Medium,
    Large,
    VeryLarge,
}

impl SizeCategory {
    /// The category of a content with so many characters.
    pub fn of(characters: usize) -> Self {
        match characters {
            0..5_000 => Self::Small,
            5_000..20_000 => Self::Medium,
            20_000..50_000 => Self::Large,
            _ => Self::VeryLarge,
        }
    }
}

/// What a document says about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentMetadata {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_count: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Bytes of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_size: Option<u64>,
}

/// How to cite a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Citation {
    pub url: String,
    /// The UTC date on which the page was read.
    pub accessed_date: String,
    pub metadata: CitationMetadata,
    pub formatted: CitationFormats,
}

/// The parts of a citation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CitationMetadata {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

/// A citation in two styles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CitationFormats {
    pub apa: String,
    pub mla: String,
}
