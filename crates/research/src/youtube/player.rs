//! The player response within a watch page.

use serde_json::Value;

/// What a watch page says about its video.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Player {
    pub(crate) tracks: Vec<Track>,
    /// Which of the two patterns found the tracks.
    pub(crate) pattern: Option<&'static str>,
    pub(crate) title: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) published: Option<String>,
    pub(crate) description: Option<String>,
    /// Why the video does not play, in YouTube's words.
    pub(crate) unplayable: Option<String>,
}

/// A caption track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Track {
    pub(crate) url: String,
    pub(crate) language: String,
    /// Made by speech recognition.
    pub(crate) automatic: bool,
}

impl Player {
    /// Reads the page: the whole player response, else the list of caption tracks alone.
    pub(crate) fn read(page: &str) -> Self {
        let response = page
            .match_indices("ytInitialPlayerResponse")
            .take(20)
            .filter_map(|(at, name)| {
                object(page[at + name.len()..].trim_start().strip_prefix('=')?)
            })
            .next();
        let mut player = response.as_ref().map(Self::of_response).unwrap_or_default();
        if !player.tracks.is_empty() {
            player.pattern = Some("ytInitialPlayerResponse");
        } else if let Some(list) = after(page, "\"captionTracks\":").and_then(array) {
            player.tracks = tracks(&list);
            player.pattern = (!player.tracks.is_empty()).then_some("captionTracks");
        }
        let text = |key: &str| after(page, key).and_then(string);
        player.description = player.description.or_else(|| text("\"shortDescription\":"));
        player.title = player.title.or_else(|| title(page));
        player
    }

    fn of_response(response: &Value) -> Self {
        let details = &response["videoDetails"];
        let text = |value: &Value| {
            value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let playability = &response["playabilityStatus"];
        let plays = matches!(playability["status"].as_str(), None | Some("OK"));
        let reason = || text(&playability["reason"]).or_else(|| text(&playability["status"]));
        let list = &response["captions"]["playerCaptionsTracklistRenderer"]["captionTracks"];
        Self {
            tracks: tracks(list),
            pattern: None,
            title: text(&details["title"]),
            author: text(&details["author"]),
            published: text(&response["microformat"]["playerMicroformatRenderer"]["publishDate"]),
            description: text(&details["shortDescription"]),
            unplayable: if plays { None } else { reason() },
        }
    }

    /// The track to read: English before others, written by people before recognised.
    pub(crate) fn best_track(&self) -> Option<&Track> {
        let english = |track: &Track| track.language == "en" || track.language.starts_with("en-");
        self.tracks.iter().min_by_key(|track| (!english(track), track.automatic))
    }
}

fn tracks(list: &Value) -> Vec<Track> {
    let entries = list.as_array().into_iter().flatten();
    let track = |entry: &Value| {
        Some(Track {
            url: entry["baseUrl"].as_str().filter(|url| !url.is_empty())?.to_owned(),
            language: entry["languageCode"].as_str().unwrap_or_default().to_ascii_lowercase(),
            automatic: entry["kind"] == "asr",
        })
    };
    entries.filter_map(track).collect()
}

fn after<'a>(page: &'a str, key: &str) -> Option<&'a str> {
    page.split_once(key).map(|(_, rest)| rest)
}

/// The JSON value at the start of a text; what follows it is ignored.
fn value(text: &str) -> Option<Value> {
    serde_json::Deserializer::from_str(text).into_iter::<Value>().next()?.ok()
}

fn object(text: &str) -> Option<Value> {
    value(text).filter(Value::is_object)
}

fn array(text: &str) -> Option<Value> {
    value(text).filter(Value::is_array)
}

fn string(text: &str) -> Option<String> {
    value(text)?.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The title of the page, for one without a player response.
fn title(page: &str) -> Option<String> {
    let title = after(page, "<title>")?.split_once("</title>")?.0;
    let title = title.trim().trim_end_matches("- YouTube").trim();
    (!title.is_empty())
        .then(|| title.replace("&amp;", "&").replace("&#39;", "'").replace("&quot;", "\""))
}

#[cfg(test)]
mod tests;
