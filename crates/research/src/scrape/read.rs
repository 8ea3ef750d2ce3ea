//! Turns the bytes of a page into its text, in a confined reader.

use std::time::Duration;

use bytes::Bytes;
use documents::{Form, Metadata};
use egress::http::Cut;
use http::HeaderMap;
use http::header::{DATE, LAST_MODIFIED};
use proto::{Blame, Code, Failure};
use reading::{Content, Document, ReadDocument};
use search::dates::Date;
use tokio::time::Instant;
use url::Url;

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
pub(crate) struct RawPage {
    pub(crate) url: Url,
    pub(crate) content_type: ContentType,
    pub(crate) text: String,
    pub(crate) meta: Metadata,
    pub(crate) page_count: Option<usize>,
    pub(crate) file_size: Option<u64>,
    /// The beginning of the text that a person would not see.
    pub(crate) hidden_text: String,
    /// Whether a limit of time or size left out a part.
    pub(crate) incomplete: bool,
    /// Whether a later request may give more.
    pub(crate) passing: bool,
    pub(crate) warnings: Vec<String>,
    pub(crate) validators: Option<Validators>,
}

/// Bytes of HTML that are read of a page. No caller can ask for the text of more.
const MOST_HTML: usize = 4_000_000;
/// Bytes of HTML that are read of a page that takes too long.
const LESS_HTML: usize = 400_000;
/// The time for a large page, before less of it is read.
const LARGE_PAGE_TIME: Duration = Duration::from_secs(10);

/// Reads a page. `owner` is the tenant that alone may see it, if its host is not public.
pub(crate) async fn read(
    parts: &Parts,
    source: Source<'_>,
    owner: Option<&str>,
    deadline: Deadline,
) -> Result<RawPage, Failure> {
    let size = source.body.len();
    let document = |body: Bytes| Document {
        content: Content::Bytes(body),
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
    let is_html = source.kind == Kind::Html;
    let most = if is_html { size.min(MOST_HTML) } else { size };
    let large = is_html && most > LESS_HTML;
    let soon = Instant::now() + LARGE_PAGE_TIME;
    let until = if large { deadline.at().min(soon) } else { deadline.at() };
    let mut shortened = most < size;
    let mut outcome = read_until(parts, document(source.body.slice(..most)), until).await;
    let gave_up = outcome.as_ref().is_err_and(|failure| failure.blame != Blame::Gateway);
    if large && gave_up {
        outcome = read_until(parts, document(source.body.slice(..LESS_HTML)), deadline.at()).await;
        shortened = true;
    }
    let read = outcome?;
    let mut meta = read.meta;
    if meta.published.is_none() {
        meta.published = date_of(source.url, source.headers).map(Date::iso);
    }
    let is_document = source.kind.is_document();
    let cut = source.cut.or(shortened.then_some(Cut::TooLarge));
    Ok(RawPage {
        url: source.url.clone(),
        content_type: source.content_type,
        text: read.text,
        meta,
        page_count: is_document.then_some(read.parts),
        file_size: is_document.then_some(size as u64),
        hidden_text: read.hidden_text,
        incomplete: cut.is_some() || read.truncated,
        passing: matches!(source.cut, Some(Cut::Deadline | Cut::Broken)),
        warnings: cut.map(|cut| cut_warning(cut).to_owned()).into_iter().collect(),
        validators: None,
    })
}

async fn read_until(
    parts: &Parts,
    document: Document,
    until: Instant,
) -> Result<ReadDocument, Failure> {
    let late = || Failure::new(Code::Timeout, "the page was not read in time").blame(Blame::Tool);
    tokio::time::timeout_at(until, parts.readers.read(document)).await.map_err(|_| late())?
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
