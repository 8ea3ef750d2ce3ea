//! The four ways to read a web page, from the cheapest to the most expensive: Markdown by negotiation, a request like a
//! browser's, plain HTML, and a real browser.

mod challenge;
mod spa;
mod stylesheets;
mod tried;

use std::time::Duration;

use bytes::Bytes;
use egress::browser::{BrowserError, Visit};
use egress::http::{Cut, FetchError, Partial};
use http::HeaderMap;
use http::header::{CONTENT_TYPE, ETAG, LAST_MODIFIED};
use proto::{Blame, Code, Failure};
use url::Url;

use crate::research::Parts;
use crate::scrape::fetch::{
    Deadline, Style, error_status, fetch, fetch_unless_html, header, refused, unreachable,
};
use crate::scrape::kind::{Kind, believable_charset, media_type};
use crate::scrape::markdown::looks_like_markdown;
use crate::scrape::page::Validators;
use crate::scrape::read::{Found, Source, read};
use crate::tools::ContentType;

use challenge::is_challenge;
use tried::Tried;

/// Fewer characters are no page.
const FEWEST: usize = 100;
/// The smallest share of a text that must be letters or digits.
const MEANINGFUL: f64 = 0.1;

/// One page to read, and what the attempts so far have shown.
pub(crate) struct Reading<'a> {
    parts: &'a Parts,
    url: &'a Url,
    deadline: Deadline,
    /// The tenant for which alone the page is read, if its host may not be public.
    owner: Option<&'a str>,
    tried: Tried,
}

/// What comes after a tier.
enum Step {
    Done(Box<Found>),
    Next,
    /// The page asks for proof of a person: only a browser can go on.
    Browser,
}

impl Step {
    fn done(found: Found) -> Self {
        Self::Done(Box::new(found))
    }
}

impl<'a> Reading<'a> {
    pub(crate) fn new(
        parts: &'a Parts,
        url: &'a Url,
        owner: Option<&'a str>,
        deadline: Deadline,
    ) -> Self {
        Self { parts, url, deadline, owner, tried: Tried::default() }
    }

    /// Reads the page with the first tier that gives content.
    pub(crate) async fn run(mut self) -> Result<Found, Failure> {
        let mut found = self.attempt().await?;
        found.warnings.append(&mut self.tried.warnings);
        Ok(found)
    }

    async fn attempt(&mut self) -> Result<Found, Failure> {
        let document = Kind::of_url(self.url).is_some_and(Kind::is_document);
        if document && let Some(found) = self.download().await? {
            return Ok(found);
        }
        if let Step::Done(found) = self.negotiate().await? {
            return Ok(*found);
        }
        let needs_browser = spa::needs_browser(self.url.host_str().unwrap_or_default());
        if needs_browser {
            if let Some(found) = self.render().await? {
                return Ok(found);
            }
            if !self.tried.has_no_browser {
                return self.tried.conclude();
            }
        }
        for (tier, style) in [(2, Style::Browser), (3, Style::Plain)] {
            match self.request(tier, style).await? {
                Step::Done(found) => return Ok(*found),
                Step::Next => {}
                Step::Browser => break,
            }
        }
        if !needs_browser && let Some(found) = self.render().await? {
            return Ok(found);
        }
        self.tried.conclude()
    }

    /// Tier 1: asks for Markdown.
    async fn negotiate(&mut self) -> Result<Step, Failure> {
        const IS_HTML: &str = "answered with HTML instead of Markdown";
        let (client, url) = (&self.parts.client, self.url.as_str());
        let time = self.deadline.within(self.parts.settings.timeouts.markdown);
        let (headers, most) = (Style::Markdown.headers(), self.parts.settings.sizes.download);
        let answer = match fetch_unless_html(client, url, headers, time, most).await {
            Ok(Some(answer)) => answer,
            Ok(None) => {
                self.tried.note(1, IS_HTML);
                return Ok(Step::Next);
            }
            Err(error) => return self.unanswered(1, error),
        };
        let status = answer.status.as_u16();
        if !answer.status.is_success() {
            self.tried.note(1, format!("status {status}"));
            return Ok(Step::Next);
        }
        let kind = self.kind(&answer);
        let declared = header(&answer.headers, CONTENT_TYPE).map(media_type).unwrap_or_default();
        match kind {
            Kind::Html => {
                self.tried.note(1, IS_HTML);
                Ok(Step::Next)
            }
            Kind::Text => {
                let text = String::from_utf8_lossy(&answer.body);
                let is_markdown = declared.ends_with("markdown") || looks_like_markdown(&text);
                let short = text.trim().chars().count() < FEWEST;
                if is_markdown && short {
                    self.tried.note(1, "the Markdown is too short");
                    return Ok(Step::Next);
                }
                let content_type =
                    if is_markdown { ContentType::Markdown } else { ContentType::Text };
                let late = answer.cut;
                let found = self.read(1, answer, Kind::Text, content_type).await?;
                if late.is_some_and(|cut| cut != Cut::TooLarge) {
                    self.tried.keep(1, "the answer broke off", found);
                    return Ok(Step::Next);
                }
                Ok(Step::done(found))
            }
            kind => self.document(1, answer, kind).await,
        }
    }

    /// Tiers 2 and 3: asks for HTML.
    async fn request(&mut self, tier: u8, style: Style) -> Result<Step, Failure> {
        let time = self.parts.settings.timeouts.html;
        let answer = match self.fetch(style, time).await {
            Ok(answer) => answer,
            Err(error) => return self.unanswered(tier, error),
        };
        let status = answer.status.as_u16();
        if !answer.status.is_success() {
            if is_challenge(status, &answer.headers, &answer.body, None) {
                self.tried.challenge(tier, Some(status));
                return Ok(Step::Browser);
            }
            return Err(error_status(status, &answer.headers));
        }
        let kind = self.kind(&answer);
        if kind != Kind::Html {
            return self.document(tier, answer, kind).await;
        }
        let (body, headers, cut) = (answer.body.clone(), answer.headers.clone(), answer.cut);
        let found = match self.read(tier, answer, Kind::Html, ContentType::Html).await {
            Ok(mut found) => {
                if stylesheets::are_linked(&body) {
                    found.warnings.push(stylesheets::WARNING.to_owned());
                }
                found
            }
            Err(failure) => return self.unreadable(tier, failure),
        };
        if is_challenge(status, &headers, &body, Some(&found.text)) {
            self.tried.challenge(tier, None);
            return Ok(Step::Browser);
        }
        Ok(self.judge(tier, found, cut))
    }

    /// Decides whether the text of tier 2 or 3 is the page.
    fn judge(&mut self, tier: u8, found: Found, cut: Option<Cut>) -> Step {
        let characters = found.text.trim().chars().count();
        let enough = match tier {
            2 => characters >= FEWEST,
            _ => found.text.trim().len() >= FEWEST && is_meaningful(&found.text),
        };
        match cut {
            // Another request would be as slow.
            Some(Cut::Deadline) if characters > 0 => Step::done(found),
            Some(Cut::Broken) if tier == 2 => {
                self.tried.keep(tier, "the connection broke off", found);
                Step::Next
            }
            _ if enough => Step::done(found),
            _ => {
                let why = format!("only {characters} characters of text");
                self.tried.keep(tier, why, found);
                Step::Next
            }
        }
    }

    /// Tier 4: renders the page in the browser.
    async fn render(&mut self) -> Result<Option<Found>, Failure> {
        let Some(browser) = &self.parts.browser else {
            self.tried.skip_browser("the browser is off (`research.browser`)");
            return Ok(None);
        };
        let time = self.deadline.within(self.parts.settings.timeouts.browser);
        if time < Duration::from_millis(500) {
            self.tried.timed_out(4);
            return Ok(None);
        }
        let visit = Visit {
            url: self.url.to_string(),
            deadline: time,
            max_bytes: usize::try_from(self.parts.settings.sizes.download).unwrap_or(usize::MAX),
            capture: None,
        };
        let rendered = match browser.render(visit).await {
            Ok(rendered) => rendered,
            Err(error) => return self.not_rendered(error),
        };
        let (status, headers) = (rendered.status.as_u16(), HeaderMap::new());
        let html = Bytes::from(rendered.html);
        let source = Source {
            url: &rendered.final_url,
            body: html.clone(),
            kind: Kind::Html,
            content_type: ContentType::Html,
            charset: Some("utf-8"),
            headers: &headers,
            cut: rendered.truncated.then_some(Cut::Deadline),
        };
        let found = match read(self.parts, source, self.owner, self.deadline).await {
            Ok(found) => found,
            Err(failure) => {
                self.unreadable(4, failure)?;
                return Ok(None);
            }
        };
        if is_challenge(status, &headers, &html, Some(&found.text)) {
            self.tried.challenge(4, (status >= 400).then_some(status));
            return Ok(None);
        }
        if status >= 400 {
            return Err(error_status(status, &headers));
        }
        if found.text.trim().is_empty() {
            self.tried.note(4, "no text");
            return Ok(None);
        }
        Ok(Some(found))
    }

    fn not_rendered(&mut self, error: BrowserError) -> Result<Option<Found>, Failure> {
        match error {
            BrowserError::Refused(refusal) => return Err(refused(&refusal)),
            BrowserError::Fetch(FetchError::Refused(refusal)) => return Err(refused(&refusal)),
            BrowserError::Missing | BrowserError::Start { .. } => {
                self.tried.skip_browser(&error.to_string());
            }
            BrowserError::Timeout { .. } => self.tried.timed_out(4),
            error => self.tried.note(4, error.to_string()),
        }
        Ok(None)
    }

    /// Downloads what a URL's ending says is a document; `None` if it is a web page after all.
    async fn download(&mut self) -> Result<Option<Found>, Failure> {
        let time = self.parts.settings.timeouts.download;
        let answer = self.fetch(Style::Download, time).await.map_err(unreachable)?;
        let status = answer.status.as_u16();
        if !answer.status.is_success() {
            if is_challenge(status, &answer.headers, &answer.body, None) {
                return Ok(None);
            }
            return Err(error_status(status, &answer.headers));
        }
        match self.kind(&answer) {
            Kind::Html => Ok(None),
            kind => self.read_whole(0, answer, kind).await.map(Some),
        }
    }

    /// What a request for a page gave that is no page: a document, text or data.
    async fn document(&mut self, tier: u8, answer: Partial, kind: Kind) -> Result<Step, Failure> {
        // A document needs all its bytes, and has more time.
        if kind.is_document() && answer.cut == Some(Cut::Deadline) {
            let found = self.download().await?;
            return Ok(found.map_or(Step::Next, Step::done));
        }
        self.read_whole(tier, answer, kind).await.map(Step::done)
    }

    async fn read_whole(&self, tier: u8, answer: Partial, kind: Kind) -> Result<Found, Failure> {
        let declared = header(&answer.headers, CONTENT_TYPE).map(media_type).unwrap_or_default();
        let Some(content_type) = kind.content_type() else { return Err(no_text(&declared)) };
        if kind.is_document() {
            check_whole(answer.cut, self.parts.settings.sizes.download)?;
        }
        let is_markdown = kind == Kind::Text
            && (declared.ends_with("markdown")
                || looks_like_markdown(&String::from_utf8_lossy(&answer.body)));
        let content_type = if is_markdown { ContentType::Markdown } else { content_type };
        self.read(tier, answer, kind, content_type).await
    }

    async fn fetch(&self, style: Style, time: Duration) -> Result<Partial, FetchError> {
        let time = self.deadline.within(time);
        let most = self.parts.settings.sizes.download;
        fetch(&self.parts.client, self.url.as_str(), style.headers(), time, most).await
    }

    fn kind(&self, answer: &Partial) -> Kind {
        Kind::of_body(&answer.body, header(&answer.headers, CONTENT_TYPE), &answer.final_url)
    }

    async fn read(
        &self,
        tier: u8,
        answer: Partial,
        kind: Kind,
        content_type: ContentType,
    ) -> Result<Found, Failure> {
        let declared = header(&answer.headers, CONTENT_TYPE);
        let source = Source {
            url: &answer.final_url,
            kind,
            content_type,
            charset: declared.and_then(|header| believable_charset(header, &answer.body)),
            body: answer.body,
            headers: &answer.headers,
            cut: answer.cut,
        };
        let mut found = read(self.parts, source, self.owner, self.deadline).await?;
        let text = |name| header(&answer.headers, name).map(str::to_owned);
        let (etag, last_modified) = (text(ETAG), text(LAST_MODIFIED));
        if etag.is_some() || last_modified.is_some() {
            found.validators = Some(Validators { tier, etag, last_modified });
        }
        Ok(found)
    }

    /// A request without an answer: hopeless, or worth another tier.
    fn unanswered(&mut self, tier: u8, error: FetchError) -> Result<Step, Failure> {
        match error {
            FetchError::Timeout { .. } => {
                self.tried.timed_out(tier);
                // A server that did not answer a patient request will not answer another one.
                if tier == 1 { Ok(Step::Next) } else { self.tried.conclude().map(Step::done) }
            }
            FetchError::Protocol { .. } | FetchError::TooLarge { .. } => {
                self.tried.note(tier, error.to_string());
                Ok(Step::Next)
            }
            error => Err(unreachable(error)),
        }
    }

    /// A page that its reader could not read: another tier may have a better one.
    fn unreadable(&mut self, tier: u8, failure: Failure) -> Result<Step, Failure> {
        if failure.blame == Blame::Gateway {
            return Err(failure);
        }
        if failure.code == Code::Timeout {
            self.tried.timed_out(tier);
        } else {
            self.tried.note(tier, failure.message);
        }
        Ok(Step::Next)
    }
}

/// Whether enough of a text are letters or digits.
fn is_meaningful(text: &str) -> bool {
    let (mut all, mut meaningful) = (0_usize, 0_usize);
    for character in text.chars() {
        all += 1;
        meaningful += usize::from(character.is_alphanumeric());
    }
    meaningful as f64 >= MEANINGFUL * all as f64 && meaningful > 0
}

/// The failure for a document that did not arrive whole.
fn check_whole(cut: Option<Cut>, limit: u64) -> Result<(), Failure> {
    let failure = match cut {
        None => return Ok(()),
        Some(Cut::Deadline) => Failure::new(Code::Timeout, "the document did not arrive in time"),
        Some(Cut::Broken) => Failure::new(
            Code::Unavailable,
            "the connection broke off before the whole document arrived",
        ),
        Some(Cut::TooLarge) => Failure::new(
            Code::InvalidInput,
            format!("the document is larger than {limit} bytes, the most that is downloaded"),
        )
        .details(serde_json::json!({"reason": "too_large", "limit": limit})),
    };
    Err(failure.blame(Blame::Tool))
}

fn no_text(declared: &str) -> Failure {
    let what = if declared.is_empty() { "this file" } else { declared };
    let message = format!(
        "no text is read from {}; web pages, PDF, DOCX, PPTX, XLSX, text and JSON are",
        proto::clean::line(what)
    );
    Failure::new(Code::Unsupported, message).blame(Blame::Caller)
}
