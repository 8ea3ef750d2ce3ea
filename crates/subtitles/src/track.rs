//! A file of subtitles.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::text::StyledText;

/// The most cues of a file; a film has about 1,500.
pub const MAX_CUES: usize = 100_000;

/// The most warnings about one file.
const MAX_WARNINGS: usize = 20;

/// A format of subtitles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// SubRip.
    Srt,
    /// WebVTT.
    Vtt,
    /// Advanced SubStation Alpha, and its older form SSA.
    Ass,
}

/// What a file has and another format cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lost {
    Styles,
    Positions,
    Effects,
    Drawings,
    Speakers,
    Comments,
    Names,
}

impl Lost {
    /// Its name in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Styles => "styles",
            Self::Positions => "positions",
            Self::Effects => "effects",
            Self::Drawings => "drawings",
            Self::Speakers => "speakers",
            Self::Comments => "comments",
            Self::Names => "cue_names",
        }
    }
}

/// One text and when it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cue {
    pub start_ms: u64,
    pub end_ms: u64,
    pub text: StyledText,
    /// The text as the file has it.
    pub(crate) raw: String,
    /// The name of a WebVTT cue.
    pub(crate) name: String,
    /// What follows the times of an SRT or WebVTT cue.
    pub(crate) settings: String,
    /// The columns of an ASS event before its text.
    pub(crate) columns: Vec<String>,
}

impl Cue {
    /// A cue of plain text.
    pub fn of_text(start_ms: u64, end_ms: u64, text: &str) -> Self {
        let mut styled = StyledText::default();
        styled.push(text, &crate::Run::default());
        Self { start_ms, end_ms, text: styled.normalize(), ..Self::default() }
    }
}

/// The cues of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    pub format: Format,
    pub cues: Vec<Cue>,
    /// What could not be read.
    pub warnings: Vec<String>,
    /// What is before the cues, in WebVTT and ASS.
    pub(crate) head: String,
    /// What is after the events, in ASS.
    pub(crate) tail: String,
    /// Whether comments between cues are not written again, not even in the same format.
    pub(crate) leaves_out_comments: bool,
    /// Which columns of ASS events have the times.
    pub(crate) time_columns: [usize; 2],
    pub(crate) features: BTreeSet<Lost>,
    skipped: usize,
}

impl Track {
    pub(crate) fn new(format: Format) -> Self {
        Self {
            format,
            cues: Vec::new(),
            warnings: Vec::new(),
            head: String::new(),
            tail: String::new(),
            leaves_out_comments: false,
            time_columns: [1, 2],
            features: BTreeSet::new(),
            skipped: 0,
        }
    }

    /// A track of cues that come from elsewhere, such as recognized speech.
    pub fn of_cues(cues: Vec<Cue>) -> Self {
        Self { cues, ..Self::new(Format::Srt) }
    }

    /// Adds a warning about a line, counted from 0. Of many, the first are listed.
    pub(crate) fn warn(&mut self, line: usize, what: &str) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(format!("line {}: {what}", line + 1));
        } else {
            self.skipped += 1;
        }
    }

    /// Adds a cue; one that ends before it begins is shown for no time. False at the limit.
    pub(crate) fn push(&mut self, mut cue: Cue, line: usize) -> bool {
        if self.cues.len() == MAX_CUES {
            self.warn(line, &format!("only the first {MAX_CUES} cues are read"));
            return false;
        }
        if cue.end_ms < cue.start_ms {
            self.warn(line, "the cue ends before it begins");
            cue.end_ms = cue.start_ms;
        }
        self.cues.push(cue);
        true
    }

    pub(crate) fn finish(mut self) -> Self {
        if self.skipped > 0 {
            self.warnings.push(format!("{} more lines have such faults", self.skipped));
        }
        self
    }
}

/// Adds a formatted piece to a text, which cannot fail.
pub(crate) fn append(text: &mut String, piece: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(piece);
}
