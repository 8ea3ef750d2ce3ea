//! Turns the bytes of a page into its text, in a confined reader.

use bytes::Bytes;
use egress::http::Cut;
use http::HeaderMap;
use http::header::{DATE, LAST_MODIFIED};
use proto::{Code, Failure};
use reading::{Content, Document, Form, Metadata};
use url::Url;

use crate::calendar::Date;
use crate::research::Parts;
use crate::scrape::fetch::{Deadline, cut_warning, header};
use crate::scrape::kind::Kind;
use crate::scrape::page::Validators;
use crate::tools::ContentType;

/// The bytes of a page, and what is known about them.
pub(crate) struct Source<'a> {
    /// The address after redirects.
    pub(crate) url: &'a Url,
    pub(crate) body: Bytes,
    pub(crate) kind: Kind,
    pub(crate) content_type: ContentType,
    pub(crate) charset: Option<&'a str>,
    pub(crate) headers: &'a HeaderMap,
    /// Why the body is incomplete, if it is.
    pub(crate) cut: Option<Cut>,
}

/// The text of a page before it is sanitised.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) url: Url,
    pub(crate) content_type: ContentType,
    pub(crate) text: String,
    pub(crate) meta: Metadata,
    pub(crate) page_count: Option<usize>,
    pub(crate) file_size: Option<u64>,
    /// Characters that the reader left out because a person would not see them.
    pub(crate) hidden: usize,
    /// Whether a limit of time or size left out a part.
    pub(crate) incomplete: bool,
    /// Whether a later request may give more.
    pub(crate) passing: bool,
    pub(crate) warnings: Vec<String>,
    pub(crate) validators: Option<Validators>,
}

/// Reads a page. `owner` is the tenant that alone may see it, if its host is not public.
pub(crate) async fn read(
    parts: &Parts,
    source: Source<'_>,
    owner: Option<&str>,
    deadline: Deadline,
) -> Result<Found, Failure> {
    let size = source.body.len() as u64;
    let document = Document {
        content: Content::Bytes(source.body),
        media_type: source.kind.media_type().to_owned(),
        charset: source.charset.map(str::to_owned),
        url: Some(source.url.to_string()),
        form: match source.kind {
            Kind::Text | Kind::Json => Form::Text,
            _ => Form::MainMarkdown,
        },
        owner: owner.map(str::to_owned),
        name: None,
    };
    let read = tokio::time::timeout_at(deadline.at(), parts.readers.read(document))
        .await
        .map_err(|_| Failure::new(Code::Timeout, "the page was not read in time"))??;
    let mut meta = read.meta;
    if meta.published.is_none() {
        meta.published = date_of(source.url, source.headers).map(Date::iso);
    }
    let is_document = source.kind.is_document();
    Ok(Found {
        url: source.url.clone(),
        content_type: source.content_type,
        text: read.text,
        meta,
        page_count: is_document.then_some(read.parts),
        file_size: is_document.then_some(size),
        hidden: read.removed,
        incomplete: source.cut.is_some() || read.truncated,
        passing: matches!(source.cut, Some(Cut::Deadline | Cut::Broken)),
        warnings: source.cut.map(|cut| cut_warning(cut).to_owned()).into_iter().collect(),
        validators: None,
    })
}

/// The date of a page that does not say it: from its URL, else when the server says that it changed.
fn date_of(url: &Url, headers: &HeaderMap) -> Option<Date> {
    let changed = || {
        let changed = header(headers, LAST_MODIFIED)?;
        // A page that has just been made for us says nothing about when it was written.
        let now = header(headers, DATE).and_then(Date::parse_http);
        Date::parse_http(changed).filter(|date| Some(*date) != now)
    };
    Date::parse_path(url.path()).or_else(changed)
}
