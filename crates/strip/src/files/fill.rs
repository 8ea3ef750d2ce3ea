//! Puts files into the input of a call, after approval of the ids and before validation with the tool's own schema.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use files::{Attachments, FilePlan, FileRecord, Files, MAX_FILES, Secrets, Slot, encode_base64};
use futures_util::TryStreamExt as _;
use proto::{Code, Failure, FileId, FileStrategy};
use serde_json::{Map, Value, json};

use super::access::find_readable;
use super::issued::{self, fetch, fetch_reference};
use super::resolver::FileResolver;
use super::shown::{check_as_shown, show};
use crate::Job;
use crate::approval::ShownFile;
use crate::catalog::Entry;
use schema::Violation;

/// Smaller files are put into the input as text, which costs less than a stream.
const MIN_STREAM_BYTES: u64 = 256 * 1024;

/// How many bytes of files are put into one input as text.
const MAX_INLINE: u64 = 32 << 20;

/// The validity of a link that a tool gets.
const LINK_TTL: Duration = Duration::from_secs(3600);

/// A call with files in its input, and what only the tool may see of it.
pub(crate) struct Filled {
    pub(crate) job: Job,
    pub(crate) secrets: Secrets,
}

/// Puts files into the input of a call.
pub(crate) async fn fill(
    files: &Arc<Files>,
    resolver: &FileResolver,
    entry: &Entry,
    mut job: Job,
) -> Result<Filled, Failure> {
    let (Some(plan), Some(input)) = (&entry.files, job.input.as_object()) else {
        return Ok(Filled { job, secrets: Secrets::default() });
    };
    let given = GivenIds::of(plan, input)?;
    let mut filling = Filling {
        files,
        strategy: plan.strategy,
        streams: entry.tool.streams(),
        attached: Attachments::new(Arc::clone(files)),
        secrets: Secrets::default(),
        room: MAX_INLINE,
    };
    let mut filled = input.clone();
    for (slot, ids) in plan.slots.iter().zip(&given.slots) {
        if ids.is_empty() {
            continue;
        }
        let (mut data, mut types) = (Vec::new(), Vec::new());
        for id in ids {
            let record = find_file(files, resolver, (entry, slot), &job, id).await?;
            check_as_shown(&job, id.as_str(), record.as_ref())?;
            let Some(record) = record else { continue };
            types.push(Value::from(record.media_type.clone()));
            data.push(filling.value(slot, record).await?);
        }
        if data.is_empty() {
            // References of the called server, which resolves them itself.
            continue;
        }
        filled.insert(slot.data.clone(), one_or_list(slot, data));
        if let Some(name) = &slot.media_type {
            filled.insert(name.clone(), one_or_list(slot, types));
        }
        if !slot.passes_id {
            filled.remove(&slot.id);
        }
    }
    let Filling { attached, secrets, .. } = filling;
    filled.retain(|argument, _| !plan.is_reference_only(argument));
    let filled = Value::Object(filled);
    check(plan, &filled).map_err(|failure| secrets.scrub_failure(failure))?;
    job.caller_input = Some(std::mem::replace(&mut job.input, Arc::new(filled)));
    job.attachments = (!attached.is_empty()).then(|| Arc::new(attached));
    Ok(Filled { job, secrets })
}

/// The files of a call. Files of other servers are fetched, so that a reviewer can see them.
pub(crate) async fn files_to_fill(
    files: &Arc<Files>,
    resolver: &FileResolver,
    entry: &Entry,
    job: &Job,
) -> Result<Vec<ShownFile>, Failure> {
    let mut shown = Vec::new();
    let (Some(plan), Some(input)) = (&entry.files, job.input.as_object()) else {
        return Ok(shown);
    };
    for (slot, ids) in plan.slots.iter().zip(&GivenIds::of(plan, input)?.slots) {
        for id in ids {
            if let Some(record) = find_file(files, resolver, (entry, slot), job, id).await? {
                shown.push(show(id.as_str(), &record));
            }
        }
    }
    Ok(shown)
}

/// An id that a caller gives for a file.
enum Id<'a> {
    /// An id of ours.
    File(&'a str),
    /// A reference in an argument that the tool itself may take: its server knows what it issued.
    ToolReference(&'a str),
    /// A reference in the argument for the file's id, which the tool does not get.
    Reference(&'a str),
}

impl<'a> Id<'a> {
    fn of(id: &'a str, otherwise: fn(&'a str) -> Self) -> Self {
        if id.parse::<FileId>().is_ok() { Self::File(id) } else { otherwise(id) }
    }

    fn as_str(&self) -> &'a str {
        match self {
            Self::File(id) | Self::ToolReference(id) | Self::Reference(id) => id,
        }
    }
}

/// The ids that a caller gives, by slot.
struct GivenIds<'a> {
    slots: Vec<Vec<Id<'a>>>,
}

impl<'a> GivenIds<'a> {
    fn of(plan: &FilePlan, input: &'a Map<String, Value>) -> Result<Self, Failure> {
        let mut slots: Vec<Vec<Id<'a>>> = Vec::with_capacity(plan.slots.len());
        for slot in &plan.slots {
            let filled = [Some(&slot.data), slot.media_type.as_ref()];
            if let Some(name) = filled.into_iter().flatten().find(|name| input.contains_key(*name))
            {
                let message = format!("`{name}` is filled in from `{}`: leave it out", slot.id);
                return Err(Failure::new(Code::InvalidInput, message));
            }
            let given = input.get(&slot.id).map(ids).unwrap_or_default();
            slots.push(given.into_iter().map(|id| Id::of(id, Id::Reference)).collect());
        }
        for (argument, value) in input {
            let own = plan.slots.iter().any(|slot| slot.id == *argument);
            let filled = |slot: &Slot| {
                let at = plan.slots.iter().position(|known| known == slot);
                at.is_some_and(|at| !slots[at].is_empty())
            };
            if own {
                continue;
            }
            let Some(slot) = plan.slot_for(argument, filled) else { continue };
            let at = plan.slots.iter().position(|known| known == slot).unwrap_or_default();
            let given = ids(value);
            if given.is_empty() {
                continue;
            }
            if !slots[at].is_empty() {
                let message = format!(
                    "`{argument}` and another argument both name the file for `{}`",
                    slot.data
                );
                return Err(Failure::new(Code::InvalidInput, message));
            }
            slots[at] = given.into_iter().map(|id| Id::of(id, Id::ToolReference)).collect();
        }
        let count: usize = slots.iter().map(Vec::len).sum();
        if count > MAX_FILES {
            let message = format!("a call names {MAX_FILES} files at most, and this one {count}");
            return Err(Failure::new(Code::InvalidInput, message)
                .details(json!({"files": count, "limit": MAX_FILES})));
        }
        for (slot, ids) in plan.slots.iter().zip(&slots) {
            if ids.is_empty() && slot.required {
                let message = format!(
                    "`{}` is missing: the id of a file (`file_…`), or a reference of an earlier answer (`ref_…`)",
                    slot.id
                );
                let violations =
                    [Violation { path: format!("/{}", slot.id), message: "is missing".to_owned() }];
                return Err(Failure::new(Code::InvalidInput, message)
                    .details(json!({"violations": violations})));
            }
            if ids.len() > 1 && !slot.many {
                let message =
                    format!("the tool takes one file as `{}`, not {}", slot.data, ids.len());
                return Err(Failure::new(Code::InvalidInput, message));
            }
        }
        Ok(Self { slots })
    }
}

fn ids(value: &Value) -> Vec<&str> {
    match value {
        Value::String(id) => vec![id],
        Value::Array(ids) => ids.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn one_or_list(slot: &Slot, mut values: Vec<Value>) -> Value {
    if slot.many { Value::Array(values) } else { values.pop().unwrap_or_default() }
}

/// The file of an id; none if the id is a reference of the called server.
async fn find_file(
    files: &Arc<Files>,
    resolver: &FileResolver,
    (entry, slot): (&Entry, &Slot),
    job: &Job,
    id: &Id<'_>,
) -> Result<Option<FileRecord>, Failure> {
    let principal = &job.request().principal;
    let id = match id {
        Id::File(id) => return find_readable(files, principal, id).await.map(Some),
        Id::Reference(id) => {
            return match fetch_reference(files, resolver, job, id).await? {
                None => find_readable(files, principal, id).await.map(Some),
                found => Ok(found),
            };
        }
        Id::ToolReference(id) => id,
    };
    let issuers = issued::issuers(files, resolver, principal, id).await?;
    if issuers.iter().any(|issued| entry.server() == Some(&*issued.server)) {
        return Ok(None);
    }
    match issued::only_issuer(issuers)? {
        Some(issued) => fetch(files, resolver, job, &issued).await.map(Some),
        // No issuer is known, but a tool with an optional file may know the reference.
        None if !slot.required => Ok(None),
        None => {
            let shown: String = proto::clean::visible(id).chars().take(80).collect();
            let message =
                format!("no server has issued the reference `{shown}`, or it has expired");
            Err(Failure::new(Code::NotFound, message))
        }
    }
}

struct Filling<'a> {
    files: &'a Arc<Files>,
    strategy: FileStrategy,
    streams: bool,
    attached: Attachments,
    secrets: Secrets,
    /// How many bytes may still be put into the input.
    room: u64,
}

impl Filling<'_> {
    async fn value(&mut self, slot: &Slot, record: FileRecord) -> Result<Value, Failure> {
        match self.strategy {
            FileStrategy::ImageBase64 if !record.media_type.starts_with("image/") => {
                let message = format!("`{}` is no image but {}", record.id, record.media_type);
                Err(Failure::new(Code::InvalidInput, message))
            }
            FileStrategy::BinaryBase64 | FileStrategy::ImageBase64 => {
                self.bytes(slot, record).await
            }
            FileStrategy::PlainTextContent | FileStrategy::PlainTextText => {
                let text = self.files.text(&record).await?;
                self.take_room(&record, text.len() as u64)?;
                Ok(Value::from(&*text))
            }
            FileStrategy::VideoS3PresignedUrl => {
                let url = self.files.link(&record, Some(LINK_TTL)).await?;
                self.secrets.add_link(&url, &record.id);
                Ok(Value::from(url.as_str()))
            }
            FileStrategy::Passthrough => Ok(Value::from(record.id.as_str())),
        }
    }

    /// All files of a call share the room in its input.
    fn take_room(&mut self, record: &FileRecord, size: u64) -> Result<(), Failure> {
        self.room = self.room.checked_sub(size).ok_or_else(|| {
            let message = format!(
                "`{}` has {size} bytes; this tool takes files of up to {MAX_INLINE} in one call",
                record.id
            );
            Failure::new(Code::InvalidInput, message)
        })?;
        Ok(())
    }

    async fn bytes(&mut self, slot: &Slot, record: FileRecord) -> Result<Value, Failure> {
        if self.streams && slot.plain && record.size > MIN_STREAM_BYTES {
            let head = self.files.open(&record, Some(0..Secrets::HEAD)).await?.try_next().await?;
            self.secrets.add_bytes(&head.unwrap_or_default(), &record.id);
            return Ok(Value::from(self.attached.add(record)));
        }
        self.take_room(&record, record.size)?;
        let length = usize::try_from(record.size.div_ceil(3) * 4).unwrap_or_default();
        let mut text = String::with_capacity(length);
        let mut encoded = std::pin::pin!(encode_base64(self.files.open(&record, None).await?));
        while let Some(part) = encoded.try_next().await? {
            text.push_str(&String::from_utf8_lossy(&part));
        }
        let head = text.get(..Secrets::HEAD as usize / 3 * 4).unwrap_or(&text);
        self.secrets.add_bytes(&BASE64_STANDARD.decode(head).unwrap_or_default(), &record.id);
        Ok(Value::from(text))
    }
}

/// Validates the input with the tool's own schema. Violations do not reveal the content of files.
fn check(plan: &FilePlan, filled: &Value) -> Result<(), Failure> {
    let violations: Vec<_> = plan
        .own
        .violations(filled)
        .into_iter()
        .map(|violation| {
            let of_slot = plan.slots.iter().find(|slot| {
                let under = |name: &str| {
                    let rest =
                        violation.path.strip_prefix('/').and_then(|path| path.strip_prefix(name));
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                };
                under(&slot.data) || slot.media_type.as_deref().is_some_and(under)
            });
            match of_slot {
                Some(slot) => Violation {
                    path: format!("/{}", slot.id),
                    message: format!(
                        "the file does not fit what the tool takes as `{}`",
                        slot.data
                    ),
                },
                None => violation,
            }
        })
        .collect();
    if violations.is_empty() { Ok(()) } else { Err(crate::guard::shape::unfit(violations)) }
}
