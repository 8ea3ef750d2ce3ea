//! The four ways to read a web page, from the cheapest to the most expensive: Markdown by negotiation, a request like a
//! browser's, plain HTML, and a real browser.

mod challenge;
mod failures;
mod placeholder;
mod spa;
mod stylesheets;
mod tried;

use std::time::Duration;

use bytes::Bytes;
use egress::browser::{BrowserError, Pending, Visit};
use egress::http::{Cut, FetchError, Partial};
use http::HeaderMap;
use http::header::{CONTENT_TYPE, ETAG, LAST_MODIFIED};
use proto::{Blame, Code, Failure};
use url::Url;

use crate::research::Parts;
use crate::scrape::fetch::{
    Deadline, Style, error_status, fetch, fetch_negotiated, header, refused, retry_after,
    unreachable,
};
use crate::scrape::kind::{Kind, believable_charset, media_type};
use crate::scrape::markdown::looks_like_markdown;
use crate::scrape::page::Validators;
use crate::scrape::read::{RawPage, Source, read};
use crate::tools::ContentType;

use challenge::{is_challenge, names_challenge};
use failures::{check_whole, no_text};
use placeholder::{Placeholder, is_shell, placeholder};
use tried::Tried;

/// Fewer characters are no page.
const FEWEST: usize = 100;
/// The smallest share of a text that must be letters or digits.
const MEANINGFUL: f64 = 0.1;

/// The longest wait that a server can ask for and still be asked again in the same call.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// One page to read, and what the attempts so far have shown.
pub(crate) struct Reading<'a> {
    parts: &'a Parts,
    url: &'a Url,
    deadline: Deadline,
    /// The tenant for which alone the page is read, if its host may not be public.
    owner: Option<&'a str>,
    tried: Tried,
    /// The wait that the server asked for last.
    wait: Option<Duration>,
    /// The tier whose request was sent last; 0 is a download.
    asked_by: u8,
    /// Whether a request was repeated after such a wait.
    has_waited: bool,
}

/// The step after a tier.
enum Step {
    Done(Box<RawPage>),
    Next,
    /// The page asks for proof of a person: only a browser can go on.
    Browser,
}

impl Step {
    fn done(found: RawPage) -> Self {
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
        Self {
            parts,
            url,
            deadline,
            owner,
            tried: Tried::default(),
            wait: None,
            asked_by: 1,
            has_waited: false,
        }
    }

    /// Reads the page with the first tier that gives content.
    pub(crate) async fn run(mut self) -> Result<RawPage, Failure> {
        let mut found = self.attempt().await?;
        found.warnings.append(&mut self.tried.warnings);
        Ok(found)
    }

    async fn attempt(&mut self) -> Result<RawPage, Failure> {
        let document = Kind::of_url(self.url).is_some_and(Kind::is_document);
        if document && let Some(found) = self.download().await? {
            return Ok(found);
        }
        let needs_browser = spa::needs_browser(self.url.host_str().unwrap_or_default());
        let mut step = self.negotiate(needs_browser).await?;
        if matches!(step, Step::Next) {
            step = self.request(3, Style::Plain).await?;
        }
        if let Step::Done(found) = step {
            return Ok(*found);
        }
        match self.render().await? {
            Some(found) => Ok(found),
            None => self.tried.conclude(),
        }
    }

    /// Tiers 1 and 2: one request that prefers Markdown and takes HTML.
    async fn negotiate(&mut self, needs_browser: bool) -> Result<Step, Failure> {
        let answer = match self.fetch_first().await {
            Ok(answer) => answer,
            Err(error) => return self.unanswered(1, error),
        };
        let status = answer.status.as_u16();
        // These may be due to the request's `Accept`.
        if matches!(status, 400 | 406 | 415) {
            self.tried.note(1, format!("status {status}"));
            return self.request(2, Style::Browser).await;
        }
        let kind = self.kind(&answer);
        match kind {
            _ if !answer.status.is_success() => {
                self.tried.note(1, format!("status {status}"));
                self.page(2, answer).await
            }
            Kind::Html => {
                self.tried.note(1, "answered with HTML instead of Markdown");
                let step = self.page(2, answer).await?;
                if !needs_browser {
                    return Ok(step);
                }
                if let Step::Done(found) = step {
                    self.tried.keep(2, "pages of this site need a browser", *found);
                }
                Ok(Step::Browser)
            }
            Kind::Text => self.text(answer).await,
            kind => self.document(answer, kind).await,
        }
    }

    /// Asks for the page, and once more where the server says that it will answer soon.
    async fn fetch_first(&mut self) -> Result<Partial, FetchError> {
        self.asked_by = 1;
        loop {
            let (client, settings) = (&self.parts.client, &self.parts.settings);
            let time = self.deadline.within(settings.timeouts.html);
            let times = (time, settings.timeouts.markdown);
            let most = settings.sizes.download;
            let answer = fetch_negotiated(client, self.url.as_str(), times, most).await?;
            let status = answer.status.as_u16();
            if !matches!(status, 429 | 503) || self.has_waited || !self.waits(&answer).await {
                return Ok(answer);
            }
            self.tried.note(1, format!("status {status}"));
            self.has_waited = true;
        }
    }

    /// Waits as long as an answer asks for; false if that is too long.
    async fn waits(&mut self, answer: &Partial) -> bool {
        let (status, now) = (answer.status.as_u16(), self.parts.clock.unix_ms());
        self.wait = retry_after(status, &answer.headers, now);
        let Some(wait) = self.wait.filter(|wait| *wait <= LONGEST_WAIT) else { return false };
        if self.deadline.within(wait) < wait {
            return false;
        }
        tokio::time::sleep(wait).await;
        true
    }

    /// Tier 1: a text, which is Markdown or what the server has.
    async fn text(&mut self, answer: Partial) -> Result<Step, Failure> {
        let declared = header(&answer.headers, CONTENT_TYPE).map(media_type).unwrap_or_default();
        let text = String::from_utf8_lossy(&answer.body);
        let is_markdown = declared.ends_with("markdown") || looks_like_markdown(&text);
        let short = text.trim().chars().count() < FEWEST;
        if is_markdown && short {
            self.tried.note(1, "the Markdown is too short");
            return self.request(2, Style::Browser).await;
        }
        let content_type = if is_markdown { ContentType::Markdown } else { ContentType::Text };
        let late = answer.cut;
        let found = self.read(answer, Kind::Text, content_type).await?;
        if late.is_some_and(|cut| cut != Cut::TooLarge) {
            self.tried.keep(1, "the answer broke off", found);
            return self.request(2, Style::Browser).await;
        }
        Ok(Step::done(found))
    }

    /// Tier 3, and tier 2 where the first request is not understood: asks for HTML.
    async fn request(&mut self, tier: u8, style: Style) -> Result<Step, Failure> {
        let time = self.parts.settings.timeouts.html;
        self.asked_by = tier;
        match self.fetch(style, time).await {
            Ok(answer) => self.page(tier, answer).await,
            Err(error) => self.unanswered(tier, error),
        }
    }

    /// Reads an answer that should be a page.
    async fn page(&mut self, tier: u8, answer: Partial) -> Result<Step, Failure> {
        let status = answer.status.as_u16();
        if !answer.status.is_success() {
            self.wait = retry_after(status, &answer.headers, self.parts.clock.unix_ms());
            let is_challenge = is_challenge(status, &answer.headers, &answer.body, None);
            // A browser is a visitor as well: it comes no sooner than the server asks for.
            if is_challenge && self.wait.is_none_or(|wait| wait.is_zero()) {
                self.tried.challenge(tier, Some(status));
                return Ok(Step::Browser);
            }
            return Err(error_status(status, self.wait));
        }
        let kind = self.kind(&answer);
        if kind != Kind::Html {
            return self.document(answer, kind).await;
        }
        let (body, headers, cut) = (answer.body.clone(), answer.headers.clone(), answer.cut);
        let found = match self.read(answer, Kind::Html, ContentType::Html).await {
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
        if placeholder(&found.text).is_some() || is_shell(&found.text, &body) {
            self.tried.keep(tier, "a placeholder instead of the content", found);
            return Ok(Step::Browser);
        }
        Ok(self.judge(tier, found, cut))
    }

    /// Decides whether the text of tier 2 or 3 is the page.
    fn judge(&mut self, tier: u8, found: RawPage, cut: Option<Cut>) -> Step {
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
    async fn render(&mut self) -> Result<Option<RawPage>, Failure> {
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
            pending: Some(pending),
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
        let mut found = match read(self.parts, source, self.owner, self.deadline).await {
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
            return Err(error_status(status, self.wait.filter(|_| matches!(status, 429 | 503))));
        }
        if found.text.trim().is_empty() {
            self.tried.note(4, "no text");
            return Ok(None);
        }
        if let Some(kind) = placeholder(&found.text) {
            self.tried.keep(4, kind.describe(), found);
            return Ok(None);
        }
        if found.text.trim().chars().count() < FEWEST {
            // It may be slow to appear: the next call looks again.
            found.passing = true;
            found.warnings.push("The page shows only a few words.".to_owned());
        }
        Ok(Some(found))
    }

    fn not_rendered(&mut self, error: BrowserError) -> Result<Option<RawPage>, Failure> {
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
    async fn download(&mut self) -> Result<Option<RawPage>, Failure> {
        let time = self.parts.settings.timeouts.download;
        self.asked_by = 0;
        let answer = self.fetch(Style::Download, time).await.map_err(unreachable)?;
        let status = answer.status.as_u16();
        if !answer.status.is_success() {
            if is_challenge(status, &answer.headers, &answer.body, None) {
                return Ok(None);
            }
            let wait = retry_after(status, &answer.headers, self.parts.clock.unix_ms());
            return Err(error_status(status, wait));
        }
        match self.kind(&answer) {
            Kind::Html => Ok(None),
            kind => self.read_whole(answer, kind).await.map(Some),
        }
    }

    /// Reads an answer that is no page: a document, text or data.
    async fn document(&mut self, answer: Partial, kind: Kind) -> Result<Step, Failure> {
        // A document needs all its bytes, and has more time.
        if kind.is_document() && answer.cut == Some(Cut::Deadline) {
            let found = self.download().await?;
            return Ok(found.map_or(Step::Next, Step::done));
        }
        self.read_whole(answer, kind).await.map(Step::done)
    }

    async fn read_whole(&self, answer: Partial, kind: Kind) -> Result<RawPage, Failure> {
        let declared = header(&answer.headers, CONTENT_TYPE).map(media_type).unwrap_or_default();
        let Some(content_type) = kind.content_type() else { return Err(no_text(&declared)) };
        if kind.is_document() {
            check_whole(answer.cut, self.parts.settings.sizes.download)?;
        }
        let is_markdown = kind == Kind::Text
            && (declared.ends_with("markdown")
                || looks_like_markdown(&String::from_utf8_lossy(&answer.body)));
        let content_type = if is_markdown { ContentType::Markdown } else { content_type };
        self.read(answer, kind, content_type).await
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
        answer: Partial,
        kind: Kind,
        content_type: ContentType,
    ) -> Result<RawPage, Failure> {
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
            found.validators = Some(Validators { tier: self.asked_by, etag, last_modified });
        }
        Ok(found)
    }

    /// A request without an answer: hopeless, or worth another tier.
    fn unanswered(&mut self, tier: u8, error: FetchError) -> Result<Step, Failure> {
        match error {
            FetchError::Timeout { .. } => {
                self.tried.timed_out(tier);
                // A server that did not answer a patient request will not answer another one.
                self.tried.conclude().map(Step::done)
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

/// What a page in the browser still waits for, by its title and text.
fn pending(text: &str) -> Option<Pending> {
    match placeholder(text) {
        Some(Placeholder::Consent) => Some(Pending::Consent),
        Some(Placeholder::Loading) => Some(Pending::Content),
        None if text.trim().chars().count() < FEWEST || names_challenge(text) => {
            Some(Pending::Content)
        }
        None => None,
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
