//! Timeouts and sizes with their maxima.

use std::time::Duration;

/// The time that each operation may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// One request to a search provider.
    pub search: Duration,
    /// The request for Markdown.
    pub markdown: Duration,
    /// A request for HTML.
    pub html: Duration,
    /// A page in the browser.
    pub browser: Duration,
    /// A YouTube transcript, all steps together.
    pub youtube: Duration,
    /// The download of a document.
    pub download: Duration,
    /// A whole call.
    pub total: Duration,
    set: Vec<&'static str>,
}

/// Name, default and maximum in seconds.
const TIMEOUTS: [(&str, u64, u64); 7] = [
    ("search", 10, 30),
    ("markdown", 5, 10),
    ("html", 15, 30),
    ("browser", 30, 60),
    ("youtube", 30, 60),
    ("download", 30, 60),
    ("total", 60, 120),
];

impl Default for Timeouts {
    fn default() -> Self {
        let mut timeouts = Self {
            search: Duration::ZERO,
            markdown: Duration::ZERO,
            html: Duration::ZERO,
            browser: Duration::ZERO,
            youtube: Duration::ZERO,
            download: Duration::ZERO,
            total: Duration::ZERO,
            set: Vec::new(),
        };
        for (name, default, _) in TIMEOUTS {
            if let Some(field) = timeouts.field(name) {
                *field = Duration::from_secs(default);
            }
        }
        timeouts
    }
}

impl Timeouts {
    /// Sets one by its name; a value above its maximum is clamped, which the returned warning says.
    pub fn set(&mut self, name: &str, time: Duration) -> Result<Option<String>, String> {
        let Some((name, _, max)) = TIMEOUTS.into_iter().find(|(known, ..)| *known == name) else {
            let names = TIMEOUTS.map(|(name, ..)| name).join(", ");
            return Err(format!("there is no timeout `{name}`; the timeouts are {names}"));
        };
        let max = Duration::from_secs(max);
        if let Some(field) = self.field(name) {
            *field = time.min(max);
        }
        self.set.push(name);
        Ok((time > max).then(|| {
            format!("{} ms is above the maximum; {} s is used", time.as_millis(), max.as_secs())
        }))
    }

    /// Whether one was set, and is not the default.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.set.contains(&name)
    }

    fn field(&mut self, name: &str) -> Option<&mut Duration> {
        Some(match name {
            "search" => &mut self.search,
            "markdown" => &mut self.markdown,
            "html" => &mut self.html,
            "browser" => &mut self.browser,
            "youtube" => &mut self.youtube,
            "download" => &mut self.download,
            "total" => &mut self.total,
            _ => return None,
        })
    }
}

/// The most bytes of each content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The content of one page.
    pub page: u64,
    /// The combined content of `search_and_scrape`.
    pub combined: u64,
    /// A YouTube transcript.
    pub transcript: u64,
    /// A downloaded document.
    pub download: u64,
    set: Vec<&'static str>,
}

/// Name and default, which is the maximum, in bytes.
const SIZES: [(&str, u64); 4] =
    [("page", 50_000), ("combined", 300_000), ("transcript", 100_000), ("download", 10_000_000)];

impl Default for Sizes {
    fn default() -> Self {
        let [(_, page), (_, combined), (_, transcript), (_, download)] = SIZES;
        Self { page, combined, transcript, download, set: Vec::new() }
    }
}

impl Sizes {
    /// Sets one by its name; a value above its maximum is clamped, which the returned warning says.
    pub fn set(&mut self, name: &str, bytes: u64) -> Result<Option<String>, String> {
        let Some((name, max)) = SIZES.into_iter().find(|(known, _)| *known == name) else {
            let names = SIZES.map(|(name, _)| name).join(", ");
            return Err(format!("there is no size `{name}`; the sizes are {names}"));
        };
        let field = match name {
            "page" => &mut self.page,
            "combined" => &mut self.combined,
            "transcript" => &mut self.transcript,
            _ => &mut self.download,
        };
        *field = bytes.min(max);
        self.set.push(name);
        Ok((bytes > max).then(|| format!("{bytes} bytes are above the maximum; {max} are used")))
    }

    /// Whether one was set, and is not the default.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.set.contains(&name)
    }
}
