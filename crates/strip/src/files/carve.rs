//! Large answers on their way in: long runs of base64 are taken out of the JSON as it arrives, and marks left in their
//! place. What is left is small enough to be read, and the bytes are never copied.

use std::fmt;

use bytes::Bytes;
use uuid::Uuid;

/// A run of base64 that is as long as this is no word.
const LONG: usize = super::BINARY_BYTES / 3 * 4;

/// Takes JSON as it arrives, and takes long runs of base64 out of its texts.
#[derive(Debug)]
pub struct Carver {
    rest: Vec<u8>,
    in_text: bool,
    escaped: bool,
    /// How many characters of base64 came last.
    run: usize,
    open: Option<Open>,
    carved: Carved,
    bytes: usize,
}

/// A run that has not ended yet.
#[derive(Debug)]
enum Open {
    New(Run),
    /// So far it is the beginning of another: servers repeat their structured answers as text, and large ones need not be
    /// held twice.
    Again {
        known: usize,
        length: usize,
    },
}

/// A run of base64, in the pieces that it came in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) pieces: Vec<Bytes>,
    pub(super) length: usize,
}

impl Run {
    fn add(&mut self, piece: Bytes) {
        self.length += piece.len();
        self.pieces.push(piece);
    }

    /// Whether it goes on with these bytes at a place.
    fn has_at(&self, mut place: usize, mut bytes: &[u8]) -> bool {
        for piece in &self.pieces {
            if place >= piece.len() {
                place -= piece.len();
                continue;
            }
            let part = &piece[place..];
            let length = part.len().min(bytes.len());
            if part[..length] != bytes[..length] {
                return false;
            }
            bytes = &bytes[length..];
            place = 0;
            if bytes.is_empty() {
                break;
            }
        }
        bytes.is_empty()
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

    fn is_same(&self, other: &Self) -> bool {
        let bytes = |run: &Self| run.pieces.clone().into_iter().flatten();
        self.length == other.length && bytes(self).eq(bytes(other))
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::with_capacity(self.length);
        // It is base64, hence ASCII.
        self.pieces.iter().for_each(|piece| text.push_str(&String::from_utf8_lossy(piece)));
        text
    }
}

/// What was taken out of a JSON text, by marks that its author could not have guessed.
#[derive(Clone)]
pub struct Carved {
    secret: String,
    runs: Vec<Run>,
}

impl Default for Carver {
    fn default() -> Self {
        let carved = Carved { secret: Uuid::new_v4().simple().to_string(), runs: Vec::new() };
        let rest = Vec::new();
        Self { rest, in_text: false, escaped: false, run: 0, open: None, carved, bytes: 0 }
    }
}

impl Carver {
    /// Takes the next bytes.
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
                    let known = self.carved.runs.iter().position(|run| run.has_at(0, &begun));
                    self.open = Some(match known {
                        Some(known) => Open::Again { known, length },
                        None => Open::New(Run { pieces: vec![begun.into()], length }),
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
            Some(Open::Again { known, length }) => {
                let run = &self.carved.runs[*known];
                if run.has_at(*length, &piece) {
                    *length += piece.len();
                } else {
                    let mut run = run.prefix(*length);
                    run.add(piece);
                    self.open = Some(Open::New(run));
                }
            }
            None => {}
        }
    }

    /// How many bytes came in so far, and how many of them are left in the JSON.
    pub fn sizes(&self) -> (usize, usize) {
        (self.bytes, self.rest.len())
    }

    /// The JSON with marks in it, and what they stand for.
    pub fn finish(mut self) -> (Vec<u8>, Option<Carved>) {
        self.close();
        let carved = (!self.carved.runs.is_empty()).then_some(self.carved);
        (self.rest, carved)
    }

    fn close(&mut self) {
        let run = match self.open.take() {
            None => return,
            Some(Open::New(run)) => run,
            Some(Open::Again { known, length }) => self.carved.runs[known].prefix(length),
        };
        let known = self.carved.runs.iter().position(|known| known.is_same(&run));
        let at = known.unwrap_or_else(|| {
            self.carved.runs.push(run);
            self.carved.runs.len() - 1
        });
        self.rest.extend_from_slice(self.carved.mark(at).as_bytes());
    }
}

impl Carved {
    /// All marks are equally long, so that none is the beginning of another.
    fn mark(&self, at: usize) -> String {
        format!("powerstrip-run-{}-{at:06}", self.secret)
    }

    /// The run that a text stands for, with what stands before its mark, if nothing stands behind it.
    pub(super) fn run<'a>(&self, text: &'a str) -> Option<(&'a str, &Run)> {
        let (before, number) = text.rsplit_once(&format!("powerstrip-run-{}-", self.secret))?;
        let run = self.runs.get(number.parse::<usize>().ok().filter(|_| number.len() == 6)?)?;
        Some((before, run))
    }

    /// The text as it was.
    pub fn restored(&self, text: &str) -> String {
        let mut whole = text.to_owned();
        for at in 0..self.runs.len() {
            let mark = self.mark(at);
            if whole.contains(&mark) {
                whole = whole.replace(&mark, &self.runs[at].text());
            }
        }
        whole
    }

    /// Whether a text has a mark in it.
    pub(super) fn marks(&self, text: &str) -> bool {
        text.contains(&self.secret)
    }
}

impl fmt::Debug for Carved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} runs", self.runs.len())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
    use serde_json::{Value, json};

    use super::*;

    fn carve(json: &str, cut: usize) -> (String, Option<Carved>) {
        let mut carver = Carver::default();
        let bytes = Bytes::from(json.to_owned());
        for start in (0..bytes.len()).step_by(cut.max(1)) {
            carver.feed(&bytes.slice(start..bytes.len().min(start + cut.max(1))));
        }
        let (rest, carved) = carver.finish();
        (String::from_utf8(rest).unwrap(), carved)
    }

    #[test]
    fn what_is_long_is_taken_out_and_what_is_twice_once() {
        let long = "QUJD".repeat(20_000);
        let answer = json!({"pdf": long, "text": format!("{{\"pdf\":\"{long}\"}}"), "url": format!("data:a/b;base64,{long}"), "n": 5});
        for cut in [1, 7, 1_000, usize::MAX >> 1] {
            let (rest, carved) = carve(&answer.to_string(), cut);
            let carved = carved.unwrap();
            assert!(rest.len() < 600, "{rest}");
            assert_eq!(carved.runs.len(), 1);
            let left: Value = serde_json::from_str(&rest).unwrap();
            let (before, run) = carved.run(left["pdf"].as_str().unwrap()).unwrap();
            assert_eq!((before, run.text()), ("", long.clone()));
            assert_eq!(carved.run(left["url"].as_str().unwrap()).unwrap().0, "data:a/b;base64,");
            assert!(carved.run(left["text"].as_str().unwrap()).is_none());
            assert_eq!(carved.restored(&rest), answer.to_string());
        }
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
        fn whatever_is_taken_out_can_be_put_back(texts in prop::collection::vec(texts(), 0..4), cut in 1_usize..70_000) {
            let json = serde_json::to_string(&texts).unwrap();
            let (rest, carved) = carve(&json, cut);
            let _: Value = serde_json::from_str(&rest).unwrap();
            let whole = carved.map_or_else(|| rest.clone(), |carved| carved.restored(&rest));
            assert_eq!(whole, json);
        }
    }
}
