use std::time::Duration;

/// What an operator may set about files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRules {
    /// The largest file.
    pub max_bytes: u64,
    /// How long files are kept; without it until they are deleted.
    pub ttl: Option<Duration>,
    /// How long references are kept.
    pub reference_ttl: Duration,
    /// How long a link is valid, unless the caller asks for less or more.
    pub link_ttl: Duration,
    /// How many bytes all files of a tenant may have.
    pub quota: Option<u64>,
    /// The largest file of which the text is extracted.
    pub max_text_source: u64,
}

impl Default for FileRules {
    fn default() -> Self {
        Self {
            max_bytes: 1_000_000_000,
            ttl: None,
            reference_ttl: Duration::from_secs(24 * 60 * 60),
            link_ttl: Duration::from_secs(60 * 60),
            quota: None,
            max_text_source: 64 << 20,
        }
    }
}
