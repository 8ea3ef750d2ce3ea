//! Outlines as Markdown: the title as `#`, each section as `##`, each question as an item of a list.

use std::collections::BTreeMap;

use markup::escape_line;
use proto::clean;

use crate::outline::Outline;

/// The longest title, heading and question, in characters.
pub(super) const MAX_HEADING: usize = 300;
pub(super) const MAX_QUESTION: usize = 500;

/// The most sections and questions of an outline. Edited ones are compared with each other, in pairs.
pub(super) const MAX_SECTIONS: usize = 40;
pub(super) const MAX_QUESTIONS: usize = 120;

/// Why a text is no outline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct OutlineFault {
    /// Counts from 1.
    pub line: usize,
    pub reason: String,
}

/// An outline as a person wrote it, without ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    pub title: String,
    pub sections: Vec<DraftSection>,
}

/// A section of a [`Draft`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DraftSection {
    pub heading: String,
    pub questions: Vec<String>,
}

/// An outline as people edit it: each title, heading and question on one line, as they wrote it.
pub fn render(outline: &Outline) -> String {
    write(outline, one_line, one_line)
}

/// An outline as Markdown for any reader: what would be a mark in a text has a backslash before it.
pub fn publish(outline: &Outline) -> String {
    write(outline, heading, |text| escape_line(&one_line(text)))
}

fn write(
    outline: &Outline,
    heading: impl Fn(&str) -> String,
    question: impl Fn(&str) -> String,
) -> String {
    let mut text = format!("# {}\n", heading(&outline.title));
    for section in &outline.sections {
        text.push_str(&format!("\n## {}\n", heading(&section.heading)));
        if !section.questions.is_empty() {
            text.push('\n');
        }
        for asked in &section.questions {
            text.push_str(&format!("- {}\n", question(&asked.text)));
        }
    }
    text
}

fn heading(text: &str) -> String {
    let line = escape_line(&one_line(text));
    match line.strip_suffix('#') {
        // Marks at the end would close the heading.
        Some(rest) if !rest.ends_with('\\') => format!("{rest}\\#"),
        _ => line,
    }
}

/// Reads an outline; fails at the first line that cannot be read.
pub fn parse(text: &str) -> Result<Draft, OutlineFault> {
    let mut reader = Reader::default();
    for (place, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        reader.line = place + 1;
        reader.read(line)?;
    }
    reader.finish()
}

/// A text without invisible characters and line breaks.
pub(super) fn one_line(text: &str) -> String {
    let (clean, _) = clean::text(text);
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What makes two texts the same to a reader.
pub(super) fn folded(text: &str) -> String {
    text.to_lowercase()
}

#[derive(Default)]
struct Reader {
    line: usize,
    title: Option<String>,
    sections: Vec<DraftSection>,
    count: usize,
    /// Whether an indented line continues the question before it.
    continues: bool,
    /// The lines of headings and questions so far.
    headings: BTreeMap<String, usize>,
    questions: BTreeMap<String, usize>,
}

impl Reader {
    fn fault(&self, reason: impl Into<String>) -> OutlineFault {
        OutlineFault { line: self.line, reason: reason.into() }
    }

    fn read(&mut self, line: &str) -> Result<(), OutlineFault> {
        let text = line.trim();
        if text.is_empty() {
            self.continues = false;
            return Ok(());
        }
        let continues = std::mem::take(&mut self.continues);
        if let Some(rest) = text.strip_prefix('#') {
            return match (rest.strip_prefix('#'), rest) {
                (None, rest) => self.read_title(self.heading(rest)?),
                (Some(rest), _) if !rest.starts_with('#') => self.read_section(self.heading(rest)?),
                _ => Err(self.fault("headings have one or two `#`: a title or a section")),
            };
        }
        if let Some(question) = item(text) {
            self.continues = true;
            return self.read_question(question);
        }
        if continues && line.starts_with([' ', '\t']) {
            self.continues = true;
            return self.continue_question(text);
        }
        let reason = "this is neither a heading nor a question: begin a section with `## ` and a question with `- `";
        Err(self.fault(reason))
    }

    /// The text of a heading after its `#`.
    fn heading(&self, rest: &str) -> Result<String, OutlineFault> {
        if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
            return Err(self.fault("write a space after `#`"));
        }
        let text = one_line(rest);
        if text.is_empty() {
            return Err(self.fault("the heading is empty"));
        }
        self.check_length(&text, MAX_HEADING, "heading")?;
        Ok(text)
    }

    fn check_length(&self, text: &str, most: usize, what: &str) -> Result<(), OutlineFault> {
        let size = text.chars().count();
        if size > most {
            return Err(self.fault(format!("the {what} has {size} characters; {most} are allowed")));
        }
        Ok(())
    }

    fn read_title(&mut self, title: String) -> Result<(), OutlineFault> {
        if self.title.is_some() {
            return Err(self.fault("there is a title already: begin a section with `## `"));
        }
        self.title = Some(title);
        Ok(())
    }

    fn read_section(&mut self, heading: String) -> Result<(), OutlineFault> {
        self.check_title()?;
        if self.sections.len() == MAX_SECTIONS {
            return Err(self.fault(format!("an outline has at most {MAX_SECTIONS} sections")));
        }
        if let Some(before) = self.headings.insert(folded(&heading), self.line) {
            return Err(self.fault(format!("line {before} has the same heading")));
        }
        self.sections.push(DraftSection { heading, questions: Vec::new() });
        Ok(())
    }

    fn check_title(&self) -> Result<(), OutlineFault> {
        match self.title {
            Some(_) => Ok(()),
            None => Err(self.fault("the title comes first: `# ` and a title")),
        }
    }

    fn read_question(&mut self, text: &str) -> Result<(), OutlineFault> {
        self.check_title()?;
        let question = one_line(text);
        if question.is_empty() {
            return Err(self.fault("the question is empty"));
        }
        if self.count == MAX_QUESTIONS {
            return Err(self.fault(format!("an outline has at most {MAX_QUESTIONS} questions")));
        }
        if self.sections.is_empty() {
            return Err(
                self.fault("a question belongs to a section: write `## ` and a heading first")
            );
        }
        self.count += 1;
        self.note_question(&question)?;
        if let Some(section) = self.sections.last_mut() {
            section.questions.push(question);
        }
        Ok(())
    }

    /// Adds a line to the last question.
    fn continue_question(&mut self, text: &str) -> Result<(), OutlineFault> {
        let questions = self.sections.last_mut().map(|section| &mut section.questions);
        let Some(question) = questions.and_then(Vec::pop) else { return Ok(()) };
        self.questions.remove(&folded(&question));
        let question = one_line(&format!("{question} {text}"));
        self.note_question(&question)?;
        if let Some(section) = self.sections.last_mut() {
            section.questions.push(question);
        }
        Ok(())
    }

    fn note_question(&mut self, question: &str) -> Result<(), OutlineFault> {
        self.check_length(question, MAX_QUESTION, "question")?;
        match self.questions.insert(folded(question), self.line) {
            Some(before) => Err(self.fault(format!("line {before} has the same question"))),
            None => Ok(()),
        }
    }

    fn finish(self) -> Result<Draft, OutlineFault> {
        let end = OutlineFault { line: self.line.max(1), reason: String::new() };
        let reason = match (&self.title, self.sections.is_empty(), self.count) {
            (None, ..) => "an outline has a title: `# ` and a title",
            (_, true, _) => "an outline has a section: `## ` and a heading",
            (_, _, 0) => "an outline has a question: `- ` and a question",
            (Some(title), ..) => {
                return Ok(Draft { title: title.clone(), sections: self.sections });
            }
        };
        Err(OutlineFault { reason: reason.to_owned(), ..end })
    }
}

/// The text of an item of a list: after `-`, `*`, `+`, `1.` or `1)`, and a space.
fn item(text: &str) -> Option<&str> {
    let rest = match text.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let rest = &text[digits..];
            rest.strip_prefix(['.', ')']).filter(|_| (1..=9).contains(&digits))?
        }
    };
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then_some(rest)
}
