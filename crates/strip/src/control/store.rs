use std::sync::{Arc, Weak};

use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD};
use bytes::Bytes;
use futures_util::stream;
use proto::{Code, Descriptor, FileKind, RequestedLimits};
use serde_json::{Value, json};

use super::context::{Context, check, run_of};
use super::sheet::Sheet;
use crate::files::{FileRecord, NewFile, fetch_reference, hex};
use crate::runs::Run;
use crate::tool::Part;
use crate::{Failure, Job, Output, Request, Tool};

pub(super) const ID: &str = "powerstrip:store_artifact";

/// Larger contents come as references. Doors read messages of 4 MiB in any case.
const MAX_INPUT: usize = 2 << 20;

/// The most artifacts of a run.
const MAX_ARTIFACTS: usize = 1000;

/// Stores an artifact.
pub(super) struct StoreArtifact {
    descriptor: Descriptor,
    context: Weak<Context>,
}

/// The content of an artifact.
enum Content<'a> {
    Bytes(Bytes),
    Reference(&'a str),
}

impl StoreArtifact {
    pub(super) fn new(context: Weak<Context>) -> Self {
        let descriptor = Sheet {
            id: ID,
            title: "Store an artifact",
            description: "Keeps a file that this run has made and gives its `file_id`. Give either `content` (text, or \
                          base64 with `content_encoding: base64`) or `content_ref_id`, the reference that a tool gave for \
                          large content: its bytes are copied without passing through you.",
            input: json!({
                "type": "object",
                "properties": {
                    "file_name": {
                        "type": "string",
                        "description": "The name that the file is kept under, such as `report.pdf`.",
                        "minLength": 1,
                        "maxLength": 255,
                    },
                    "content": {"type": "string", "description": "The content itself."},
                    "content_encoding": {
                        "enum": ["utf-8", "base64"],
                        "description": "How `content` is written.",
                        "default": "utf-8",
                    },
                    "content_ref_id": {
                        "type": "string",
                        "description": "The `ref_id` or `file_id` of what to keep.",
                        "minLength": 1,
                        "maxLength": 200,
                    },
                },
                "required": ["file_name"],
                "additionalProperties": false,
            }),
            limits: RequestedLimits {
                max_input_bytes: Some(MAX_INPUT),
                ..RequestedLimits::default()
            },
            idempotent: false,
        }
        .descriptor();
        Self { descriptor, context }
    }
}

#[async_trait]
impl Tool for StoreArtifact {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn part(&self) -> Part {
        Part::Control
    }

    async fn run(&self, job: &Job) -> Result<Output, Failure> {
        let request = &job.request;
        let context = Context::upgrade(&self.context)?;
        let run = run_of(request)?;
        let content = content(&request.input)?;
        if run.artifacts().len() >= MAX_ARTIFACTS {
            let message = format!("a run keeps at most {MAX_ARTIFACTS} artifacts");
            return Err(Failure::new(Code::RateLimit, message).retryable(false));
        }
        let record = store(&context, run, request, content).await?;
        context.runs.stored(run, record.id.as_str());
        Ok(Output::new(json!({
            "file_id": record.id,
            "file_name": record.name,
            "size": record.size,
            "sha256": hex(&record.sha256),
            "media_type": record.media_type,
            "run_id": run.called(),
        })))
    }
}

async fn store(
    context: &Context,
    run: &Arc<Run>,
    request: &Request,
    content: Content<'_>,
) -> Result<FileRecord, Failure> {
    let name = request.input["file_name"].as_str().unwrap_or_default();
    let mut new = NewFile::new(FileKind::Artifact, name);
    new.run = run.is_kept().then(|| run.id().to_owned());
    let (files, principal) = (&context.files, &request.principal);
    match content {
        Content::Bytes(bytes) => files.put(principal, new, stream::iter([Ok(bytes)])).await,
        Content::Reference(id) => {
            let source = match files.find(principal, id).await {
                // It may be the id of a server for its own reference.
                Err(missing) if missing.code == Code::NotFound => {
                    fetch_reference(files, &context.resolver, request, id).await?.ok_or(missing)?
                }
                found => found?,
            };
            files.copy(principal, &source, new).await
        }
    }
}

/// The content of an input, or everything that is wrong with it.
fn content(input: &Value) -> Result<Content<'_>, Failure> {
    let (content, reference) = (input["content"].as_str(), input["content_ref_id"].as_str());
    let encoding = input["content_encoding"].as_str();
    let mut faults = Vec::new();
    if encoding.is_some() && content.is_none() {
        faults.push("`content_encoding` belongs to `content`".to_owned());
    }
    let found = match (content, reference) {
        (Some(_), Some(_)) => {
            faults.push("give `content` or `content_ref_id`, not both".to_owned());
            None
        }
        (None, None) => {
            faults.push("give one of `content` and `content_ref_id`".to_owned());
            None
        }
        (None, Some(reference)) => Some(Content::Reference(reference)),
        (Some(content), None) if encoding == Some("base64") => match decoded(content) {
            Ok(bytes) => Some(Content::Bytes(bytes)),
            Err(why) => {
                faults.push(format!("`content` is not base64: {why}"));
                None
            }
        },
        (Some(content), None) => Some(Content::Bytes(Bytes::copy_from_slice(content.as_bytes()))),
    };
    check(&faults)?;
    found.ok_or_else(|| Failure::new(Code::InvalidInput, "there is no content"))
}

/// The bytes of base64, with or without its padding, on one line or several.
fn decoded(text: &str) -> Result<Bytes, base64::DecodeError> {
    let plain: String = text.chars().filter(|character| !character.is_ascii_whitespace()).collect();
    let engine = if plain.contains('=') { &BASE64_STANDARD } else { &BASE64_STANDARD_NO_PAD };
    engine.decode(plain).map(Bytes::from)
}
