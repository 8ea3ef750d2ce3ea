//! Removes from scraped text what a reader of the page would not see, and what is written for a model instead of a reader:
//! invisible characters, script and data targets, chat markers, long base64 runs. Counts what it removes.

mod instructions;
mod markers;
mod targets;

pub(crate) use instructions::find_instructions;

/// Bytes that a run of base64 may have.
const LONGEST_BASE64: usize = 1_000;
/// Removing one thing can put together another. A text that still changes after this many rounds was built to do so.
const ROUNDS: usize = 16;

/// What was removed from a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Removed {
    /// Characters that are not shown: zero-width, bidi, control and tag characters, ANSI sequences, comments.
    pub(crate) invisible: usize,
    /// Links and images with `javascript:` or `data:` targets.
    pub(crate) targets: usize,
    /// Markers such as `<|im_start|>`.
    pub(crate) markers: usize,
    /// Long runs of base64.
    pub(crate) base64: usize,
}

impl Removed {
    /// The number of removals.
    pub(crate) fn total(self) -> usize {
        self.invisible + self.targets + self.markers + self.base64
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.invisible += other.invisible;
        self.targets += other.targets;
        self.markers += other.markers;
        self.base64 += other.base64;
    }
}

/// The text without what is removed, and what that was.
pub(crate) fn sanitize(text: String) -> (String, Removed) {
    let (mut text, mut removed) = (text, Removed::default());
    for _ in 0..ROUNDS {
        let (next, found) = round(&text);
        if found.total() == 0 {
            return (text, removed);
        }
        text = next;
        removed.add(found);
    }
    let before = text.len();
    text.retain(|character| !matches!(character, '<' | '[' | '(' | '|' | '&'));
    removed.markers += before - text.len();
    let (text, base64) = remove_base64(&text);
    removed.base64 += base64;
    let (text, invisible) = proto::clean::text(&text);
    removed.invisible += invisible;
    (text, removed)
}

fn round(text: &str) -> (String, Removed) {
    let (text, invisible) = proto::clean::text(text);
    let (text, targets) = targets::remove(&text);
    let (text, base64) = remove_base64(&text);
    let (text, markers) = markers::remove(&text);
    (text, Removed { invisible, targets, markers, base64 })
}

/// Removes runs of base64, also those that are broken into lines.
fn remove_base64(text: &str) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let mut removed = 0;
    let mut rest = text;
    while let Some(start) = rest.find(is_base64) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = end_of_base64(rest);
        let (run, after) = rest.split_at(end);
        if run.len() > LONGEST_BASE64 && run.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
            removed += 1;
        } else {
            out.push_str(run);
        }
        rest = after;
    }
    out.push_str(rest);
    (out, removed)
}

fn is_base64(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '+' | '/' | '=' | '-' | '_')
}

/// The end of the run at the start of a text. Lines of one length belong to one run, as mail and PEM files write them.
fn end_of_base64(text: &str) -> usize {
    let line = |text: &str| text.find(|c| !is_base64(c)).unwrap_or(text.len());
    let first = line(text);
    if first < 60 {
        return first;
    }
    let mut end = first;
    loop {
        let rest = &text[end..];
        let next_line = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'));
        let Some(after) = next_line else { break };
        let next = line(after);
        if next == 0 || next > first {
            break;
        }
        end = text.len() - after.len() + next;
        if next < first {
            break;
        }
    }
    end
}

#[cfg(test)]
mod tests;
