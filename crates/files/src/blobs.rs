//! Replaces long base64 in JSON by placeholders while the JSON arrives. The rest is small enough to be parsed, and the
//! bytes are not copied.

use std::collections::HashMap;
use std::fmt;

use aws_lc_rs::digest::{Context, SHA256};
use bytes::Bytes;
use uuid::Uuid;

/// Binary of more bytes than this is stored, and callers get a reference.
pub const BINARY_BYTES: usize = 16 * 1024;

/// The shortest base64 that is extracted.
const LONG: usize = BINARY_BYTES / 3 * 4;

/// Further blobs are left in place: no normal answer contains so many files.
const MAX_BLOBS: usize = 256;

/// Extracts long base64 from the strings of JSON that arrives in chunks.
#[derive(Debug)]
pub struct BlobExtractor {
    rest: Vec<u8>,
    in_text: bool,
    escaped: bool,
    /// How many characters of base64 came last.
    run: usize,
    open: Option<Open>,
    blobs: Blobs,
    /// The first blob by the digest of its beginning, and each blob by its digest, so that finding one is constant time.
    beginnings: HashMap<Digest, usize>,
    known: HashMap<Digest, usize>,
    bytes: usize,
}

type Digest = [u8; 32];

/// A blob that has not ended yet.
#[derive(Debug)]
enum Open {
    New(Blob),
    /// So far equal to a known blob: servers repeat their structured answers as text, and large ones are held once.
    Again {
        known: usize,
        length: usize,
        /// The piece of the known blob, and the offset in it, where the comparison continues.
        position: (usize, usize),
    },
}

/// A long base64 text, in the pieces in which it arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Blob {
    pub(crate) pieces: Vec<Bytes>,
    pub(crate) length: usize,
}

impl Blob {
    fn add(&mut self, piece: Bytes) {
        self.length += piece.len();
        self.pieces.push(piece);
    }

    /// The position after these bytes if they are found at `position`.
    fn after(&self, position: (usize, usize), mut bytes: &[u8]) -> Option<(usize, usize)> {
        let (mut piece, mut at) = position;
        while !bytes.is_empty() {
            let part = self.pieces.get(piece)?.get(at..)?;
            let length = part.len().min(bytes.len());
            if part[..length] != bytes[..length] {
                return None;
            }
            bytes = &bytes[length..];
            (piece, at) = if length == part.len() { (piece + 1, 0) } else { (piece, at + length) };
        }
        Some((piece, at))
    }

    fn prefix(&self, mut length: usize) -> Self {
        let mut prefix = Self::default();
        for piece in &self.pieces {
            let part = piece.slice(..length.min(piece.len()));
            length -= part.len();
            prefix.add(part);
            if length == 0 {
                break;
            }
        }
        prefix
    }

    fn digest(&self) -> Digest {
        let mut digest = Context::new(&SHA256);
        self.pieces.iter().for_each(|piece| digest.update(piece));
        finish_digest(digest)
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::with_capacity(self.length);
        // Base64 is ASCII.
        self.pieces.iter().for_each(|piece| text.push_str(&String::from_utf8_lossy(piece)));
        text
    }
}

fn finish_digest(context: Context) -> Digest {
    let mut digest = Digest::default();
    digest.copy_from_slice(context.finish().as_ref());
    digest
}

fn digest_of(bytes: &[u8]) -> Digest {
    let mut digest = Context::new(&SHA256);
    digest.update(bytes);
    finish_digest(digest)
}

/// The base64 that was extracted from a JSON text. The author of the text cannot guess the placeholders.
#[derive(Clone)]
pub struct Blobs {
    secret: String,
    blobs: Vec<Blob>,
}

impl Default for BlobExtractor {
    fn default() -> Self {
        let blobs = Blobs { secret: Uuid::new_v4().simple().to_string(), blobs: Vec::new() };
        Self {
            rest: Vec::new(),
            in_text: false,
            escaped: false,
            run: 0,
            open: None,
            blobs,
            beginnings: HashMap::new(),
            known: HashMap::new(),
            bytes: 0,
        }
    }
}

impl BlobExtractor {
    /// Takes the next chunk.
    pub fn feed(&mut self, chunk: &Bytes) {
        let mut from = 0;
        for (at, &byte) in chunk.iter().enumerate() {
            if !self.in_text {
                self.in_text = byte == b'"';
                continue;
            }
            let encoded =
                byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
            if self.open.is_some() {
                if encoded {
                    continue;
                }
                self.grow(chunk.slice(from..at));
                from = at;
                self.close();
            }
            if self.escaped {
                self.escaped = false;
                self.run = 0;
            } else if encoded {
                self.run += 1;
                if self.run >= LONG {
                    self.rest.extend_from_slice(&chunk[from..=at]);
                    from = at + 1;
                    let begun = self.rest.split_off(self.rest.len() - self.run);
                    let length = begun.len();
                    let known = self.beginnings.get(&digest_of(&begun)).and_then(|known| {
                        Some((*known, self.blobs.blobs[*known].after((0, 0), &begun)?))
                    });
                    self.open = Some(match known {
                        Some((known, position)) => Open::Again { known, length, position },
                        None => Open::New(Blob { pieces: vec![begun.into()], length }),
                    });
                    self.run = 0;
                }
            } else {
                self.run = 0;
                self.escaped = byte == b'\\';
                self.in_text = byte != b'"';
            }
        }
        if self.open.is_some() {
            self.grow(chunk.slice(from..));
        } else {
            self.rest.extend_from_slice(&chunk[from..]);
        }
        self.bytes += chunk.len();
    }

    fn grow(&mut self, piece: Bytes) {
        match &mut self.open {
            Some(Open::New(run)) => run.add(piece),
            Some(Open::Again { known, length, position }) => {
                let run = &self.blobs.blobs[*known];
                if let Some(next) = run.after(*position, &piece) {
                    *length += piece.len();
                    *position = next;
                } else {
                    let mut run = run.prefix(*length);
                    run.add(piece);
                    self.open = Some(Open::New(run));
                }
            }
            None => {}
        }
    }

    /// How many bytes arrived so far, and how many of them are left in the JSON.
    pub fn sizes(&self) -> (usize, usize) {
        (self.bytes, self.rest.len())
    }

    /// The JSON with placeholders, and the blobs that they replace.
    pub fn finish(mut self) -> (Vec<u8>, Option<Blobs>) {
        self.close();
        let blobs = (!self.blobs.blobs.is_empty()).then_some(self.blobs);
        (self.rest, blobs)
    }

    fn close(&mut self) {
        let run = match self.open.take() {
            None => return,
            Some(Open::New(run)) => run,
            Some(Open::Again { known, length, .. }) => self.blobs.blobs[known].prefix(length),
        };
        let (digest, next) = (run.digest(), self.blobs.blobs.len());
        let at = match self.known.get(&digest) {
            Some(known) => *known,
            None if next == MAX_BLOBS => {
                run.pieces.iter().for_each(|piece| self.rest.extend_from_slice(piece));
                return;
            }
            None => {
                let beginning = run.prefix(LONG).digest();
                self.beginnings.entry(beginning).or_insert(next);
                self.known.insert(digest, next);
                self.blobs.blobs.push(run);
                next
            }
        };
        self.rest.extend_from_slice(self.blobs.placeholder(at).as_bytes());
    }
}

impl Blobs {
    /// All placeholders have the same length, so that none is a prefix of another.
    fn placeholder(&self, at: usize) -> String {
        format!("powerstrip-run-{}-{at:06}", self.secret)
    }

    /// The blob whose placeholder ends a text, and the text before the placeholder.
    pub(crate) fn find<'a>(&self, text: &'a str) -> Option<(&'a str, &Blob)> {
        let (before, number) = text.rsplit_once(&format!("powerstrip-run-{}-", self.secret))?;
        let run = self.blobs.get(number.parse::<usize>().ok().filter(|_| number.len() == 6)?)?;
        Some((before, run))
    }

    /// The text with its placeholders replaced by the blobs.
    pub fn restore(&self, text: &str) -> String {
        let begins = format!("powerstrip-run-{}-", self.secret);
        let mut whole = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(&begins) {
            whole.push_str(before);
            let number = after.get(..6).and_then(|number| number.parse::<usize>().ok());
            rest = match number.and_then(|number| self.blobs.get(number)) {
                Some(run) => {
                    whole.push_str(&run.text());
                    &after[6..]
                }
                None => {
                    whole.push_str(&begins);
                    after
                }
            };
        }
        whole + rest
    }

    /// Whether a text contains a placeholder.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        text.contains(&self.secret)
    }
}

impl fmt::Debug for Blobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} blobs", self.blobs.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
    use serde_json::{Value, json};

    use super::*;

    fn extract(json: &str, cut: usize) -> (String, Option<Blobs>) {
        let mut extractor = BlobExtractor::default();
        let bytes = Bytes::from(json.to_owned());
        for start in (0..bytes.len()).step_by(cut.max(1)) {
            extractor.feed(&bytes.slice(start..bytes.len().min(start + cut.max(1))));
        }
        let (rest, blobs) = extractor.finish();
        (String::from_utf8(rest).unwrap(), blobs)
    }

    #[test]
    fn long_base64_is_extracted_once() {
        let long = "QUJD".repeat(20_000);
        let answer = json!({"pdf": long, "text": format!("{{\"pdf\":\"{long}\"}}"), "url": format!("data:a/b;base64,{long}"), "n": 5});
        for cut in [1, 7, 1_000, usize::MAX >> 1] {
            let (rest, blobs) = extract(&answer.to_string(), cut);
            let blobs = blobs.unwrap();
            assert!(rest.len() < 600, "{rest}");
            assert_eq!(blobs.blobs.len(), 1);
            let left: Value = serde_json::from_str(&rest).unwrap();
            let (before, run) = blobs.find(left["pdf"].as_str().unwrap()).unwrap();
            assert_eq!((before, run.text()), ("", long.clone()));
            assert_eq!(blobs.find(left["url"].as_str().unwrap()).unwrap().0, "data:a/b;base64,");
            assert!(blobs.find(left["text"].as_str().unwrap()).is_none());
            assert_eq!(blobs.restore(&rest), answer.to_string());
        }
    }

    #[test]
    fn many_similar_blobs_take_linear_time() {
        let begins = "QUJD".repeat(LONG / 4);
        let blobs: Vec<_> = (0..3_000).map(|n| format!("{begins}{n:04}")).collect();
        // Some differ at the beginning.
        let others = (0..300).map(|n| format!("{n:04}{begins}"));
        let json =
            serde_json::to_string(&blobs.into_iter().chain(others).collect::<Vec<_>>()).unwrap();
        let began = std::time::Instant::now();
        let (rest, blobs) = extract(&json, 64 << 10);
        let blobs = blobs.unwrap();
        assert_eq!(blobs.blobs.len(), MAX_BLOBS);
        assert!(
            rest.len() > json.len() - (MAX_BLOBS + 1) * (LONG + 10),
            "the others are left in place"
        );
        assert!(blobs.restore(&rest) == json);
        // Comparing each with all others would take minutes.
        assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
    }

    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("QUJD".repeat(LONG / 4 + 1)),
            Just("QUJD".repeat(LONG / 4 + 1) + "Rg"),
            Just("QUJD".repeat(LONG / 2)),
            Just("a".repeat(LONG - 1)),
            Just("\"\\\\\n".to_owned()),
            any::<String>(),
        ];
        prop::collection::vec(piece, 0..4).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn extracted_base64_can_be_restored(texts in prop::collection::vec(texts(), 0..4), cut in 1_usize..70_000) {
            let json = serde_json::to_string(&texts).unwrap();
            let (rest, blobs) = extract(&json, cut);
            let _: Value = serde_json::from_str(&rest).unwrap();
            let whole = blobs.map_or_else(|| rest.clone(), |blobs| blobs.restore(&rest));
            assert_eq!(whole, json);
        }
    }
}
