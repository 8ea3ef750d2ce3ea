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
mod tests;
