//! Transcripts of YouTube videos, by the first of four ways that has one; each way that was tried is recorded.

mod address;
mod captions;
mod player;

use std::time::Duration;

use documents::Metadata;
use egress::browser::{BrowserError, Visit};
use egress::http::{FetchError, Partial};
use http::header::{COOKIE, HeaderValue};
use proto::{Blame, Code, Failure};
use search::dates::Date;
use serde_json::{Value, json};
use url::Url;

use self::captions::transcript;
use self::player::Player;
use crate::research::Parts;
use crate::scrape::fetch::{Deadline, Style, fetch, refused, unreachable};
use crate::scrape::read::RawPage;
use crate::tools::ContentType;

pub(crate) use address::video_id;

const SITE: &str = "https://www.youtube.com/";
/// The languages of which YouTube is asked directly.
const LANGUAGES: [&str; 3] = ["en", "en-US", "en-GB"];
/// Declines the question for consent, which would take the place of the page.
const NO_CONSENT: HeaderValue = HeaderValue::from_static("SOCS=CAI");

/// Reads the transcript of a video, else its description.
pub(crate) async fn read(
    parts: &Parts,
    id: &str,
    url: &Url,
    deadline: Deadline,
) -> Result<RawPage, Failure> {
    let site = parts.settings.youtube_url.clone();
    let site = site.or_else(|| Url::parse(SITE).ok()).ok_or_else(no_site)?;
    let watch = site.join(&format!("/watch?v={id}&hl=en")).map_err(|_| no_site())?;
    let until = Deadline::after(deadline.within(parts.settings.timeouts.youtube));
    let mut video = Video { parts, site, watch, deadline: until, steps: Vec::new() };
    let (player, text) = video.find(id).await?;
    let (text, described) = match (text, &player.description) {
        (Some(text), _) => (text, false),
        (None, Some(description)) => {
            video.note("description", "found");
            (description.clone(), true)
        }
        (None, None) => {
            video.note("description", "none");
            return Err(video.nothing(&player));
        }
    };
    let mut warnings = video.warnings();
    if described {
        warnings.push(
            "The video has no transcript that can be read: this is its description.".to_owned(),
        );
    }
    Ok(RawPage {
        url: url.clone(),
        content_type: ContentType::Youtube,
        text,
        meta: Metadata {
            title: player.title,
            author: player.author,
            site: Some("YouTube".to_owned()),
            published: player.published.as_deref().and_then(Date::parse_iso).map(Date::iso),
            ..Metadata::default()
        },
        page_count: None,
        file_size: None,
        hidden_text: String::new(),
        incomplete: false,
        // A description is what is left when captions are gated, which may pass.
        passing: described,
        warnings,
        validators: None,
    })
}

struct Video<'a> {
    parts: &'a Parts,
    site: Url,
    watch: Url,
    deadline: Deadline,
    steps: Vec<(&'static str, String)>,
}

impl Video<'_> {
    fn note(&mut self, step: &'static str, outcome: impl Into<String>) {
        let outcome = outcome.into();
        tracing::debug!(step, outcome, "youtube");
        self.steps.push((step, outcome));
    }

    async fn find(&mut self, id: &str) -> Result<(Player, Option<String>), Failure> {
        let (player, found) = self.read_player().await?;
        if found.is_some() {
            return Ok((player, found));
        }
        for language in LANGUAGES {
            if let Some(text) = self.read_timedtext(id, language).await? {
                return Ok((player, Some(text)));
            }
        }
        let found = self.watch_in_browser().await?;
        Ok((player, found))
    }

    /// The captions that the page of the video names.
    async fn read_player(&mut self) -> Result<(Player, Option<String>), Failure> {
        const STEP: &str = "player captions";
        let watch = self.watch.clone();
        let answer = match self.get(&watch).await {
            Ok(answer) => answer,
            Err(error) => {
                let outcome = self.failed(error)?;
                self.note(STEP, outcome);
                return Ok((Player::default(), None));
            }
        };
        if !answer.status.is_success() {
            self.note(STEP, format!("status {}", answer.status.as_u16()));
            return Ok((Player::default(), None));
        }
        let player = Player::read(&String::from_utf8_lossy(&answer.body));
        let Some(track) = player.best_track() else {
            let outcome = match &player.unplayable {
                Some(why) => format!("no captions: {why}"),
                None => "no captions".to_owned(),
            };
            self.note(STEP, outcome);
            return Ok((player, None));
        };
        let Some(address) = self.track_url(&track.url) else {
            self.note(STEP, "the caption track has no usable address");
            return Ok((player, None));
        };
        let by = player.pattern.unwrap_or_default();
        let (text, outcome) = self.track(&address).await?;
        self.note(STEP, format!("{outcome} (by `{by}`)"));
        Ok((player, text))
    }

    /// The captions under the address that players use.
    async fn read_timedtext(
        &mut self,
        id: &str,
        language: &str,
    ) -> Result<Option<String>, Failure> {
        let path = format!("/api/timedtext?v={id}&lang={language}&fmt=json3");
        let Ok(address) = self.site.join(&path) else { return Ok(None) };
        let (text, outcome) = self.track(&address).await?;
        self.note("timedtext", format!("{language}: {outcome}"));
        Ok(text)
    }

    /// The captions that the player fetches when the video plays in the browser.
    async fn watch_in_browser(&mut self) -> Result<Option<String>, Failure> {
        const STEP: &str = "browser";
        let Some(browser) = &self.parts.browser else {
            self.note(STEP, "skipped: the browser is off (`research.browser`)");
            return Ok(None);
        };
        let time = self.deadline.within(self.parts.settings.timeouts.browser);
        if time < Duration::from_millis(500) {
            self.note(STEP, "timed out");
            return Ok(None);
        }
        let visit = Visit {
            url: format!("{}&cc_load_policy=1", self.watch),
            deadline: time,
            max_bytes: 10_000_000,
            capture: Some(is_track),
            pending: None,
        };
        let captured = match browser.render(visit).await {
            Ok(rendered) => rendered.captured,
            Err(BrowserError::Refused(refusal)) => return Err(refused(&refusal)),
            Err(error) => {
                self.note(STEP, error.to_string());
                return Ok(None);
            }
        };
        let text = captured.iter().find_map(|(_, body)| transcript(body));
        let outcome = match (&text, captured.is_empty()) {
            (Some(_), _) => "found",
            (None, true) => "the player asked for no captions",
            (None, false) if captured.iter().all(|(_, body)| is_empty(body)) => "gated",
            (None, false) => "no caption track",
        };
        self.note(STEP, outcome);
        Ok(text)
    }

    /// Fetches a caption track; the text, and the outcome for the record.
    async fn track(&self, address: &Url) -> Result<(Option<String>, String), Failure> {
        let answer = match self.get(address).await {
            Ok(answer) => answer,
            Err(error) => return Ok((None, self.failed(error)?)),
        };
        let status = answer.status.as_u16();
        Ok(match transcript(&answer.body) {
            Some(text) if answer.status.is_success() => (Some(text), "found".to_owned()),
            // YouTube answers so where it wants a token of its player; there may well be captions.
            _ if answer.status.is_success() && is_empty(&answer.body) => {
                (None, "gated (an empty answer)".to_owned())
            }
            _ if answer.status.is_success() => (None, "no caption track".to_owned()),
            _ => (None, format!("status {status}")),
        })
    }

    /// The address of a track in JSON.
    fn track_url(&self, text: &str) -> Option<Url> {
        let mut url = self.site.join(text).ok()?;
        let kept: Vec<(String, String)> = url
            .query_pairs()
            .filter(|(name, _)| name != "fmt")
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        url.query_pairs_mut().clear().extend_pairs(kept).append_pair("fmt", "json3");
        Some(url)
    }

    async fn get(&self, address: &Url) -> Result<Partial, FetchError> {
        let mut headers = Style::Browser.headers();
        headers.insert(COOKIE, NO_CONSENT);
        let time = self.deadline.within(self.parts.settings.timeouts.youtube);
        let most = self.parts.settings.sizes.download;
        fetch(&self.parts.client, address.as_str(), headers, time, most).await
    }

    /// The outcome of a request without an answer; refused addresses end the call.
    fn failed(&self, error: FetchError) -> Result<String, Failure> {
        match error {
            FetchError::Refused(_) => Err(unreachable(error)),
            FetchError::Timeout { .. } => Ok("timed out".to_owned()),
            error => Ok(error.to_string()),
        }
    }

    /// The steps before the one that had the text.
    fn warnings(&self) -> Vec<String> {
        let failed = self
            .steps
            .iter()
            .filter(|(_, outcome)| !outcome.starts_with("found") && !outcome.ends_with(": found"));
        failed.map(|(step, outcome)| format!("YouTube {step}: {outcome}.")).collect()
    }

    fn nothing(&self, player: &Player) -> Failure {
        let steps: Vec<Value> =
            self.steps.iter().map(|(step, why)| json!({"tier": step, "why": why})).collect();
        let late = self
            .steps
            .iter()
            .all(|(step, why)| *step == "description" || why.ends_with("timed out"));
        let why = player.unplayable.as_deref().map(|why| format!(": {}", proto::clean::line(why)));
        let message = format!(
            "the video has neither a transcript nor a description that can be read{}",
            why.unwrap_or_default()
        );
        let failure = if late {
            Failure::new(Code::Timeout, "YouTube did not answer in time")
        } else {
            Failure::new(Code::Unavailable, message).retryable(false)
        };
        failure.blame(Blame::Tool).details(json!({"tiers": steps}))
    }
}

/// The addresses from which players fetch captions.
fn is_track(url: &str) -> bool {
    url.contains("/api/timedtext")
}

fn is_empty(body: &[u8]) -> bool {
    body.iter().all(u8::is_ascii_whitespace)
}

fn no_site() -> Failure {
    Failure::new(Code::Internal, "the address of YouTube is not usable").blame(Blame::Gateway)
}
