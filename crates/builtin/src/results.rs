//! Reads stored parts of answers: `powerstrip:read_result`.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use files::{CopyBudget, FileRecord, Files};
use language::passages::passages;
use proto::{Blame, Code, Descriptor, Failure, RequestedLimits};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use strip::files::READ_RESULT;
use strip::typed::About;
use strip::{Door, Job, Output, Part, Strip, Tool};

use self::slice::{Slice, slice};
use crate::owner::upgrade;

mod slice;

/// The catalog's source name of this tool.
pub const SOURCE: &str = "built-in results";

/// The largest picture that is returned as it is.
const MAX_PICTURE: u64 = 1 << 20;

/// The largest picture that is returned as it is where the answer is one event of at most 1,000,000 bytes, in base64.
const MAX_EVENT_PICTURE: u64 = 720_000;

/// The longest text that is searched.
const MAX_SEARCHED: u64 = 8 << 20;

/// A picture in base64, or 64,000 bytes of text as JSON, where a character takes up to six.
const MAX_OUTPUT: usize = 2 << 20;

/// The default and the largest number of bytes of text in one answer.
const BYTES: u64 = 16_000;
const MAX_BYTES: u64 = 64_000;

/// Types that are text although they are not called so.
const TEXT_TYPES: [&str; 5] = [
    "application/json",
    "application/xml",
    "application/yaml",
    "application/javascript",
    "application/x-ndjson",
];

/// Reads a reference.
struct ReadResult {
    descriptor: Descriptor,
    /// The strip owns the tool.
    strip: Weak<Strip>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    // The reference.
    #[schemars(length(min = 1, max = 200))]
    ref_id: String,
    /// In bytes.
    #[serde(default)]
    offset: u64,
    /// The most bytes of text.
    #[serde(default = "default_bytes")]
    #[schemars(range(min = 4, max = MAX_BYTES))]
    max_bytes: u64,
    /// Gives the passages that fit these words instead.
    #[schemars(length(max = 1000))]
    query: Option<String>,
}

fn default_bytes() -> u64 {
    BYTES
}

/// The tool that reads references.
pub fn tool(strip: &Arc<Strip>) -> Arc<dyn Tool> {
    let description = "Reads what a `ref_id` refers to: text from `offset` on, passages that fit `query`, or a picture.";
    let limits =
        RequestedLimits { max_output_bytes: Some(MAX_OUTPUT), ..RequestedLimits::default() };
    let about = About { limits, ..About::reader(READ_RESULT, "Read a result", description) };
    Arc::new(ReadResult {
        descriptor: about.without_output::<Input>(),
        strip: Arc::downgrade(strip),
    })
}

#[async_trait]
impl Tool for ReadResult {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn part(&self) -> Part {
        Part::Reader
    }

    /// Stored results that it reads are not stored again.
    fn references(&self) -> bool {
        false
    }

    async fn run(&self, job: &Job) -> Result<Output, Failure> {
        let input = Input::deserialize(&*job.input).map_err(|error| {
            Failure::new(Code::InvalidInput, format!("the input does not fit the tool: {error}"))
        })?;
        let strip = upgrade(&self.strip)?;
        let record = strip.find_result(job, &input.ref_id).await?;
        let stored = Stored { files: strip.files(), record };
        if stored.is_picture() {
            if job.request().door == Door::Workflow {
                let message = "a task has no use for the bytes of a picture; pass its ref_id on";
                return Err(Failure::new(Code::InvalidInput, message));
            }
            let most = if job.request().is_answered_in_one_event() {
                MAX_EVENT_PICTURE
            } else {
                MAX_PICTURE
            };
            return stored.picture(most).await;
        }
        match input.query.as_deref().map(str::trim).filter(|query| !query.is_empty()) {
            Some(query) => stored.search(query.to_owned(), input.max_bytes).await,
            None => stored.read(input.offset, input.max_bytes).await,
        }
    }
}

/// A stored part of an answer.
struct Stored<'a> {
    files: &'a Arc<Files>,
    record: FileRecord,
}

impl Stored<'_> {
    fn is_text(&self) -> bool {
        let kind = self.record.media_type.as_str();
        kind.starts_with("text/")
            || TEXT_TYPES.contains(&kind)
            || kind.ends_with("+json")
            || kind.ends_with("+xml")
    }

    fn is_picture(&self) -> bool {
        self.record.media_type.starts_with("image/") && !self.is_text()
    }

    /// The facts about it, to which each answer adds its own.
    fn facts(&self) -> Value {
        let FileRecord { id, media_type, .. } = &self.record;
        json!({"ref_id": id, "media_type": media_type})
    }

    async fn read(&self, offset: u64, max_bytes: u64) -> Result<Output, Failure> {
        let Slice { text, offset, next_offset, size } = if self.is_text() {
            self.read_range(offset, max_bytes).await?
        } else {
            let text = self.extract().await?;
            check_offset(offset, text.len() as u64)?;
            slice(text.as_bytes(), 0, offset, max_bytes, text.len() as u64)
        };
        let mut facts = self.facts();
        facts["offset"] = offset.into();
        facts["size"] = size.into();
        if let Some(next) = next_offset {
            facts["next_offset"] = next.into();
        }
        Ok(output(facts, "text", vec![text]))
    }

    /// Reads only the bytes that are asked for.
    async fn read_range(&self, offset: u64, max_bytes: u64) -> Result<Slice, Failure> {
        let size = self.record.size;
        check_offset(offset, size)?;
        // The character at each end may reach beyond it.
        let (start, end) = (offset.saturating_sub(3), offset.saturating_add(max_bytes + 3));
        let bytes = self.files.range(&self.record, start..end).await?;
        Ok(slice(&bytes, start, offset, max_bytes, size))
    }

    async fn search(&self, query: String, max_bytes: u64) -> Result<Output, Failure> {
        let text: Arc<str> = if self.is_text() {
            let bytes = self.files.bytes(&self.record, MAX_SEARCHED).await.map_err(too_long)?;
            String::from_utf8_lossy(&bytes).into()
        } else {
            self.extract().await?
        };
        if text.len() as u64 > MAX_SEARCHED {
            return Err(too_long(Failure::new(Code::InvalidInput, "the text is too long")));
        }
        let size = text.len();
        let most = usize::try_from(max_bytes).unwrap_or(usize::MAX);
        let searched = tokio::task::spawn_blocking(move || {
            let mut room = most;
            let mut found = Vec::new();
            for passage in passages(&text, &query) {
                let fits = &passage.text[..passage.text.floor_char_boundary(room)];
                if fits.is_empty() || (fits.len() < passage.text.len() && !found.is_empty()) {
                    break;
                }
                room -= fits.len();
                found.push((passage.offset, fits.to_owned()));
            }
            found
        });
        let found = searched.await.map_err(|error| {
            Failure::new(Code::Internal, "the search ended early").caused_by(error)
        })?;
        let mut facts = self.facts();
        facts["size"] = size.into();
        facts["offsets"] = found.iter().map(|(offset, _)| *offset).collect::<Vec<_>>().into();
        Ok(output(facts, "passages", found.into_iter().map(|(_, text)| text).collect()))
    }

    /// The text of a document.
    async fn extract(&self) -> Result<Arc<str>, Failure> {
        self.files.text(&self.record).await.map_err(|failure| match failure.code {
            Code::InvalidInput | Code::Unsupported => {
                let FileRecord { id, media_type, size, .. } = &self.record;
                let message = format!(
                    "`{id}` is {media_type} of {size} bytes, which cannot be read as text; pass its ref_id to a tool that takes files"
                );
                Failure::new(Code::Unsupported, message).blame(Blame::Caller).caused_by(failure)
            }
            _ => failure,
        })
    }

    async fn picture(&self, most: u64) -> Result<Output, Failure> {
        let FileRecord { id, size, media_type, .. } = &self.record;
        let mut facts = self.facts();
        facts["size"] = (*size).into();
        let (bytes, media_type): (Bytes, String) = if *size <= most {
            (self.files.bytes(&self.record, most).await?, media_type.clone())
        } else {
            let mut budget = CopyBudget::of_answer();
            let copy = self.files.smaller_picture(&self.record, &mut budget).await;
            let copy = copy.ok_or_else(|| {
                let message = format!(
                    "the picture `{id}` has {size} bytes, of which {most} are shown, and no smaller copy of it can be made; pass its ref_id to a tool that takes files"
                );
                Failure::new(Code::Unsupported, message).blame(Blame::Caller)
            })?;
            facts["smaller_copy"] = true.into();
            (copy.bytes, copy.media_type)
        };
        let block = json!({"type": "image", "data": BASE64_STANDARD.encode(&bytes), "mimeType": media_type});
        let native = json!({"content": [block, {"type": "text", "text": facts.to_string()}]});
        facts["content"] = json!([block]);
        Ok(Output { native: Some(Arc::new(native)), ..Output::new(facts) })
    }
}

/// Texts as blocks of their own, so that models read them without escapes; the facts follow.
fn output(mut facts: Value, field: &str, texts: Vec<String>) -> Output {
    let block = |text: &str| json!({"type": "text", "text": text});
    let mut content: Vec<Value> = texts.iter().map(|text| block(text)).collect();
    content.push(block(&facts.to_string()));
    facts[field] = match field {
        "text" => texts.into_iter().next().unwrap_or_default().into(),
        _ => texts.into(),
    };
    Output { native: Some(Arc::new(json!({ "content": content }))), ..Output::new(facts) }
}

fn check_offset(offset: u64, size: u64) -> Result<(), Failure> {
    if offset <= size {
        return Ok(());
    }
    let message = format!("the offset {offset} is beyond the end: the text has {size} bytes");
    Err(Failure::new(Code::InvalidInput, message).details(json!({"size": size})))
}

fn too_long(failure: Failure) -> Failure {
    if failure.code != Code::InvalidInput {
        return failure;
    }
    let message = format!(
        "texts of more than {MAX_SEARCHED} bytes are not searched; leave `query` out and read with `offset`"
    );
    Failure::new(Code::InvalidInput, message)
}
