//! YouTube on loopback, in the shapes in which it answers.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// How a video has its captions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Captions {
    /// In a whole player response, the track as JSON.
    PlayerJson,
    /// In a list of tracks without a player response, the track as XML.
    ListXml,
    /// Only at the address of the player, in British English.
    TimedText,
    /// The track is an empty 200, except for the page's own player.
    Gated,
    /// None, and a description.
    None,
    /// Neither captions nor a description.
    Nothing,
}

impl Captions {
    /// The id of the video that has them so.
    pub fn video(self) -> &'static str {
        match self {
            Self::PlayerJson => "playerjson1",
            Self::ListXml => "listxml0001",
            Self::TimedText => "timedtext01",
            Self::Gated => "gated000001",
            Self::None => "none0000001",
            Self::Nothing => "nothing0001",
        }
    }

    fn of(id: &str) -> Option<Self> {
        let all = [
            Self::PlayerJson,
            Self::ListXml,
            Self::TimedText,
            Self::Gated,
            Self::None,
            Self::Nothing,
        ];
        all.into_iter().find(|shape| shape.video() == id)
    }
}

/// A fake of YouTube.
pub struct YouTube {
    address: SocketAddr,
    record: Arc<Record>,
    task: JoinHandle<()>,
}

struct Record {
    address: SocketAddr,
    requests: Mutex<Vec<String>>,
}

impl YouTube {
    /// What every transcript says.
    pub const TRANSCRIPT: &str = "Welcome to this video about tides. The moon pulls at the sea.";
    /// The description of the videos.
    pub const DESCRIPTION: &str = "A short film about tides.\nFilmed at the coast.";

    /// Starts it on a free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let record = Arc::new(Record { address, requests: Mutex::default() });
        let router = Router::new()
            .route("/watch", get(watch))
            .route("/api/timedtext", get(timedtext))
            .with_state(Arc::clone(&record));
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the fake runs");
        });
        Self { address, record, task }
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The paths that were asked for, with their queries.
    pub fn requests(&self) -> Vec<String> {
        self.record.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for YouTube {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Debug, Deserialize)]
struct VideoQuery {
    #[serde(default)]
    v: String,
    #[serde(default)]
    lang: String,
    #[serde(default)]
    fmt: String,
    /// What only the page's own player sends.
    #[serde(default)]
    pot: String,
}

impl Record {
    fn note(&self, path: &str, asked: &VideoQuery) {
        let line =
            format!("{path}?v={}&lang={}&fmt={}&pot={}", asked.v, asked.lang, asked.fmt, asked.pot);
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    fn track(&self, id: &str) -> Value {
        json!([
            {"baseUrl": format!("http://{}/api/timedtext?v={id}&lang=de", self.address), "languageCode": "de"},
            {"baseUrl": format!("http://{}/api/timedtext?v={id}&lang=en&signature=x", self.address), "languageCode": "en", "kind": "asr"},
        ])
    }
}

async fn watch(State(record): State<Arc<Record>>, Query(asked): Query<VideoQuery>) -> Response {
    record.note("/watch", &asked);
    let Some(shape) = Captions::of(&asked.v) else { return StatusCode::NOT_FOUND.into_response() };
    let id = shape.video();
    let mut details = json!({
        "videoId": id, "title": "Tides in a minute", "author": "Ann Lee", "shortDescription": YouTube::DESCRIPTION,
    });
    if shape == Captions::Nothing {
        details["shortDescription"] = "".into();
    }
    let mut response = json!({
        "playabilityStatus": {"status": "OK"},
        "videoDetails": details,
        "microformat": {"playerMicroformatRenderer": {"publishDate": "2024-05-03T00:00:00-07:00"}},
    });
    if matches!(shape, Captions::PlayerJson | Captions::Gated) {
        let tracks =
            json!({"playerCaptionsTracklistRenderer": {"captionTracks": record.track(id)}});
        response["captions"] = tracks;
    }
    // JSON within a script has its ampersands escaped.
    let response = response.to_string().replace('&', "\\u0026");
    let player = format!(
        "<script>fetch('/api/timedtext?v={id}&lang=en&fmt=json3&pot=token').catch(() => 0);</script>"
    );
    let script = match shape {
        Captions::ListXml => {
            format!(
                "<script>window.config = {{\"captionTracks\":{},\"audioTracks\":[]}};</script>",
                record.track(id)
            )
        }
        Captions::Gated => format!(
            "<script>var ytInitialPlayerResponse = {response};var meta = {{}};</script>{player}"
        ),
        _ => format!("<script>var ytInitialPlayerResponse = {response};var meta = {{}};</script>"),
    };
    let page = format!(
        "<!doctype html><html><head><title>Tides in a minute - YouTube</title></head><body><div id=\"player\"></div>{script}</body></html>"
    );
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}

async fn timedtext(State(record): State<Arc<Record>>, Query(asked): Query<VideoQuery>) -> Response {
    record.note("/api/timedtext", &asked);
    let Some(shape) = Captions::of(&asked.v) else { return StatusCode::NOT_FOUND.into_response() };
    let (first, second) = YouTube::TRANSCRIPT.split_once(". ").expect("two sentences");
    let json = json!({"wireMagic": "pb3", "events": [
        {"tStartMs": 0, "dDurationMs": 2000, "segs": [{"utf8": format!("{first}.")}]},
        {"tStartMs": 2000, "dDurationMs": 2000, "segs": [{"utf8": second}]},
    ]});
    let json = ([(header::CONTENT_TYPE, "application/json")], json.to_string()).into_response();
    match (shape, asked.lang.as_str()) {
        (Captions::PlayerJson, "en") => json,
        (Captions::ListXml, "en") => {
            let xml = format!(
                "<?xml version=\"1.0\"?><transcript><text start=\"0\" dur=\"2\">{first}.</text><text start=\"2\" dur=\"2\">{second}</text></transcript>"
            );
            ([(header::CONTENT_TYPE, "text/xml")], xml).into_response()
        }
        (Captions::TimedText, "en-GB") => json,
        (Captions::Gated, _) if asked.pot == "token" => json,
        (Captions::Gated, _) => ([(header::CONTENT_TYPE, "text/html")], "").into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}
