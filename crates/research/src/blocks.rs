//! Markdown as blocks: paragraphs, headings, and code with the blank lines in it.

/// The blocks of a Markdown text, in order and without the blank lines between them.
pub fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut lines = rest.split_inclusive('\n');
        let blank: usize =
            lines.by_ref().take_while(|line| line.trim().is_empty()).map(str::len).sum();
        rest = &rest[blank..];
        let mut fence: Option<Fence<'_>> = None;
        let mut end = 0;
        for line in rest.split_inclusive('\n') {
            if fence.is_none() && line.trim().is_empty() {
                break;
            }
            end += line.len();
            fence = next_fence(fence, line);
        }
        let block = &rest[..end];
        rest = &rest[end..];
        (end > 0).then(|| block.trim_end())
    })
}

/// The marker that opens a code block, with its indentation: a block within a list is closed at the same level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fence<'a>(pub(crate) &'a str);

/// The fence that is open at the end of a text.
pub(crate) fn open_fence(text: &str) -> Option<Fence<'_>> {
    text.lines().fold(None, next_fence)
}

/// The open fence after a line.
pub(crate) fn next_fence<'a>(open: Option<Fence<'a>>, line: &'a str) -> Option<Fence<'a>> {
    let start = line.trim_start_matches(' ');
    let Some(marker) = start.chars().next().filter(|marker| matches!(marker, '`' | '~')) else {
        return open;
    };
    let length = start.len() - start.trim_start_matches(marker).len();
    let (run, after) = start.split_at(length);
    match open {
        _ if length < 3 => open,
        // Only a run of the same kind, at least as long and with nothing after it, closes a block.
        Some(fence) if run.starts_with(fence.0.trim_start()) && after.trim().is_empty() => None,
        Some(fence) => Some(fence),
        None if marker == '`' && after.contains('`') => None,
        None => Some(Fence(&line[..line.len() - after.len()])),
    }
}

/// Whether a block is a heading such as `## Title`.
pub fn is_heading(block: &str) -> bool {
    let title = block.trim_start_matches('#');
    (1..=6).contains(&(block.len() - title.len()))
        && title.starts_with(' ')
        && !block.contains('\n')
}

/// The headings of a Markdown text, those in code left out.
pub fn headings(text: &str) -> impl Iterator<Item = &str> {
    let mut fence = None;
    text.lines().filter(move |line| {
        let inside = fence.is_some();
        fence = next_fence(fence, line);
        !inside && is_heading(line)
    })
}

#[cfg(test)]
mod tests;
