use std::sync::{Arc, Weak};

use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD};
use bytes::Bytes;
use files::{FileRecord, NewFile, hex};
use futures_util::stream;
use proto::{Code, Failure, FileKind, RequestedLimits, digest};
use runs::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strip::asking::run_of;
use strip::files::check_storing;
use strip::typed::{About, TypedOutput, TypedTool};
use strip::{Job, Part, Strip};

use super::faults::check;
use crate::owner::upgrade;

pub(super) const ID: &str = "powerstrip:store_artifact";

/// Larger contents come as references. Doors read messages of 4 MiB in any case.
const MAX_INPUT: usize = 2 << 20;

/// The most artifacts of a run.
const MAX_ARTIFACTS: usize = 1000;

/// Stores an artifact.
pub(super) struct StoreArtifact {
    pub(super) strip: Weak<Strip>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(length(min = 1, max = 255))]
    file_name: String,
    content: Option<String>,
    /// How `content` is written.
    #[schemars(extend("enum" = ["utf-8", "base64"], "default" = "utf-8"))]
    content_encoding: Option<String>,
    #[schemars(length(min = 1, max = 200))]
    content_ref_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct StoredArtifact {
    /// The id by which tools, people and complete_workflow name the file.
    file_id: String,
    file_name: String,
    /// In bytes.
    size: u64,
    sha256: String,
    media_type: String,
    run_id: String,
}

/// The content of an artifact.
enum Content {
    Bytes(Bytes),
    Reference(String),
}

#[async_trait]
impl TypedTool for StoreArtifact {
    type Input = Input;
    type Output = StoredArtifact;

    fn about(&self) -> About {
        About {
            id: ID,
            title: "Store an artifact",
            description: "Stores a file of this run; gives its `file_id`. Give `content` or `content_ref_id` (a reference \
                          or file).",
            deterministic: false,
            read_only: false,
            idempotent: false,
            open_world: false,
            limits: RequestedLimits {
                max_input_bytes: Some(MAX_INPUT),
                ..RequestedLimits::default()
            },
        }
    }

    fn part(&self) -> Part {
        Part::Control
    }

    fn repeats_calls(&self) -> bool {
        true
    }

    fn keeps_empty(&self) -> &'static [&'static str] {
        // An empty file.
        &["content"]
    }

    async fn run(&self, input: Input, job: &Job) -> Result<TypedOutput<StoredArtifact>, Failure> {
        check_storing(&job.request().principal)?;
        let strip = upgrade(&self.strip)?;
        let run = run_of(job)?;
        let (name, content) = content(input)?;
        if run.artifacts().len() >= MAX_ARTIFACTS {
            let message = format!("a run keeps at most {MAX_ARTIFACTS} artifacts");
            return Err(Failure::new(Code::RateLimit, message).retryable(false));
        }
        let record = store(&strip, run, job, name, content).await?;
        strip.runs().stored(run, record.id.as_str());
        Ok(StoredArtifact {
            file_id: record.id.to_string(),
            file_name: record.name,
            size: record.size,
            sha256: hex(&record.sha256),
            media_type: record.media_type,
            run_id: run.called().to_owned(),
        }
        .into())
    }
}

async fn store(
    strip: &Strip,
    run: &Arc<Run>,
    job: &Job,
    name: String,
    content: Content,
) -> Result<FileRecord, Failure> {
    let mut new = NewFile::new(FileKind::Artifact, name);
    new.run = run.is_kept().then(|| run.id().to_owned());
    let (files, principal) = (strip.files(), &job.request().principal);
    // A call with a key may have been cut off after it had stored the file.
    let keyed = new.run.clone().filter(|_| job.request().idempotency_key.is_some());
    let before = async |sha256: &[u8]| match &keyed {
        Some(run) => files.find_artifact(principal, run, &new.name, sha256).await,
        None => Ok(None),
    };
    match content {
        Content::Bytes(bytes) => {
            if let Some(stored) = before(digest(&bytes).as_bytes()).await? {
                return Ok(stored);
            }
            files.put(principal, new, stream::iter([Ok(bytes)])).await
        }
        Content::Reference(id) => {
            let source = strip.find_content(job, &id).await?;
            if let Some(stored) = before(&source.sha256).await? {
                return Ok(stored);
            }
            files.copy(principal, &source, new).await
        }
    }
}

/// The name and the content of an input, or everything that is wrong with it.
fn content(input: Input) -> Result<(String, Content), Failure> {
    let Input { file_name, mut content, content_encoding: mut encoding, content_ref_id: reference } =
        input;
    if reference.is_some() && content.as_deref() == Some("") {
        // A model that fills every field names the content by its reference.
        (content, encoding) = (None, None);
    }
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
        (Some(content), None) if encoding.as_deref() == Some("base64") => match decoded(&content) {
            Ok(bytes) => Some(Content::Bytes(bytes)),
            Err(why) => {
                faults.push(format!("`content` is not base64: {why}"));
                None
            }
        },
        (Some(content), None) => Some(Content::Bytes(Bytes::from(content))),
    };
    check(&faults)?;
    let found = found.ok_or_else(|| Failure::new(Code::InvalidInput, "there is no content"))?;
    Ok((file_name, found))
}

/// The bytes of base64, with or without its padding, on one line or several.
fn decoded(text: &str) -> Result<Bytes, base64::DecodeError> {
    let plain: String = text.chars().filter(|character| !character.is_ascii_whitespace()).collect();
    let engine = if plain.contains('=') { &BASE64_STANDARD } else { &BASE64_STANDARD_NO_PAD };
    engine.decode(plain).map(Bytes::from)
}
