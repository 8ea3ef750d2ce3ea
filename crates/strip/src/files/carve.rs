//! Large answers on their way in: long runs of base64 are taken out of the JSON as it arrives, and marks left in their
//! place. What is left is small enough to be read, and the bytes are never copied.

use std::collections::HashMap;
use std::fmt;

use aws_lc_rs::digest::{Context, SHA256};
use bytes::Bytes;
use uuid::Uuid;

/// A run of base64 that is as long as this is no word.
const LONG: usize = super::BINARY_BYTES / 3 * 4;

/// More runs than this are left where they are: no honest answer has so many files in it.
const MAX_RUNS: usize = 256;

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
    /// The first run of each beginning, and the run of each sum: to find one takes no look at all the others.
    beginnings: HashMap<Sum, usize>,
    known: HashMap<Sum, usize>,
    bytes: usize,
}

type Sum = [u8; 32];

/// A run that has not ended yet.
#[derive(Debug)]
enum Open {
    New(Run),
    /// So far it is the beginning of another: servers repeat their structured answers as text, and large ones need not be
    /// held twice.
    Again {
        known: usize,
        length: usize,
        /// The piece of the other and the place in it where it goes on.
        place: (usize, usize),
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

    /// Where it goes on after these bytes, which stand at a place; none if others do.
    fn after(&self, place: (usize, usize), mut bytes: &[u8]) -> Option<(usize, usize)> {
        let (mut piece, mut at) = place;
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

    fn sum(&self) -> Sum {
        let mut sum = Context::new(&SHA256);
        self.pieces.iter().for_each(|piece| sum.update(piece));
        sum_of(sum)
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::with_capacity(self.length);
        // It is base64, hence ASCII.
        self.pieces.iter().for_each(|piece| text.push_str(&String::from_utf8_lossy(piece)));
        text
    }
}

fn sum_of(context: Context) -> Sum {
    let mut sum = Sum::default();
    sum.copy_from_slice(context.finish().as_ref());
    sum
}

fn sum_of_bytes(bytes: &[u8]) -> Sum {
    let mut sum = Context::new(&SHA256);
    sum.update(bytes);
    sum_of(sum)
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
        Self {
            rest: Vec::new(),
            in_text: false,
            escaped: false,
            run: 0,
            open: None,
            carved,
            beginnings: HashMap::new(),
            known: HashMap::new(),
            bytes: 0,
        }
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
                    let known = self.beginnings.get(&sum_of_bytes(&begun)).and_then(|known| {
                        Some((*known, self.carved.runs[*known].after((0, 0), &begun)?))
                    });
                    self.open = Some(match known {
                        Some((known, place)) => Open::Again { known, length, place },
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
            Some(Open::Again { known, length, place }) => {
                let run = &self.carved.runs[*known];
                if let Some(next) = run.after(*place, &piece) {
                    *length += piece.len();
                    *place = next;
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
            Some(Open::Again { known, length, .. }) => self.carved.runs[known].prefix(length),
        };
        let (sum, next) = (run.sum(), self.carved.runs.len());
        let at = match self.known.get(&sum) {
            Some(known) => *known,
            None if next == MAX_RUNS => {
                run.pieces.iter().for_each(|piece| self.rest.extend_from_slice(piece));
                return;
            }
            None => {
                let beginning = run.prefix(LONG).sum();
                self.beginnings.entry(beginning).or_insert(next);
                self.known.insert(sum, next);
                self.carved.runs.push(run);
                next
            }
        };
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
        let begins = format!("powerstrip-run-{}-", self.secret);
        let mut whole = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(&begins) {
            whole.push_str(before);
            let number = after.get(..6).and_then(|number| number.parse::<usize>().ok());
            rest = match number.and_then(|number| self.runs.get(number)) {
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

    #[test]
    fn very_many_runs_that_are_almost_the_same_cost_no_more_than_their_length() {
        let begins = "QUJD".repeat(LONG / 4);
        let runs: Vec<_> = (0..3_000).map(|n| format!("{begins}{n:04}")).collect();
        // Some differ where they begin, too.
        let others = (0..300).map(|n| format!("{n:04}{begins}"));
        let json =
            serde_json::to_string(&runs.into_iter().chain(others).collect::<Vec<_>>()).unwrap();
        let began = std::time::Instant::now();
        let (rest, carved) = carve(&json, 64 << 10);
        let carved = carved.unwrap();
        assert_eq!(carved.runs.len(), MAX_RUNS);
        assert!(rest.len() > json.len() - (MAX_RUNS + 1) * (LONG + 10), "the others are left");
        assert!(carved.restored(&rest) == json);
        // To compare each with all others takes minutes.
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
        fn whatever_is_taken_out_can_be_put_back(texts in prop::collection::vec(texts(), 0..4), cut in 1_usize..70_000) {
            let json = serde_json::to_string(&texts).unwrap();
            let (rest, carved) = carve(&json, cut);
            let _: Value = serde_json::from_str(&rest).unwrap();
            let whole = carved.map_or_else(|| rest.clone(), |carved| carved.restored(&rest));
            assert_eq!(whole, json);
        }
    }
}
