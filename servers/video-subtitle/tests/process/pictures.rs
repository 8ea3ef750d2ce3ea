//! Tracks of pictures: a Blu-ray track that the test writes itself, of text that ffmpeg draws.

use serde_json::json;

use super::client::Client;
use super::videos::Videos;
use super::{assert_same, fault};

const WIDTH: u16 = 640;
const HEIGHT: u16 = 60;

/// The pixels of a line of text, row by row.
fn draw(videos: &Videos, text: &str) -> Vec<u8> {
    videos.write("line.txt", text);
    videos.ffmpeg(&format!(
        "-f lavfi -i color=black:s={WIDTH}x{HEIGHT}:d=0.04:r=25 -vf drawtext=textfile=line.txt:fontsize=36:fontcolor=white:x=20:y=10 \
         -frames:v 1 -f rawvideo -pix_fmt gray line.raw"
    ));
    std::fs::read(videos.path("line.raw")).unwrap()
}

/// Runs of equal pixels, as Blu-ray has them.
fn encode(pixels: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    for row in pixels.chunks(usize::from(WIDTH)) {
        for run in row.chunk_by(|one, other| (*one > 127) == (*other > 127)) {
            let color = u8::from(run[0] > 127);
            let length = u16::try_from(run.len()).unwrap();
            let [high, low] = length.to_be_bytes();
            let flags = if color == 1 { 0x80 } else { 0 };
            encoded.push(0);
            if length < 64 {
                encoded.push(flags | low);
            } else {
                encoded.extend([flags | 0x40 | high, low]);
            }
            if color == 1 {
                encoded.push(color);
            }
        }
        encoded.extend([0, 0]);
    }
    encoded
}

/// One segment of the track.
fn segment(at_ms: u32, kind: u8, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap();
    [&b"PG"[..], &(at_ms * 90).to_be_bytes(), &[0; 4], &[kind], &length.to_be_bytes(), data]
        .concat()
}

/// A picture, or none, from a time on.
fn show(at_ms: u32, number: u8, picture: Option<&[u8]>) -> Vec<u8> {
    let [w, h, top] = [WIDTH, HEIGHT, 280].map(u16::to_be_bytes);
    let count = u8::from(picture.is_some());
    let screen = 360_u16.to_be_bytes();
    let mut composition = [&w[..], &screen, &[0x10, 0, number, 0x80, 0, 0, count]].concat();
    let window = [&[1, 0][..], &[0, 0], &top, &w, &h].concat();
    let mut segments = Vec::new();
    if let Some(picture) = picture {
        composition.extend([&[0, 0, 0, 0, 0, 0][..], &top].concat());
        let size = u32::try_from(picture.len() + 4).unwrap().to_be_bytes();
        let object = [&[0, 0, 0, 0xc0][..], &size[1..], &w, &h, picture].concat();
        let palette = [0, 0, 0, 16, 128, 128, 0, 1, 235, 128, 128, 255];
        segments.push(segment(at_ms, 0x14, &palette));
        segments.push(segment(at_ms, 0x15, &object));
    }
    let before = [segment(at_ms, 0x16, &composition), segment(at_ms, 0x17, &window)];
    [before.concat(), segments.concat(), segment(at_ms, 0x80, &[])].concat()
}

#[test]
fn pictures_are_read_with_tesseract() {
    let videos = Videos::new();
    let lines = ["The night ferry leaves", "from pier number seven"]
        .map(|text| encode(&draw(&videos, text)));
    let track = [
        // At the start, because ffmpeg begins to count at the first picture.
        show(0, 0, None),
        show(500, 1, Some(&lines[0])),
        show(1500, 2, None),
        show(2000, 3, Some(&lines[1])),
        show(2700, 4, None),
    ];
    videos.write("track.sup", track.concat());
    videos.ffmpeg(
        "-f lavfi -i testsrc=d=4:s=640x360:r=25 -i track.sup -map 0 -map 1 -c:s copy -metadata:s:s:0 language=eng film.mkv",
    );
    let film = videos.url("film.mkv");
    let mut client = Client::start(&videos.host, &[]);
    let read = client.answer("extract_subtitles", json!({"input_url": film}));
    assert_eq!(read["tracks"][0]["kind"], json!("image"), "{read}");
    assert_same(
        read["content"].as_str().unwrap(),
        "1\n00:00:00,500 --> 00:00:01,500\nThe night ferry leaves\n\n2\n00:00:02,000 --> 00:00:02,700\nfrom pier number seven\n\n",
    );
    let transcript =
        client.answer("generate_transcript", json!({"input_url": film, "format": "text"}));
    assert_eq!(transcript["content"], json!("The night ferry leaves\nfrom pier number seven"));

    let mut client = Client::start(&videos.host, &["--tesseract", "/nonexistent"]);
    let result = client.call("extract_subtitles", json!({"input_url": film}));
    assert_eq!(fault(&result)["code"], json!("UNSUPPORTED"), "{result}");
    let expected = json!({
        "program": "tesseract", "package": "tesseract-ocr", "fix": "apt install tesseract-ocr",
    });
    assert_eq!(fault(&result)["details"], expected);
}
