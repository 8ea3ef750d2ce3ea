//! Files and artifacts: what there is, what is in it, and a way to hand in more.

use std::sync::Arc;

use auth::scope;
use axum::body::Body;
use axum::extract::{FromRequestParts as _, Path, Query, Request, State};
use axum::response::Response;
use doors::{Form, FormField};
use futures_util::StreamExt as _;
use http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use maud::{Markup, html};
use proto::{FileKind, TraceId};
use serde::Deserialize;
use strip::files::{FileRecord, FileUse, Listing, NewFile, disposition, hex};

use strip::{Door, Failure};

use crate::layout::{Page, Room, csrf, heading, trouble};
use crate::posted::{self, Posted, see_other};
use crate::state::Dashboard;
use crate::time;
use crate::viewer::Viewer;
use crate::words::{empty, in_url, inert, short, size};

const PAGE_FILES: u32 = 50;

/// So much of a file's text is shown.
const PREVIEW_CHARS: usize = 20_000;

/// Larger files are not turned into text for a look.
const PREVIEW_BYTES: u64 = 8 << 20;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    kind: String,
    after: String,
}

/// What a viewer does with a file, for the audit trail.
fn using<'a>(viewer: &Viewer, action: &'static str, id: &'a str) -> FileUse<'a> {
    let principal = Arc::clone(viewer.principal());
    FileUse { action, id, principal, door: Door::Dashboard, trace: TraceId::random() }
}

fn place(file: &FileRecord) -> String {
    format!("/dashboard/files/{}", in_url(file.id.as_str()))
}

pub(super) async fn page(
    State(board): State<Dashboard>,
    Query(wanted): Query<Wanted>,
    viewer: Viewer,
) -> Response {
    if !viewer.may(scope::FILES_READ) {
        return viewer.refused(scope::FILES_READ);
    }
    let listing = Listing {
        kind: wanted.kind.parse().ok(),
        run: None,
        cursor: Some(wanted.after.clone()).filter(|after| !after.is_empty()),
        limit: Some(PAGE_FILES),
    };
    let found = match board.parts.strip.files().list(viewer.principal(), listing).await {
        Ok(found) => found,
        Err(failure) => {
            return trouble(&viewer, StatusCode::BAD_REQUEST, "Not listed", &failure.message);
        }
    };
    let body = html! {
        (heading(html! { "Files" }, html! { "What was handed in, what runs made, and large parts of answers." }, html! {}))
        @if viewer.may(scope::FILES_WRITE) { (upload_form(&viewer)) }
        nav.tabs aria-label="Kinds" {
            @for (word, name) in [("", "All"), ("file", "Files"), ("artifact", "Artifacts"), ("reference", "References")] {
                a href=(if word.is_empty() { "/dashboard/files".to_owned() } else { format!("/dashboard/files?kind={word}") })
                    aria-current=[(wanted.kind == word).then_some("page")] { (name) }
            }
        }
        @if found.files.is_empty() {
            (empty("No files here", html! {
                p { "Hand one in above, by " code { "powerstrip files put" } ", or let a tool make one." }
            }))
        } @else {
            ul.rows { @for file in &found.files { (row(file, &viewer)) } }
        }
        @if let Some(next) = &found.next {
            p.more { a.button rel="next" href=(format!("/dashboard/files?kind={}&after={}", in_url(&wanted.kind), in_url(next))) { "Older files" } }
        }
    };
    Page::new("Files", Room::Files, body).show(&viewer)
}

fn upload_form(viewer: &Viewer) -> Markup {
    html! {
        form.upload method="post" action="/dashboard/files" enctype="multipart/form-data" {
            // What proves the form comes before the file, so that nothing is stored for anybody else.
            (csrf(viewer))
            label for="file" { "Hand in a file" }
            input #file type="file" name="file" required;
            button.primary type="submit" { "Upload" }
        }
    }
}

fn row(file: &FileRecord, viewer: &Viewer) -> Markup {
    html! {
        li { a.row href=(place(file)) {
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
    State(board): State<Dashboard>,
    Path(id): Path<String>,
    viewer: Viewer,
) -> Response {
    if !viewer.may(scope::FILES_READ) {
        return viewer.refused(scope::FILES_READ);
    }
    let files = board.parts.strip.files();
    let file = match files.find(viewer.principal(), &id).await {
        Ok(file) => file,
        Err(failure) => return viewer.missing(&failure.message),
    };
    let text = match file.size {
        0..=PREVIEW_BYTES => Some(files.text(&file).await),
        _ => None,
    };
    let actions =
        html! { a.button href=(format!("{}/content", place(&file))) download { "Download" } };
    let below = html! { (inert(&file.media_type)) " · " (size(file.size)) " · " (time::ago(file.created_ms, viewer.now_ms)) };
    let body = html! {
        (heading(html! { (inert(&file.name)) }, below, actions))
        dl.facts {
            div { dt { "Id" } dd { code { (file.id) } } }
            div { dt { "Kind" } dd { (kind(file.kind)) } }
            div { dt { "Owner" } dd { (inert(&file.owner)) } }
            div { dt { "SHA-256" } dd { code.sum { (hex(&file.sha256)) } } }
            @if let Some(run) = &file.run { div { dt { "Run" } dd { code { (inert(run)) } } } }
            @if let Some(expires) = file.expires_ms { div { dt { "Stays until" } dd { (time::exact(expires)) } } }
        }
        h2 { "Text" }
        (preview(text))
        @if viewer.may(scope::FILES_WRITE) {
            details.block {
                summary { "Delete it" }
                form method="post" action=(place(&file)) {
                    (csrf(&viewer))
                    p { "It is gone at once, for everybody of the tenant, and cannot be brought back." }
                    button.danger type="submit" { "Delete " (short(&file.name, 60)) }
                }
            }
        }
    };
    Page::new(&file.name, Room::Files, body).show(&viewer)
}

fn preview(text: Option<Result<Arc<str>, Failure>>) -> Markup {
    match text {
        None => html! { p.soft { "The file is too large for a look; download it." } },
        Some(Err(failure)) => html! { p.soft { (inert(&failure.message)) } },
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
    State(board): State<Dashboard>,
    Path(id): Path<String>,
    viewer: Viewer,
) -> Response {
    if !viewer.may(scope::FILES_READ) {
        return viewer.refused(scope::FILES_READ);
    }
    let files = board.parts.strip.files();
    let opened = async {
        let file = files.find(viewer.principal(), &id).await?;
        let bytes = files.open(&file, None).await?;
        Ok::<_, Failure>((file.id.to_string(), (file, bytes)))
    };
    let opened = board.parts.strip.audited(using(&viewer, "download", &id), opened).await;
    let (file, bytes) = match opened {
        Ok(opened) => opened,
        Err(failure) => return viewer.missing(&failure.message),
    };
    let mut response = Response::new(Body::from_stream(bytes));
    let headers = response.headers_mut();
    // What strangers wrote is saved, never shown as a page of ours.
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(file.size));
    let saved = HeaderValue::from_str(&disposition(&file));
    headers.insert(CONTENT_DISPOSITION, saved.unwrap_or(HeaderValue::from_static("attachment")));
    response
}

pub(super) async fn delete(
    State(board): State<Dashboard>,
    Path(id): Path<String>,
    posted: Posted,
) -> Response {
    let viewer = &posted.viewer;
    if !viewer.may(scope::FILES_WRITE) {
        return viewer.refused(scope::FILES_WRITE);
    }
    let strip = &board.parts.strip;
    let deletion = async {
        let file = strip.files().delete(viewer.principal(), &id).await?;
        Ok((file.id.to_string(), file))
    };
    match strip.audited(using(viewer, "delete", &id), deletion).await {
        Ok(_) => see_other("/dashboard/files"),
        Err(failure) => viewer.missing(&failure.message),
    }
}

/// Takes a file in as it arrives.
pub(super) async fn upload(State(board): State<Dashboard>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let viewer = match Viewer::from_request_parts(&mut parts, &board).await {
        Ok(viewer) => viewer,
        Err(refusal) => return refusal,
    };
    if !viewer.may(scope::FILES_WRITE) {
        return viewer.refused(scope::FILES_WRITE);
    }
    let unfit = |text: &str| trouble(&viewer, StatusCode::BAD_REQUEST, "Not uploaded", text);
    let request = Request::from_parts(parts, body);
    let form = Form::of(request, board.parts.bodies.timeout()).await;
    let Ok(mut form) = form else { return unfit("This is not a form with a file.") };
    let mut proven = false;
    loop {
        let field = match form.next().await {
            Ok(Some(field)) => field,
            Ok(None) => return unfit("There is no file in the form."),
            Err(failure) => return unfit(&failure.message),
        };
        let FormField { name, file_name, mut bytes } = field;
        match (name.as_str(), file_name) {
            ("csrf", None) => {
                let token = bytes.next().await.and_then(Result::ok).unwrap_or_default();
                proven =
                    std::str::from_utf8(&token).is_ok_and(|token| viewer.session.owns_form(token));
            }
            ("file", Some(file_name)) if proven => {
                let new = NewFile::new(FileKind::File, file_name);
                let strip = &board.parts.strip;
                let taken = async {
                    let file = strip.files().put(viewer.principal(), new, bytes).await?;
                    Ok((file.id.to_string(), file))
                };
                return match strip.audited(using(&viewer, "upload", ""), taken).await {
                    Ok(file) => see_other(&place(&file)),
                    Err(failure) => unfit(&failure.message),
                };
            }
            _ if !proven => return posted::foreign(),
            _ => return unfit("The form has a field that is not of ours."),
        }
    }
}
