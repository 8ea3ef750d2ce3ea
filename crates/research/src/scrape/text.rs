//! A page as text, before it is cut to what a tool returns.

use proto::{Code, Failure};
use search::dates::utc_date;
use search::pace::Outcome;

use super::fetch::Deadline;
use super::page::Page;
use crate::research::{Call, Research};
use crate::robots;
use crate::settings::Robots;
use crate::tools::{CitationMetadata, ContentType, ScrapeMode};

/// How the page was chosen: by the caller or by a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFor {
    /// The caller named it: robots.txt is asked where the settings say `always`.
    Caller,
    /// A search found it: robots.txt is asked unless the settings say `off`.
    Search,
}

/// The text of a page and all that is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct PageText {
    /// The address after redirects.
    pub url: String,
    pub content_type: ContentType,
    /// Sanitised Markdown of at most 500,000 bytes.
    pub text: String,
    /// Whether a limit of time or size left out a part of the page.
    pub incomplete: bool,
    pub title: Option<String>,
    pub author: Option<String>,
    /// The name of the site, else its host.
    pub site: Option<String>,
    /// When it was published: `2024-05-03`, `2024-05` or `2024`.
    pub date: Option<String>,
    /// The UTC date on which it was read.
    pub accessed: String,
    pub warnings: Vec<String>,
}

impl PageText {
    /// What a citation of the page names.
    pub fn citation_metadata(&self) -> CitationMetadata {
        CitationMetadata {
            title: self.title.clone(),
            author: self.author.clone(),
            site: self.site.clone(),
            date: self.date.clone(),
        }
    }

    fn of(page: &Page) -> Self {
        Self {
            url: page.url.clone(),
            content_type: page.content_type,
            text: page.text.clone(),
            incomplete: page.incomplete || page.text.len() < page.length,
            title: page.title.clone(),
            author: page.author.clone(),
            site: page.site.clone(),
            date: page.date.clone(),
            accessed: utc_date(page.read_unix_ms),
            warnings: page.warnings.clone(),
        }
    }
}

impl Research {
    /// Reads a web page, a document or the transcript of a video, from the cache if it is there.
    pub async fn read(
        &self,
        url: &str,
        reason: ReadFor,
        call: &Call<'_>,
    ) -> Result<PageText, Failure> {
        let settings = self.settings();
        let request = self.check_url(url, ScrapeMode::Full, call)?;
        let pace = self.hosts().of(&request.host());
        let turn = call.run(async { Ok(pace.take().await) }).await?;
        let deadline = Deadline::after(settings.timeouts.total);
        let asks = match reason {
            ReadFor::Caller => settings.robots == Robots::Always,
            ReadFor::Search => settings.robots != Robots::Off,
        };
        let work = async {
            if asks {
                robots::check(self, &request, deadline).await?;
            }
            self.page(request, deadline, call).await
        };
        let page = work.await;
        turn.end(match &page {
            Ok(_) => Outcome::Answered,
            Err(failure) if matches!(failure.code, Code::RateLimit | Code::Timeout) => {
                Outcome::Overloaded
            }
            Err(_) => Outcome::Other,
        });
        Ok(PageText::of(&*page?))
    }
}
