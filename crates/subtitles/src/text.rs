//! The text of a cue with the styles that all formats have: italic, bold and underline.

/// A piece of text in one style.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Run {
    pub text: String,
    pub italic: bool,
    pub bold: bool,
    pub underline: bool,
}

/// The text of a cue. Lines are separated by `\n`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StyledText {
    pub runs: Vec<Run>,
}

impl StyledText {
    /// The text without styles.
    pub fn plain(&self) -> String {
        self.runs.iter().map(|run| run.text.as_str()).collect()
    }

    /// Adds text in the style of `like`.
    pub(crate) fn push(&mut self, text: &str, like: &Run) {
        if text.is_empty() {
            return;
        }
        match self.runs.last_mut() {
            Some(last) if last.has_style_of(like) => last.text.push_str(text),
            // Not a clone of `like`, whose text may be long.
            _ => self.runs.push(Run {
                text: text.to_owned(),
                italic: like.italic,
                bold: like.bold,
                underline: like.underline,
            }),
        }
    }

    /// The same text without blank lines and without spaces around lines, which formats treat differently.
    pub(crate) fn normalize(self) -> Self {
        let mut normal = Self::default();
        let mut line = Self::default();
        for run in &self.runs {
            for (at, part) in run.text.split('\n').enumerate() {
                if at > 0 {
                    normal.end_line(std::mem::take(&mut line));
                }
                line.push(part, run);
            }
        }
        normal.end_line(line);
        normal
    }

    /// Adds a line if it is not blank.
    fn end_line(&mut self, mut line: Self) {
        let is_blank = |run: &Run| run.text.trim().is_empty();
        let end = line.runs.iter().rposition(|run| !is_blank(run)).map_or(0, |last| last + 1);
        line.runs.truncate(end);
        let start = line.runs.iter().position(|run| !is_blank(run)).unwrap_or(0);
        line.runs.drain(..start);
        if let Some(first) = line.runs.first_mut() {
            first.text = first.text.trim_start().to_owned();
        }
        if let Some(last) = line.runs.last_mut() {
            last.text = last.text.trim_end().to_owned();
        }
        if let Some(previous) = self.runs.last_mut().filter(|_| !line.runs.is_empty()) {
            previous.text.push('\n');
        }
        for run in line.runs {
            self.push(&run.text, &run);
        }
    }

    /// The text with tags as SRT and WebVTT have them; `escape` makes plain text safe.
    pub(crate) fn with_tags(&self, escape: impl Fn(&str) -> String) -> String {
        let mut written = String::new();
        for run in &self.runs {
            let tags = [(run.italic, 'i'), (run.bold, 'b'), (run.underline, 'u')];
            let open = tags.iter().filter(|(is_on, _)| *is_on);
            for (_, tag) in open.clone() {
                written.extend(['<', *tag, '>']);
            }
            written.push_str(&escape(&run.text));
            for (_, tag) in open.rev() {
                written.extend(['<', '/', *tag, '>']);
            }
        }
        written
    }
}

impl Run {
    fn has_style_of(&self, other: &Self) -> bool {
        (self.italic, self.bold, self.underline) == (other.italic, other.bold, other.underline)
    }

    /// Turns the style of a tag on or off; `false` for tags of other kinds.
    pub(crate) fn set(&mut self, tag: &str, is_on: bool) -> bool {
        let style = match tag {
            "i" => &mut self.italic,
            "b" => &mut self.bold,
            "u" => &mut self.underline,
            _ => return false,
        };
        *style = is_on;
        true
    }
}
