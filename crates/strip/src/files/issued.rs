//! References that servers issue: which server issued one, and fetching its bytes for tools of other servers.

use std::sync::Arc;

use super::resolver::FileResolver;
use crate::{Job, Output, Request};
use bytes::Bytes;
use files::{FileRecord, FileStream, Files, IssuedReference, NewFile, decode_text};
use futures_util::{StreamExt as _, stream};
use proto::{Blame, Code, Failure, FileId, FileKind, Principal};
use serde_json::{Value, json};
use store::{ForeignReference, Origin};

/// The most references of one answer that are remembered.
const MAX_ISSUED: usize = 32;

/// The longest reference.
const MAX_LENGTH: usize = 200;

/// The longest URI that is remembered, so that a server cannot fill the database.
const MAX_URI: usize = 2048;

/// The references in a server's answer.
pub(crate) fn issued_references(output: &Output) -> Vec<String> {
    let mut references = Vec::new();
    collect(&output.data, &mut references);
    references
}

/// Remembers the references in a server's answer.
pub(crate) async fn remember_issued(
    files: &Files,
    server: &str,
    principal: &Principal,
    references: Vec<String>,
    output: &Output,
) -> Result<(), Failure> {
    let links = output.native.as_ref().map(|native| links(native)).unwrap_or_default();
    let issued = references.into_iter().map(|reference| IssuedReference {
        uri: links.iter().find(|uri| uri.contains(&reference)).cloned(),
        reference,
    });
    files.remember_issued(principal, server, issued.collect()).await
}

/// Collects every `ref_id` in the data that is not an id of ours.
fn collect(value: &Value, issued: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, issued)),
        Value::Object(map) => {
            for (key, item) in map {
                match item {
                    Value::String(text)
                        if key == "ref_id"
                            && (1..=MAX_LENGTH).contains(&text.len())
                            && issued.len() < MAX_ISSUED
                            && text.parse::<FileId>().is_err() =>
                    {
                        issued.push(text.clone());
                    }
                    item => collect(item, issued),
                }
            }
        }
        _ => {}
    }
}

/// The resources that a result links to.
fn links(result: &Value) -> Vec<String> {
    let blocks = result.get("content").and_then(Value::as_array).into_iter().flatten();
    blocks
        .filter(|block| block["type"] == "resource_link")
        .filter_map(|block| block["uri"].as_str())
        .filter(|uri| uri.len() <= MAX_URI)
        .map(str::to_owned)
        .collect()
}

/// The servers that issued a reference to this caller, without those that the caller may not use.
pub(crate) async fn issuers(
    files: &Files,
    resolver: &FileResolver,
    principal: &Principal,
    reference: &str,
) -> Result<Vec<ForeignReference>, Failure> {
    let mut known = files.issuers(principal, reference).await?;
    known.retain(|issued| resolver.can_reach(principal, &issued.server));
    Ok(known)
}

/// The only issuer of a reference. If two servers issued it, the second may have done so to substitute its own bytes.
pub(crate) fn only_issuer(
    mut issuers: Vec<ForeignReference>,
) -> Result<Option<ForeignReference>, Failure> {
    if issuers.len() < 2 {
        return Ok(issuers.pop());
    }
    let servers: Vec<_> = issuers.iter().map(|issued| issued.server.as_str()).collect();
    let message = format!(
        "more than one server has issued the reference `{}` ({}), so it is ambiguous",
        issuers[0].reference,
        servers.join(", ")
    );
    Err(Failure::new(Code::InvalidInput, message).details(json!({"servers": servers})))
}

/// Fetches what a server stores under a reference; none if no server is known to have issued it.
pub(crate) async fn fetch_reference(
    files: &Arc<Files>,
    resolver: &FileResolver,
    job: &Job,
    reference: &str,
) -> Result<Option<FileRecord>, Failure> {
    let issuers = issuers(files, resolver, &job.request().principal, reference).await?;
    match only_issuer(issuers)? {
        Some(issued) => fetch(files, resolver, job, &issued).await.map(Some),
        None => Ok(None),
    }
}

/// Fetches the bytes of a reference: from our storage, or from the server that issued it.
pub(crate) async fn fetch(
    files: &Arc<Files>,
    resolver: &FileResolver,
    job: &Job,
    issued: &ForeignReference,
) -> Result<FileRecord, Failure> {
    let request = job.request();
    let principal = &request.principal;
    let (server, reference) = (&issued.server, &issued.reference);
    if let Some(stored) = files.find_by_origin(principal, server, reference).await? {
        return Ok(stored);
    }
    let unavailable = |why: &str| {
        let message =
            format!("the reference `{reference}` of server `{server}` cannot be fetched: {why}");
        Failure::new(Code::NotFound, message)
            .details(json!({"server": server, "reference": reference}))
    };
    let uri = issued.uri.clone().ok_or_else(|| {
        unavailable(
            "the answer of the server links to no resource; call a tool of that server with it",
        )
    })?;
    let mut read =
        Request::new("resources/read", json!({"uri": uri}), Arc::clone(principal), request.door);
    read.trace = request.trace;
    read.run = job.run.clone();
    read.cancel = job.cancel().clone();
    let answer = resolver.read(server, read).await;
    let answer = answer.ok_or_else(|| unavailable("the server no longer exists"))?;
    let answer = answer.map_err(|failure| match failure.code {
        Code::RateLimit => failure,
        _ => unavailable(&failure.message),
    })?;
    let content = &answer.data["contents"][0];
    let blobs = answer.blobs.as_ref();
    let bytes: FileStream = match (content["blob"].as_str(), content["text"].as_str()) {
        (Some(blob), _) => decode_text(blobs, blob).boxed(),
        (None, Some(text)) => {
            let text = blobs.map_or_else(|| text.to_owned(), |blobs| blobs.restore(text));
            stream::iter([Ok(Bytes::from(text))]).boxed()
        }
        (None, None) => return Err(unavailable("it answered with neither bytes nor text")),
    };
    let name = content["name"]
        .as_str()
        .or_else(|| uri.rsplit('/').next())
        .unwrap_or("reference")
        .to_owned();
    let new = NewFile {
        origin: Some(Origin {
            server: server.clone(),
            reference: Some(reference.clone()),
            agent: principal.agent.clone(),
        }),
        ..NewFile::new(FileKind::Reference, name)
    };
    files.put(principal, new, bytes).await.map_err(|failure| match failure.code {
        Code::Internal if failure.blame == Blame::Tool => {
            unavailable("it answered with base64 that cannot be read")
        }
        _ => failure,
    })
}
