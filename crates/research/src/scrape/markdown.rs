//! Whether a text is Markdown.

/// Signs of Markdown in a text that has not been declared as such; this many different ones are enough.
const ENOUGH: usize = 2;
/// Bytes of a link's text or target, so that brackets without a partner are not searched for in a whole page.
const LONGEST_PART: usize = 1_000;

/// Whether a text looks like Markdown: no HTML document, and at least two kinds of Markdown syntax.
pub(crate) fn looks_like_markdown(text: &str) -> bool {
    if is_html(text) {
        return false;
    }
    let lines = || text.lines().map(str::trim_start).take(2_000);
    let heading = lines().any(|line| {
        let title = line.trim_start_matches('#');
        (1..=6).contains(&(line.len() - title.len())) && title.starts_with(' ')
    });
    let underlined = text.lines().zip(text.lines().skip(1)).take(2_000).any(|(title, line)| {
        let line = line.trim_end();
        line.len() > 2
            && !title.trim().is_empty()
            && (line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-'))
    });
    let bullet = |line: &str| ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark));
    let numbered = |line: &str| {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < line.len() && rest.starts_with(". ")
    };
    let list = lines().filter(|line| bullet(line) || numbered(line)).count() >= 2;
    let signs = [
        heading || underlined,
        list,
        has_link(text),
        lines().any(|line| line.starts_with("```") || line.starts_with("~~~")),
        lines().any(|line| line.starts_with('|') && line.contains("--")),
        lines().any(|line| line.starts_with("> ")),
        text.matches("**").nth(1).is_some(),
    ];
    signs.into_iter().filter(|sign| *sign).count() >= ENOUGH
}

/// Whether a text is an HTML document, whatever its type says.
pub(crate) fn is_html(text: &str) -> bool {
    let start = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let start = &start[..start.floor_char_boundary(1_000)].to_ascii_lowercase();
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| start.starts_with(tag))
        || start.starts_with("<!--") && start.contains("<html")
}

/// `[text](target)`, each part shorter than [`LONGEST_PART`].
fn has_link(text: &str) -> bool {
    text.match_indices("](").take(100).any(|(at, _)| {
        let before = &text[text.ceil_char_boundary(at.saturating_sub(LONGEST_PART))..at];
        let after = &text[at..text.floor_char_boundary(at + LONGEST_PART)];
        let open = before.rfind(['[', '\n']).is_some_and(|open| before[open..].starts_with('['));
        let close = after.find([')', '\n']).is_some_and(|close| after[close..].starts_with(')'));
        open && close
    })
}

#[cfg(test)]
mod tests;
