//! Line breaks that are intended: after a title, and between entries of a list without marks.

use std::borrow::Cow;

/// The text with an empty line at each intended line break, so that no sentence crosses it. A break is intended if the
/// next begins with a capital, and the line had room for its first word or no sentence has ended so far: a title.
pub fn part_lines(text: &str) -> Cow<'_, str> {
    if !text.trim().contains('\n') {
        return Cow::Borrowed(text);
    }
    let mut parted = String::with_capacity(text.len() + 16);
    let mut titled = true;
    for paragraph in paragraphs(text) {
        let width = paragraph.lines().map(width).max().unwrap_or_default();
        let mut lines = paragraph.split_inclusive('\n').peekable();
        while let Some(line) = lines.next() {
            parted.push_str(line);
            titled &= !line.contains(['.', '!', '?', '。']);
            let next = lines.peek().and_then(|next| next.split_whitespace().next());
            if next.is_some_and(|next| {
                next.starts_with(char::is_uppercase)
                    && (titled || self::width(line) + 1 + next.chars().count() <= width)
            }) {
                parted.push('\n');
                titled = false;
            }
        }
    }
    Cow::Owned(parted)
}

/// The text in parts, each up to and with an empty line.
fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut end = 0;
        for line in rest.split_inclusive('\n') {
            end += line.len();
            if line.trim().is_empty() {
                break;
            }
        }
        let (paragraph, after) = rest.split_at(end);
        rest = after;
        (!paragraph.is_empty()).then_some(paragraph)
    })
}

fn width(line: &str) -> usize {
    line.trim_end().chars().count()
}

#[cfg(test)]
mod tests {
    use super::part_lines;

    #[test]
    fn a_title_is_parted_from_the_text_and_wrapped_lines_are_not() {
        let text = "Surveillance robot\nThe building industry is the major industry of Hong\nKong as in many other countries of\nthe world.";
        assert_eq!(
            part_lines(text),
            "Surveillance robot\n\nThe building industry is the major industry of Hong\nKong as in many other countries of\nthe world."
        );
        assert_eq!(part_lines("one line"), "one line");
        assert_eq!(part_lines("a\n\nb\n"), "a\n\nb\n");
        assert_eq!(part_lines(""), "");
    }
}
