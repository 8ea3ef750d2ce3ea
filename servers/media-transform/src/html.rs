//! Pictures of HTML, which its reader leaves out: each is replaced by a word before the page is read, and the word by the picture
//! afterwards.

use markup::{escape_line, is_safe_url, picture_data};

/// More pictures are left out.
const MAX_PICTURES: usize = 500;

/// HTML without its pictures.
#[derive(Debug, Default)]
pub(crate) struct WithoutPictures {
    pub(crate) html: String,
    /// The word in the place of each, and the picture in Markdown.
    pictures: Vec<(String, String)>,
}

/// Replaces pictures by words.
pub(crate) fn take_pictures(html: &str) -> WithoutPictures {
    let mut taken = WithoutPictures::default();
    // A word that the page does not have.
    let mut word = "picturehere".to_owned();
    while html.contains(&word) {
        word.push('x');
    }
    let lower = html.to_ascii_lowercase();
    let mut at = 0;
    while let Some(start) = lower[at..].find("<img").map(|start| at + start) {
        let Some(end) = end_of_tag(&html[start..]).map(|end| start + end) else { break };
        taken.html.push_str(&html[at..start]);
        let tag = &html[start + 4..end];
        let markdown = if taken.pictures.len() < MAX_PICTURES { picture(tag) } else { None };
        if let Some(markdown) = markdown {
            let word = format!("{word}{}z", taken.pictures.len());
            taken.html.push_str(&word);
            taken.pictures.push((word, markdown));
        }
        at = end + 1;
    }
    taken.html.push_str(&html[at..]);
    taken
}

impl WithoutPictures {
    /// Puts the pictures back.
    pub(crate) fn restore(&self, markdown: &str) -> String {
        self.pictures
            .iter()
            .fold(markdown.to_owned(), |text, (word, picture)| text.replace(word, picture))
    }
}

/// Where the tag ends; brackets in quotes do not end it.
fn end_of_tag(tag: &str) -> Option<usize> {
    let mut quote = None;
    tag.char_indices().find_map(|(at, c)| {
        match (quote, c) {
            (None, '>') => return Some(at),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
        None
    })
}

fn picture(tag: &str) -> Option<String> {
    let url = attribute(tag, "src")?;
    let url: String = url.split_ascii_whitespace().collect();
    if picture_data(&url).is_none() && !is_safe_url(&url) {
        return None;
    }
    let alt = attribute(tag, "alt").unwrap_or_default();
    let alt = escape_line(&alt).replace(['[', ']', '\n', '\r'], " ");
    Some(format!("![{}](<{}>)", alt.trim(), url.replace(['<', '>'], "")))
}

/// The value of an attribute in quotes, without the usual entities.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let mut at = 0;
    while let Some(found) = lower[at..].find(name).map(|found| at + found) {
        at = found + name.len();
        let is_whole = lower[..found].ends_with(|c: char| c.is_ascii_whitespace() || c == '"');
        let rest = tag[at..].trim_start();
        let Some(value) = rest.strip_prefix('=').filter(|_| is_whole) else { continue };
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let value = value[1..].split(quote).next()?;
        let entities =
            [("&quot;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
        return Some(
            entities.iter().fold(value.to_owned(), |text, (from, to)| text.replace(from, to)),
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_survive_the_reader() {
        let html = "<p>a <IMG alt='A > \"b\"' data-src=\"x\" src=\"data:image/png;base64,AA==\"> b<img src=\"javascript:x\">\
            <img src='https://e.org/p.png'> picturehere</p><img";
        let taken = take_pictures(html);
        assert!(
            !taken.html.contains("data:") && !taken.html.contains("javascript"),
            "{}",
            taken.html
        );
        let read = taken.html.replace("<p>", "").replace("</p>", "");
        let restored = taken.restore(&read);
        assert_eq!(
            restored,
            "a ![A > \"b\"](<data:image/png;base64,AA==>) b![](<https://e.org/p.png>) picturehere<img"
        );
    }
}
