//! Files as MCP resources: `powerstrip://files/{id}`.

use auth::scope::{FILES_READ, covers};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use files::{FileRecord, Listing, URI};
use proto::{Code, Failure, Principal};
use rmcp::model::{ErrorData, ListResourceTemplatesResult, ListResourcesResult};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use strip::Strip;
use strip::files::FileUse;

/// How many files one page lists.
const PAGE: u32 = 100;

/// The largest file that is read as a resource; larger ones are downloaded over HTTP.
const MAX_READ: u64 = 4 << 20;

/// Adds a page of the caller's files to the resources of servers.
pub(super) async fn list(
    strip: &Strip,
    principal: &Principal,
    cursor: Option<String>,
    listed: &mut ListResourcesResult,
) -> Result<(), ErrorData> {
    if !covers(principal, FILES_READ) {
        return Ok(());
    }
    let listing = Listing { cursor, limit: Some(PAGE), ..Listing::default() };
    let page =
        strip.files().list(principal, listing).await.map_err(|failure| error_of(&failure, ""))?;
    for file in &page.files {
        listed.resources.push(typed(resource(file))?);
    }
    listed.next_cursor = page.next;
    Ok(())
}

/// Adds the template of files to those of servers.
pub(super) fn template(
    principal: &Principal,
    listed: &mut ListResourceTemplatesResult,
) -> Result<(), ErrorData> {
    if covers(principal, FILES_READ) {
        listed.resource_templates.push(typed(json!({
            "uriTemplate": format!("{URI}{{id}}"),
            "name": "file",
            "title": "A stored file",
            "description": "A file, artifact or reference by its id, `file_…` or `ref_…`.",
        }))?);
    }
    Ok(())
}

/// The content of a file for `resources/read`: text if it is UTF-8, otherwise a blob.
pub(super) async fn read(
    strip: &Strip,
    principal: &Principal,
    using: FileUse<'_>,
) -> Result<Value, ErrorData> {
    let id = using.id;
    let uri = &format!("{URI}{id}");
    let refused = |failure: Failure| error_of(&failure, uri);
    if !covers(principal, FILES_READ) {
        return Err(refused(Failure::new(Code::NotFound, format!("there is no resource `{uri}`"))));
    }
    let files = strip.files();
    let read = async {
        let file = files.find(principal, id).await?;
        let bytes = files.bytes(&file, MAX_READ).await?;
        Ok((file.id.to_string(), (file, bytes)))
    };
    let (file, bytes) = strip.audited(using, read).await.map_err(refused)?;
    let mut content = json!({"uri": uri, "mimeType": file.media_type});
    match std::str::from_utf8(&bytes) {
        Ok(text) => content["text"] = text.into(),
        Err(_) => content["blob"] = BASE64_STANDARD.encode(&bytes).into(),
    }
    Ok(json!({"contents": [content]}))
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|why| ErrorData::internal_error(why.to_string(), None))
}

fn resource(file: &FileRecord) -> Value {
    json!({
        "uri": files::uri(&file.id),
        "name": file.name,
        "mimeType": file.media_type,
        "size": u32::try_from(file.size).ok(),
    })
}

fn error_of(failure: &Failure, uri: &str) -> ErrorData {
    match failure.code {
        Code::NotFound => {
            ErrorData::resource_not_found(failure.message.clone(), Some(json!({"uri": uri})))
        }
        Code::InvalidInput => {
            ErrorData::invalid_params(failure.message.clone(), failure.details.clone())
        }
        _ => ErrorData::internal_error(failure.to_string(), None),
    }
}
