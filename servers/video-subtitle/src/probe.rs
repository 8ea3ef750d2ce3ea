//! What a file has: tracks, and the packets of subtitle tracks.

use std::path::Path;

use kit::jobs::{JobCtx, JobResult};
use kit::{Engine, Fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use subtitles::Packet;

use crate::input::JobInput;
use crate::media::Media;

/// ffprobe's report without packets.
const MAX_REPORT: u64 = 8 << 20;

/// ffprobe's report with packets, each as a dump of several times its size.
const MAX_PACKETS: u64 = 128 << 20;

/// More streams are not listed.
const MAX_STREAMS: usize = 200;

/// The longest title, in characters.
const MAX_TITLE: usize = 200;

/// Codecs whose subtitles are pictures.
const PICTURE_CODECS: [&str; 4] = ["dvd_subtitle", "hdmv_pgs_subtitle", "dvb_subtitle", "xsub"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Text,
    Image,
}

/// A subtitle track.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SubtitleTrack {
    /// The number among the subtitle tracks, from 0; `track` takes it.
    pub(crate) index: usize,
    pub(crate) codec: Option<String>,
    /// As the file says, such as `ger`.
    pub(crate) language: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) kind: Kind,
    pub(crate) default: bool,
    pub(crate) forced: bool,
}

/// The subtitle tracks of a file, and their packets.
#[derive(Debug)]
pub(crate) struct SubtitleStreams {
    pub(crate) tracks: Vec<SubtitleTrack>,
    pub(crate) engine: Engine,
    streams: Vec<RawStream>,
    /// `None` if those of all tracks together are too many.
    packets: Option<Vec<RawPacket>>,
}

/// What the container stores once for a track, and its packets.
#[derive(Debug, Default)]
pub(crate) struct TrackData {
    pub(crate) head: Vec<u8>,
    pub(crate) packets: Vec<Packet>,
}

#[derive(Debug, Default, Deserialize)]
struct Report {
    #[serde(default)]
    program_version: RawVersion,
    #[serde(default)]
    streams: Vec<RawStream>,
    #[serde(default)]
    packets: Vec<RawPacket>,
    #[serde(default)]
    format: RawFormat,
    #[serde(default)]
    chapters: Vec<RawChapter>,
}

#[derive(Debug, Default, Deserialize)]
struct RawVersion {
    version: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RawStream {
    index: u64,
    codec_name: Option<String>,
    codec_type: Option<String>,
    extradata: Option<String>,
    width: Option<u32>,
    height: Option<u32>,
    channels: Option<u32>,
    sample_rate: Option<String>,
    avg_frame_rate: Option<String>,
    #[serde(default)]
    disposition: Disposition,
    #[serde(default)]
    tags: Tags,
}

#[derive(Debug, Default, Deserialize)]
struct Disposition {
    #[serde(default)]
    default: u8,
    #[serde(default)]
    forced: u8,
}

#[derive(Debug, Default, Deserialize)]
struct Tags {
    language: Option<String>,
    title: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RawPacket {
    stream_index: u64,
    pts_time: Option<String>,
    duration_time: Option<String>,
    data: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct RawFormat {
    format_name: Option<String>,
    duration: Option<String>,
    bit_rate: Option<String>,
    #[serde(default)]
    tags: Tags,
}

#[derive(Debug, Deserialize)]
struct RawChapter {
    start_time: Option<String>,
    end_time: Option<String>,
    #[serde(default)]
    tags: Tags,
}

/// The answer of the operation `probe`.
#[derive(Debug, Serialize)]
struct Description {
    /// ffmpeg's name of the container.
    format: Option<String>,
    duration_ms: Option<u64>,
    size: u64,
    bit_rate: Option<u64>,
    title: Option<String>,
    streams: Vec<Stream>,
    chapters: Vec<Chapter>,
    engine: Engine,
}

#[derive(Debug, Serialize)]
struct Stream {
    index: u64,
    kind: Option<String>,
    codec: Option<String>,
    language: Option<String>,
    title: Option<String>,
    width: Option<u32>,
    height: Option<u32>,
    frames_per_second: Option<f64>,
    channels: Option<u32>,
    sample_rate: Option<u32>,
    default: bool,
    forced: bool,
}

#[derive(Debug, Serialize)]
struct Chapter {
    start_ms: Option<u64>,
    end_ms: Option<u64>,
    title: Option<String>,
}

/// What is known about the picture and the sound.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shape {
    pub(crate) duration_ms: Option<u64>,
    pub(crate) size: Option<(u32, u32)>,
    pub(crate) has_video: bool,
    pub(crate) has_audio: bool,
}

/// The operation `probe`.
pub(crate) async fn describe(
    media: &Media,
    input: &JobInput,
    ctx: &JobCtx,
) -> Result<JobResult, Fault> {
    let fetched = media.fetch(input, ctx).await?;
    ctx.step(0.6, "reading the tracks");
    let report = read_all(media, ctx, fetched.path()).await?;
    let streams = report.streams.into_iter().take(MAX_STREAMS).map(|stream| Stream {
        index: stream.index,
        language: language(&stream.tags),
        title: title(&stream.tags),
        kind: stream.codec_type,
        codec: stream.codec_name,
        width: stream.width,
        height: stream.height,
        frames_per_second: stream.avg_frame_rate.as_deref().and_then(ratio),
        channels: stream.channels,
        sample_rate: stream.sample_rate.and_then(|rate| rate.parse().ok()),
        default: stream.disposition.default == 1,
        forced: stream.disposition.forced == 1,
    });
    let chapters = report.chapters.iter().take(MAX_STREAMS).map(|chapter| Chapter {
        start_ms: chapter.start_time.as_deref().and_then(milliseconds),
        end_ms: chapter.end_time.as_deref().and_then(milliseconds),
        title: title(&chapter.tags),
    });
    let description = Description {
        streams: streams.collect(),
        chapters: chapters.collect(),
        format: report.format.format_name,
        duration_ms: report.format.duration.as_deref().and_then(milliseconds),
        size: fetched.size,
        bit_rate: report.format.bit_rate.and_then(|rate| rate.parse().ok()),
        title: title(&report.format.tags),
        engine: engine(report.program_version),
    };
    JobResult::new(&description, [])
}

/// The length of a file and the size of its picture.
pub(crate) async fn read_shape(media: &Media, ctx: &JobCtx, file: &Path) -> Result<Shape, Fault> {
    let report = read_all(media, ctx, file).await?;
    let of_kind = |kind: &str| {
        report.streams.iter().find(|stream| stream.codec_type.as_deref() == Some(kind))
    };
    let video = of_kind("video");
    Ok(Shape {
        duration_ms: report.format.duration.as_deref().and_then(milliseconds),
        size: video.and_then(|video| Some((video.width?, video.height?))),
        has_video: video.is_some(),
        has_audio: of_kind("audio").is_some(),
    })
}

async fn read_all(media: &Media, ctx: &JobCtx, file: &Path) -> Result<Report, Fault> {
    let arguments = ["-show_format", "-show_streams", "-show_chapters"];
    parse(&media.probe(ctx, file, &arguments, MAX_REPORT).await?)
}

/// What is read about streams.
const STREAM_ENTRIES: &str = "stream=index,codec_name,codec_type,extradata:stream_tags=language,title:stream_disposition=default,forced";

/// What is read about packets.
const PACKET_ENTRIES: &str = ":packet=stream_index,pts_time,duration_time";

async fn read_entries(
    media: &Media,
    ctx: &JobCtx,
    file: &Path,
    select: &str,
    entries: &str,
) -> Result<Report, Fault> {
    // Headers are enough: without the first option frames of the video are decoded.
    let arguments =
        ["-nofind_stream_info", "-select_streams", select, "-show_data", "-show_entries", entries];
    parse(&media.probe(ctx, file, &arguments, MAX_PACKETS).await?)
}

/// Reads the subtitle tracks with their packets in one run: most of the time of a small file is the start of ffprobe.
pub(crate) async fn read_subtitles(
    media: &Media,
    ctx: &JobCtx,
    file: &Path,
) -> Result<SubtitleStreams, Fault> {
    let all = format!("{STREAM_ENTRIES}{PACKET_ENTRIES},data");
    match read_entries(media, ctx, file, "s", &all).await {
        Ok(report) => Ok(SubtitleStreams::new(report, true)),
        // Tracks of pictures may have too much data: then only that of the chosen track is read.
        Err(fault) => match read_entries(media, ctx, file, "s", STREAM_ENTRIES).await {
            Ok(report) => Ok(SubtitleStreams::new(report, false)),
            Err(_) => Err(fault),
        },
    }
}

impl SubtitleStreams {
    fn new(report: Report, has_packets: bool) -> Self {
        let streams = report.streams.iter().take(MAX_STREAMS).enumerate();
        let tracks = streams.map(|(index, stream)| {
            let codec = stream.codec_name.clone();
            let is_picture = codec.as_deref().is_some_and(|it| PICTURE_CODECS.contains(&it));
            SubtitleTrack {
                index,
                codec,
                language: language(&stream.tags),
                title: title(&stream.tags),
                kind: if is_picture { Kind::Image } else { Kind::Text },
                default: stream.disposition.default == 1,
                forced: stream.disposition.forced == 1,
            }
        });
        Self {
            tracks: tracks.collect(),
            engine: engine(report.program_version),
            streams: report.streams,
            packets: has_packets.then_some(report.packets),
        }
    }

    /// The data of a track; that of pictures is left out where it is not read yet.
    pub(crate) async fn track_data(
        &self,
        media: &Media,
        ctx: &JobCtx,
        file: &Path,
        index: usize,
    ) -> Result<TrackData, Fault> {
        if let Some(packets) = &self.packets {
            return Ok(TrackData::new(self.streams.get(index), packets));
        }
        let is_text = self.tracks.get(index).is_some_and(|track| track.kind == Kind::Text);
        let data = if is_text { ",data" } else { "" };
        let entries = format!("{STREAM_ENTRIES}{PACKET_ENTRIES}{data}");
        let report = read_entries(media, ctx, file, &format!("s:{index}"), &entries).await?;
        Ok(TrackData::new(report.streams.first(), &report.packets))
    }
}

impl TrackData {
    fn new(stream: Option<&RawStream>, packets: &[RawPacket]) -> Self {
        let Some(stream) = stream else { return Self::default() };
        let own = packets.iter().filter(|packet| packet.stream_index == stream.index);
        let packets = own.filter_map(|packet| {
            Some(Packet {
                start_ms: milliseconds(packet.pts_time.as_deref()?)?,
                duration_ms: packet.duration_time.as_deref().and_then(milliseconds),
                data: packet.data.as_deref().map(bytes_of_dump).unwrap_or_default(),
            })
        });
        let head = stream.extradata.as_deref().map(bytes_of_dump).unwrap_or_default();
        Self { head, packets: packets.collect() }
    }
}

fn parse(json: &[u8]) -> Result<Report, Fault> {
    // Names and titles of files may be of any encoding.
    let text = String::from_utf8_lossy(json);
    serde_json::from_str(&text).map_err(|error| {
        tracing::warn!(%error, "ffprobe prints something else than expected");
        Fault::internal(
            "ffprobe prints something else than expected; install a version from 4.4 on",
        )
    })
}

fn engine(version: RawVersion) -> Engine {
    Engine { name: "ffprobe".to_owned(), version: version.version }
}

fn language(tags: &Tags) -> Option<String> {
    let language = visible(tags.language.as_ref()?, 20);
    (language != "und" && !language.is_empty()).then_some(language)
}

fn title(tags: &Tags) -> Option<String> {
    Some(visible(tags.title.as_ref()?, MAX_TITLE))
}

/// The beginning of an untrusted text on one line, without what people would not see.
fn visible(text: &str, most: usize) -> String {
    let start: String = text.chars().take(most).collect();
    let (clean, _) = kit::clean::text(&start);
    clean.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Seconds with a fraction.
fn milliseconds(seconds: &str) -> Option<u64> {
    let seconds: f64 = seconds.parse().ok()?;
    let is_time = (0.0..=360_000.0).contains(&seconds);
    // Within the range above, so nothing is cut off.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    is_time.then(|| (seconds * 1000.0).round() as u64)
}

/// A fraction such as `30000/1001`.
fn ratio(text: &str) -> Option<f64> {
    let (above, below) = text.split_once('/')?;
    let (above, below): (f64, f64) = (above.parse().ok()?, below.parse().ok()?);
    let value = above / below;
    value.is_finite().then_some(value)
}

/// The bytes of ffprobe's dump: on each line an offset, 16 bytes in columns 10 to 50, and the same as text.
fn bytes_of_dump(dump: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in dump.lines() {
        let line = line.as_bytes();
        let columns = line.get(10..).map_or(&[][..], |rest| &rest[..rest.len().min(41)]);
        let digits = columns.iter().filter_map(|byte| char::from(*byte).to_digit(16));
        let digits: Vec<u32> = digits.collect();
        bytes.extend(
            digits.chunks_exact(2).filter_map(|pair| u8::try_from(pair[0] * 16 + pair[1]).ok()),
        );
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dumps_become_bytes() {
        let dump = "\n00000000: 4865 6c6c 6f2c 2077 6f72 6c64 2e20 6162  Hello, world. ab\n00000010: 63                                       c\n";
        assert_eq!(bytes_of_dump(dump), b"Hello, world. abc");
        assert_eq!(bytes_of_dump(""), b"");
        assert_eq!(bytes_of_dump("0000: é"), b"");
    }

    #[test]
    fn numbers_of_reports_are_checked() {
        assert_eq!(milliseconds("1.2345"), Some(1235));
        for text in ["N/A", "-1", "1e300", "NaN", ""] {
            assert_eq!(milliseconds(text), None, "{text}");
        }
        assert_eq!(ratio("25/1"), Some(25.0));
        assert_eq!((ratio("0/0"), ratio("1/0"), ratio("x")), (None, None, None));
    }

    #[test]
    fn reports_with_strange_values_are_read() {
        let report = r#"{"streams": [{"index": 3, "codec_name": "subrip", "tags": {"language": "und", "title": "a\tb\u202e\udb40\udc41"},
            "disposition": {"default": 1, "forced": 0}}, {"index": 4, "codec_name": "hdmv_pgs_subtitle"}],
            "packets": [{"stream_index": 3, "pts_time": "N/A", "data": ""}, {"stream_index": 3, "pts_time": "0.5", "data": "\n00000000: 61"}]}"#;
        let streams = SubtitleStreams::new(parse(report.as_bytes()).unwrap(), true);
        let [text, image] = &streams.tracks[..] else { panic!("two tracks") };
        assert_eq!(
            (text.language.clone(), text.title.as_deref(), text.default),
            (None, Some("a b"), true)
        );
        assert_eq!((image.index, image.kind), (1, Kind::Image));
        let packet = Packet { start_ms: 500, duration_ms: None, data: b"a".to_vec() };
        let all = streams.packets.as_deref().unwrap();
        assert_eq!(TrackData::new(streams.streams.first(), all).packets, [packet]);
        assert!(TrackData::new(None, all).packets.is_empty());
        assert!(parse(b"ffprobe: not JSON").is_err());
    }
}
