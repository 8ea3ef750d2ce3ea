//! Files and artifacts: the list, a preview, uploads and deletion.

use std::sync::Arc;

use auth::scope;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts as _, Path, Query, Request, State};
use axum::response::Response;
use doors::{Form, FormField};
use files::{FileRecord, Listing, NewFile, disposition, hex};
use futures_util::StreamExt as _;
use http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use maud::{Markup, html};
use proto::{Code, Failure, FileKind, TraceId};
use serde::Deserialize;
use strip::files::FileUse;

use strip::Door;

use crate::images::{image_url, is_image, sniff};
use crate::layout::{Page, PageResult, Section, csrf, error_page, heading};
use crate::posted::{self, PostedForm, see_other};
use crate::state::Dashboard;
use crate::time;
use crate::viewer::Viewer;
use crate::words::{empty, in_url, inert, message, short, size};

const PAGE_FILES: u32 = 50;

/// How much of a file's text is shown.
const PREVIEW_CHARS: usize = 20_000;

/// The largest file with a preview.
const PREVIEW_BYTES: u64 = 8 << 20;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    kind: String,
    after: String,
}

/// The use of a file by a viewer, for the audit trail.
fn file_use<'a>(viewer: &Viewer, action: &'static str, id: &'a str) -> FileUse<'a> {
    let principal = Arc::clone(viewer.principal());
    FileUse { action, id, principal, door: Door::Dashboard, trace: TraceId::random() }
}

/// The content of a file that a page shows. The audit trail has a row of it.
pub(super) async fn read_file(
    dashboard: &Dashboard,
    viewer: &Viewer,
    id: &str,
    max_bytes: u64,
) -> Result<Bytes, Failure> {
    let strip = &dashboard.parts.strip;
    let reading = async {
        let file = strip.files().find(viewer.principal(), id).await?;
        let bytes = strip.files().bytes(&file, max_bytes).await?;
        Ok((file.id.to_string(), bytes))
    };
    strip.audited(file_use(viewer, "read", id), reading).await
}

fn file_page(file: &FileRecord) -> String {
    format!("/dashboard/files/{}", in_url(file.id.as_str()))
}

pub(super) async fn page(
    State(dashboard): State<Dashboard>,
    Query(params): Query<Params>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::FILES_READ)?;
    let listing = Listing {
        kind: params.kind.parse().ok(),
        run: None,
        cursor: Some(params.after.clone()).filter(|after| !after.is_empty()),
        limit: Some(PAGE_FILES),
    };
    let found = match dashboard.parts.strip.files().list(viewer.principal(), listing).await {
        Ok(found) => found,
        Err(failure) => return Err(viewer.failed("Listing failed", &failure.into())),
    };
    let body = html! {
        (heading(html! { "Files" }, html! { "Uploaded files, artifacts of runs, and large parts of answers." }, html! {}))
        @if viewer.may(scope::FILES_WRITE) { (upload_form(&viewer)) }
        nav.tabs aria-label="Kinds" {
            @for (word, name) in [("", "All"), ("file", "Files"), ("artifact", "Artifacts"), ("reference", "References")] {
                a href=(if word.is_empty() { "/dashboard/files".to_owned() } else { format!("/dashboard/files?kind={word}") })
                    aria-current=[(params.kind == word).then_some("page")] { (name) }
            }
        }
        @if found.files.is_empty() {
            (empty("No files here", html! {
                p { "Upload one above or with " code { "powerstrip files put" } "." }
            }))
        } @else {
            ul.rows { @for file in &found.files { (row(file, &viewer)) } }
        }
        @if let Some(next) = &found.next {
            p.more { a.button rel="next" href=(format!("/dashboard/files?kind={}&after={}", in_url(&params.kind), in_url(next))) { "Older files" } }
        }
    };
    Page::new("Files", Section::Files, body).show(&viewer)
}

fn upload_form(viewer: &Viewer) -> Markup {
    html! {
        form.upload method="post" action="/dashboard/files" enctype="multipart/form-data" {
            // The CSRF token precedes the file, so that it is checked before anything is stored.
            (csrf(viewer))
            label for="file" { "Upload a file" }
            input #file type="file" name="file" required;
            button.primary type="submit" { "Upload" }
        }
    }
}

fn row(file: &FileRecord, viewer: &Viewer) -> Markup {
    html! {
        li { a.row href=(file_page(file)) {
            span.row-name { (short(&file.name, 80)) }
            span.row-more { (inert(&file.media_type)) " · " (size(file.size)) " · " (short(&file.owner, 40)) }
            span.row-end { @if file.kind != FileKind::File { span.tag { (kind(file.kind)) } " " } span.soft { (time::ago(file.created_ms, viewer.now_ms)) } }
        } }
    }
}

fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Artifact => "artifact",
        FileKind::Reference => "reference",
    }
}

pub(super) async fn one(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::FILES_READ)?;
    let files = dashboard.parts.strip.files();
    let file = match files.find(viewer.principal(), &id).await {
        Ok(file) => file,
        Err(failure) => return Err(viewer.cannot_show(failure)),
    };
    let has_preview = file.size <= PREVIEW_BYTES;
    let is_shown_image = has_preview && is_image(&file.media_type);
    let text = if has_preview && !is_shown_image {
        let reading = async {
            let text = match files.text(&file).await {
                // It was read, but has no text to show.
                Err(failure) if matches!(failure.code, Code::Unsupported | Code::InvalidInput) => {
                    Err(failure)
                }
                Err(failure) => return Err(failure),
                Ok(text) => Ok(text),
            };
            Ok((file.id.to_string(), text))
        };
        let read = dashboard.parts.strip.audited(file_use(&viewer, "text", &id), reading).await;
        Some(read.flatten())
    } else {
        None
    };
    let actions =
        html! { a.button href=(format!("{}/content", file_page(&file))) download { "Download" } };
    let below = html! { (inert(&file.media_type)) " · " (size(file.size)) " · " (time::ago(file.created_ms, viewer.now_ms)) };
    let body = html! {
        (heading(html! { (inert(&file.name)) }, below, actions))
        dl.facts {
            div { dt { "Id" } dd { code { (file.id) } } }
            div { dt { "Kind" } dd { (kind(file.kind)) } }
            div { dt { "Owner" } dd { (inert(&file.owner)) } }
            div { dt { "SHA-256" } dd { code.digest { (hex(&file.sha256)) } } }
            @if let Some(run) = &file.run { div { dt { "Run" } dd { code { (inert(run)) } } } }
            @if let Some(expires) = file.expires_ms { div { dt { "Expires" } dd { (time::exact(expires)) } } }
        }
        @if is_shown_image {
            h2 { "Image" }
            div.gallery { img src=(image_url(file.id.as_str())) alt=(inert(&file.name)); }
        } @else {
            h2 { "Text" }
            (preview(text))
        }
        @if viewer.may(scope::FILES_WRITE) {
            details.block {
                summary { "Delete" }
                form method="post" action=(file_page(&file)) {
                    (csrf(&viewer))
                    p { "The file is deleted for everyone in the tenant. This cannot be undone." }
                    button.danger type="submit" { "Delete " (short(&file.name, 60)) }
                }
            }
        }
    };
    Page::new(&file.name, Section::Files, body).show(&viewer)
}

fn preview(text: Option<Result<Arc<str>, Failure>>) -> Markup {
    match text {
        None => html! { p.soft { "The file is too large for a preview. Download it instead." } },
        Some(Err(failure)) => html! { p.soft { (message(&failure.message)) } },
        Some(Ok(text)) => {
            let shown: String = text.chars().take(PREVIEW_CHARS).collect();
            let cut = shown.len() < text.len();
            html! {
                pre.code #text tabindex="0" { (inert(&shown)) }
                @if cut { p.soft { "The first " (PREVIEW_CHARS) " characters." } }
            }
        }
    }
}

pub(super) async fn content(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::FILES_READ)?;
    let files = dashboard.parts.strip.files();
    let opened = async {
        let file = files.find(viewer.principal(), &id).await?;
        let bytes = files.open(&file, None).await?;
        Ok::<_, Failure>((file.id.to_string(), (file, bytes)))
    };
    let opened = dashboard.parts.strip.audited(file_use(&viewer, "download", &id), opened).await;
    let (file, bytes) = match opened {
        Ok(opened) => opened,
        Err(failure) => return Err(viewer.cannot_show(failure)),
    };
    let mut response = Response::new(Body::from_stream(bytes));
    let headers = response.headers_mut();
    // Untrusted content is downloaded, never shown as one of our pages.
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(file.size));
    let saved = HeaderValue::from_str(&disposition(&file));
    headers.insert(CONTENT_DISPOSITION, saved.unwrap_or(HeaderValue::from_static("attachment")));
    Ok(response)
}

/// A file that is an image, for a page to show.
pub(super) async fn image(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::FILES_READ)?;
    let read = read_file(&dashboard, &viewer, &id, PREVIEW_BYTES).await;
    let bytes = read.map_err(|failure| viewer.cannot_show(failure))?;
    // The bytes decide, not the name or the declared type.
    let Some(media_type) = sniff(&bytes) else {
        return Err(viewer.missing("This file is not an image that can be shown."));
    };
    let mut response = Response::new(Body::from(bytes));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    Ok(response)
}

pub(super) async fn delete(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let viewer = &posted.viewer;
    viewer.require(scope::FILES_WRITE)?;
    let strip = &dashboard.parts.strip;
    let deletion = async {
        let file = strip.files().delete(viewer.principal(), &id).await?;
        Ok((file.id.to_string(), file))
    };
    match strip.audited(file_use(viewer, "delete", &id), deletion).await {
        Ok(_) => Ok(see_other("/dashboard/files")),
        Err(failure) => Err(viewer.cannot_show(failure)),
    }
}

/// Stores an uploaded file as it arrives.
pub(super) async fn upload(State(dashboard): State<Dashboard>, request: Request) -> PageResult {
    let (mut parts, body) = request.into_parts();
    let viewer = Viewer::from_request_parts(&mut parts, &dashboard).await?;
    viewer.require(scope::FILES_WRITE)?;
    let failed =
        |text: &str| Err(error_page(&viewer, StatusCode::BAD_REQUEST, "Upload failed", text));
    let request = Request::from_parts(parts, body);
    let form = Form::of(request, dashboard.parts.bodies.timeout()).await;
    let Ok(mut form) = form else { return failed("The request is not a form with a file.") };
    let mut verified = false;
    loop {
        let field = match form.next().await {
            Ok(Some(field)) => field,
            Ok(None) => return failed("The form has no file."),
            Err(failure) => return failed(&failure.message),
        };
        let FormField { name, file_name, mut bytes } = field;
        match (name.as_str(), file_name) {
            ("csrf", None) => {
                let token = bytes.next().await.and_then(Result::ok).unwrap_or_default();
                verified =
                    std::str::from_utf8(&token).is_ok_and(|token| viewer.session.owns_form(token));
            }
            ("file", Some(file_name)) if verified => {
                let new = NewFile::new(FileKind::File, file_name);
                let strip = &dashboard.parts.strip;
                let stored = async {
                    let file = strip.files().put(viewer.principal(), new, bytes).await?;
                    Ok((file.id.to_string(), file))
                };
                return match strip.audited(file_use(&viewer, "upload", ""), stored).await {
                    Ok(file) => Ok(see_other(&file_page(&file))),
                    Err(failure) => failed(&failure.message),
                };
            }
            _ if !verified => return Err(posted::foreign()),
            _ => return failed("The form has an unknown field."),
        }
    }
}
