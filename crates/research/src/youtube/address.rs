//! Which video a URL shows.

use url::Url;

use crate::scores::within;

const HOSTS: [&str; 3] = ["youtube.com", "youtube-nocookie.com", "youtu.be"];

/// The id of the video that a YouTube URL shows; `None` for other pages.
pub(crate) fn video_id(url: &Url) -> Option<&str> {
    let host = url.host_str()?;
    if !within(host, &HOSTS) {
        return None;
    }
    let mut segments = url.path_segments()?;
    let first = segments.next().unwrap_or_default();
    if host.ends_with("youtu.be") {
        return valid(first);
    }
    match first {
        "shorts" | "embed" | "live" | "v" | "e" => valid(segments.next()?),
        "watch" => id_in_query(url.query()?),
        _ => None,
    }
}

fn id_in_query(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| valid(pair.strip_prefix("v=")?))
}

/// An id has 11 characters that need no escape.
fn valid(id: &str) -> Option<&str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (id.len() == 11 && id.bytes().all(plain)).then_some(id)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn videos_are_found_in_every_form_of_address() {
        for url in [
            "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
            "https://m.youtube.com/watch?app=desktop&v=dQw4w9WgXcQ&t=10",
            "http://youtu.be/dQw4w9WgXcQ?si=x",
            "https://youtube.com/shorts/dQw4w9WgXcQ",
            "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ",
            "https://www.youtube.com/live/dQw4w9WgXcQ",
        ] {
            assert_eq!(video_id(&Url::parse(url).unwrap()), Some("dQw4w9WgXcQ"), "{url}");
        }
        for url in [
            "https://www.youtube.com/@channel",
            "https://www.youtube.com/watch?v=short",
            "https://www.youtube.com/watch?v=../../../etc",
            "https://notyoutube.com/watch?v=dQw4w9WgXcQ",
            "https://youtube.com.evil.test/watch?v=dQw4w9WgXcQ",
        ] {
            assert_eq!(video_id(&Url::parse(url).unwrap()), None, "{url}");
        }
    }
}
