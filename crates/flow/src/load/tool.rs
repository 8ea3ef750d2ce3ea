//! `docs.load.fetch`.

use std::collections::HashMap;

use async_trait::async_trait;
use language::passages::{ChunkOptions, TextChunk, chunks};
use proto::{Code, Failure, digest_of_parts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use strip::Job;
use strip::typed::{About, TypedOutput, TypedTool};

use super::cursor::{Cursor, hex, settings_of};
use super::document::{Loaded, Loader, Origin};
use super::pages::Pages;
use crate::search_tool::LIMITS;

const ID: &str = "docs.load.fetch";

/// The most chunks of one answer, and the most bytes of them as JSON.
const MAX_CHUNKS: usize = 200;
const MAX_BYTES: usize = 900_000;

/// Loads a document.
pub struct LoadDocument {
    pub loader: Loader,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A web page or document; or `file_id`, or `content`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 8192))]
    url: Option<String>,
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    file_id: Option<String>,
    /// Markdown or plain text.
    #[serde(default)]
    #[schemars(length(min = 1))]
    content: Option<String>,
    #[serde(default = "chunk_tokens")]
    #[schemars(range(min = 50, max = 2000))]
    chunk_tokens: usize,
    /// What a chunk repeats of the one before.
    #[serde(default = "overlap_tokens")]
    #[schemars(range(min = 0, max = 500))]
    overlap_tokens: usize,
    /// `next_cursor` of the answer before.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    cursor: Option<String>,
}

fn chunk_tokens() -> usize {
    ChunkOptions::default().chunk_tokens
}

fn overlap_tokens() -> usize {
    ChunkOptions::default().overlap_tokens
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Output {
    pub source: LoadedSource,
    pub chunks: Vec<LoadedChunk>,
    /// Whether chunks are missing here: more follow, or the document was cut.
    pub truncated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What is known about a document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadedSource {
    /// After redirects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, rename = "file_id", skip_serializing_if = "Option::is_none")]
    pub file_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Such as `2024-05-03`, `2024-05` or `2024`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_at: Option<String>,
    /// A kind such as `html`; of files, the media type.
    pub content_type: String,
    /// A code such as `en`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoadedChunk {
    /// Depends on the text and the settings only.
    pub id: String,
    /// From 0.
    pub index: usize,
    pub text: String,
    /// In code points.
    pub offset: usize,
    pub length: usize,
    pub tokens: usize,
    pub heading_path: Vec<String>,
    /// Where the document has pages that are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<usize>,
}

#[async_trait]
impl TypedTool for LoadDocument {
    type Input = Input;
    type Output = Output;

    fn about(&self) -> About {
        let description = "Reads a URL, file or text as chunks with ids and headings.";
        About {
            limits: LIMITS,
            open_world: true,
            ..About::reader(ID, "Load a document", description)
        }
    }

    fn keeps_empty(&self) -> &'static [&'static str] {
        &["content"]
    }

    async fn run(&self, input: Input, job: &Job) -> Result<TypedOutput<Output>, Failure> {
        let (origin, options, cursor) = check(input)?;
        let loaded = self.loader.load(origin, job).await?;
        let answer =
            tokio::task::spawn_blocking(move || answer(loaded, options, cursor.as_deref()));
        let answer = answer.await.map_err(|error| {
            Failure::new(Code::Internal, "the document was not cut").caused_by(error)
        })?;
        Ok(answer?.into())
    }
}

type Checked = (Origin, ChunkOptions, Option<String>);

fn check(input: Input) -> Result<Checked, Failure> {
    let Input { url, file_id, content, chunk_tokens, overlap_tokens, cursor } = input;
    let origin = match (url, file_id, content) {
        (Some(url), None, None) => Origin::Url(url),
        (None, Some(id), None) => Origin::File(id),
        (None, None, Some(text)) => Origin::Content(text),
        (None, None, None) => {
            return Err(invalid("", "one of `url`, `file_id` and `content` is needed"));
        }
        (None, ..) => return Err(invalid("/content", "`file_id` is given as well; give one")),
        (_, Some(_), _) => return Err(invalid("/file_id", "`url` is given as well; give one")),
        _ => return Err(invalid("/content", "`url` is given as well; give one")),
    };
    if !(50..=2000).contains(&chunk_tokens) {
        return Err(invalid("/chunk_tokens", "must be from 50 to 2000"));
    }
    if overlap_tokens > 500 {
        return Err(invalid("/overlap_tokens", "must be from 0 to 500"));
    }
    if overlap_tokens >= chunk_tokens {
        return Err(invalid(
            "/overlap_tokens",
            &format!("is {overlap_tokens}; it must be below `chunk_tokens`, {chunk_tokens}"),
        ));
    }
    Ok((origin, ChunkOptions { chunk_tokens, overlap_tokens }, cursor))
}

fn invalid(path: &str, why: &str) -> Failure {
    let message = if path.is_empty() { why.to_owned() } else { format!("{path}: {why}") };
    Failure::new(Code::InvalidInput, message).details(json!({"path": path}))
}

/// The chunks of a document from a cursor on.
fn answer(loaded: Loaded, options: ChunkOptions, cursor: Option<&str>) -> Result<Output, Failure> {
    let Loaded { source, text, pages, incomplete, warnings, .. } = loaded;
    let pages = Pages::new(&text, &pages);
    let start = Cursor::start(cursor, options, &text)?;
    let mut answer =
        Output { source, chunks: Vec::new(), truncated: incomplete, next_cursor: None, warnings };
    let mut bytes = 0;
    for mut chunk in chunk_document(&text, options).skip(start) {
        chunk.page = pages.at(chunk.offset);
        bytes += size_of(&chunk);
        let full = answer.chunks.len() == MAX_CHUNKS || bytes > MAX_BYTES;
        if full && !answer.chunks.is_empty() {
            answer.next_cursor = Some(Cursor::new(chunk.index, options, &text).to_string());
            answer.truncated = true;
            break;
        }
        answer.chunks.push(chunk);
    }
    Ok(answer)
}

/// All chunks of a text with their ids.
pub fn chunk_document(
    text: &str,
    options: ChunkOptions,
) -> impl Iterator<Item = LoadedChunk> + use<'_> {
    let settings = settings_of(options);
    // A text that occurs again has another id.
    let mut known: HashMap<String, u64> = HashMap::new();
    chunks(text, options).enumerate().map(move |(index, chunk)| {
        let TextChunk { offset, length, text, heading_path } = chunk;
        let plain = digest_of_parts([settings.as_bytes(), text.as_bytes()]);
        let mut id = hex(plain.as_bytes(), 8);
        let times = known.entry(id.clone()).or_default();
        *times += 1;
        if *times > 1 {
            let again = [settings.as_bytes(), text.as_bytes(), &times.to_le_bytes()];
            id = hex(digest_of_parts(again).as_bytes(), 8);
        }
        let tokens = text.len().div_ceil(4);
        let id = format!("c_{id}");
        LoadedChunk { id, index, offset, length, tokens, text, heading_path, page: None }
    })
}

/// About how many bytes a chunk has as JSON.
fn size_of(chunk: &LoadedChunk) -> usize {
    let headings: usize = chunk.heading_path.iter().map(|title| title.len() + 3).sum();
    let escaped = |byte: &u8| matches!(byte, b'"' | b'\\' | b'\n' | b'\t' | b'\r');
    let escapes = chunk.text.bytes().filter(|byte| escaped(byte)).count();
    let controls = chunk.text.bytes().filter(|byte| *byte < 0x20).count() * 5;
    160 + headings * 2 + chunk.text.len() + escapes + controls
}

#[cfg(test)]
mod tests;
