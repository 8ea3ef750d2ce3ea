//! References that servers issue themselves: which server keeps what, and how its bytes are had when they are wanted
//! elsewhere.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use proto::{Blame, Code, FileId, FileKind};
use serde_json::{Value, json};
use store::{FileRecord, ForeignReference, Origin};

use super::lenders::Lenders;
use super::letters::in_bytes;
use super::{FileStream, Files, NewFile, broken};
use crate::{Failure, Output, Request};

/// How long it is remembered which server issued a reference.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);

/// More references in one answer than this are no references.
const MAX_ISSUED: usize = 32;

/// The longest reference.
const MAX_LENGTH: usize = 200;

/// The longest URI that is remembered; a server could fill the database with longer ones.
const MAX_URI: usize = 2048;

/// The references that a server's answer issues.
pub(crate) fn issued(output: &Output) -> Vec<String> {
    let mut issued = Vec::new();
    collect(&output.data, &mut issued);
    issued
}

/// Remembers the references that a server's answer issues.
pub(crate) async fn remember(
    files: &Files,
    server: &str,
    call: &Request,
    issued: Vec<String>,
    output: &Output,
) -> Result<(), Failure> {
    let expires_ms =
        files.clock.unix_ms() + u64::try_from(REMEMBERED.as_millis()).unwrap_or(u64::MAX);
    let links = output.native.as_ref().map(|native| links(native)).unwrap_or_default();
    let rows: Vec<_> = issued
        .into_iter()
        .map(|reference| ForeignReference {
            tenant: call.principal.tenant.clone(),
            subject: call.principal.subject.clone(),
            agent: call.principal.agent.clone(),
            uri: links.iter().find(|uri| uri.contains(&reference)).cloned(),
            reference,
            server: server.to_owned(),
            expires_ms,
        })
        .collect();
    files.database.remember_references(&rows).await.map_err(broken)
}

/// What stands under `ref_id` anywhere in the data, and is none of ours.
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

/// Which servers issued a reference to this caller, as far as anybody remembers. Of servers that are not the caller's
/// it hears nothing.
pub(crate) async fn issuers(
    files: &Files,
    lenders: &Lenders,
    call: &Request,
    reference: &str,
) -> Result<Vec<ForeignReference>, Failure> {
    let (caller, now) = (&call.principal, files.clock.unix_ms());
    let known = files.database.foreign_references(caller, reference, now).await;
    let mut known = known.map_err(broken)?;
    known.retain(|issued| lenders.reaches(caller, &issued.server));
    Ok(known)
}

/// The one server that is meant. A reference that two have issued could be either's: the second may have issued it to
/// put its own bytes in the place of the first one's.
pub(crate) fn only(
    mut issuers: Vec<ForeignReference>,
) -> Result<Option<ForeignReference>, Failure> {
    if issuers.len() < 2 {
        return Ok(issuers.pop());
    }
    let servers: Vec<_> = issuers.iter().map(|issued| issued.server.as_str()).collect();
    let message = format!(
        "more than one server has issued the reference `{}` ({}), so whose is meant cannot be told",
        issuers[0].reference,
        servers.join(", ")
    );
    Err(Failure::new(Code::InvalidInput, message).details(json!({"servers": servers})))
}

/// What a server keeps under a reference that it issued, wherever it is wanted; none if no server is known to have
/// issued it.
pub(crate) async fn lent(
    files: &Arc<Files>,
    lenders: &Lenders,
    call: &Request,
    reference: &str,
) -> Result<Option<FileRecord>, Failure> {
    match only(issuers(files, lenders, call, reference).await?)? {
        Some(issued) => fetch(files, lenders, call, &issued).await.map(Some),
        None => Ok(None),
    }
}

/// The bytes behind a reference that a server issued: from what we keep, or from that server.
pub(crate) async fn fetch(
    files: &Arc<Files>,
    lenders: &Lenders,
    call: &Request,
    issued: &ForeignReference,
) -> Result<FileRecord, Failure> {
    let principal = &call.principal;
    let (server, reference) = (&issued.server, &issued.reference);
    if let Some(kept) = files.find_by_origin(principal, server, reference).await? {
        return Ok(kept);
    }
    let lost = |why: &str| {
        let message =
            format!("the reference `{reference}` of server `{server}` cannot be fetched: {why}");
        Failure::new(Code::NotFound, message)
            .details(json!({"server": server, "reference": reference}))
    };
    let uri = issued.uri.clone().ok_or_else(|| {
        lost("its answer linked to no resource by which others could read it; call a tool of that server with it")
    })?;
    let mut asked =
        Request::new("resources/read", json!({"uri": uri}), Arc::clone(principal), call.door);
    asked.trace = call.trace;
    asked.run = call.run.clone();
    asked.cancel = call.cancel.clone();
    let answer = lenders.lend(server, asked).await;
    let answer = answer.ok_or_else(|| lost("the server is not there any more"))?;
    let answer = answer.map_err(|failure| lost(&failure.message))?;
    let content = &answer.data["contents"][0];
    let carved = answer.carved.as_ref();
    let bytes: FileStream = match (content["blob"].as_str(), content["text"].as_str()) {
        (Some(blob), _) => in_bytes(carved, blob).boxed(),
        (None, Some(text)) => {
            let text = carved.map_or_else(|| text.to_owned(), |carved| carved.restored(text));
            stream::iter([Ok(Bytes::from(text))]).boxed()
        }
        (None, None) => return Err(lost("it answered with neither bytes nor text")),
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
            lost("it answered with base64 that cannot be read")
        }
        _ => failure,
    })
}
