//! The YAML at the beginning of many Markdown files, which is about the text and no part of it.

/// More lines are no front matter.
const MAX_LINES: usize = 100;

/// The title that the front matter names, and the text below it; none if a text has no front matter.
pub(super) fn split(markdown: &str) -> Option<(Option<String>, &str)> {
    let text = markdown.trim_start_matches('\u{feff}');
    let mut lines = text.split_inclusive('\n');
    let mut at = lines.next().filter(|line| line.trim_end() == "---")?.len();
    let mut title = None;
    for (number, line) in lines.take(MAX_LINES).enumerate() {
        at += line.len();
        let written = line.trim_end();
        if number > 0 && matches!(written, "---" | "...") {
            return Some((title, &text[at..]));
        }
        let is_below = number > 0
            && (written.is_empty()
                || written.starts_with([' ', '\t', '#'])
                || written.starts_with("- "));
        if is_below {
            continue;
        }
        let (key, value) = written.split_once(':')?;
        let is_key = !key.is_empty()
            && key.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'));
        if !is_key || !(value.is_empty() || value.starts_with(' ')) {
            return None;
        }
        if key.eq_ignore_ascii_case("title") {
            let value = value.trim().trim_matches(['"', '\'']).trim();
            title = Some(value.to_owned()).filter(|value| !value.is_empty());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn front_matter_is_split_off() {
        let text = "---\ntitle: \"A: *b*\"\nauthor:\n  - Anna\ntags: [a]\n---\n\n# Body\n";
        assert_eq!(split(text), Some((Some("A: *b*".to_owned()), "\n# Body\n")));
        for other in ["---\n\na: b\n\n---\n", "---\ntext\n---\n", "---\na: b\n", "a: b\n---\n", ""]
        {
            assert_eq!(split(other), None, "{other}");
        }
    }
}
