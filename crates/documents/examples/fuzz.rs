//! Reads changed copies of documents for a while: `fuzz SECONDS FILE...`. Keeps each copy that panics or takes longer than
//! a second in the working folder, and then fails.
#![allow(clippy::print_stdout, reason = "a program of the command line")]

use std::error::Error;
use std::io::{Cursor, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use documents::{Form, Limits, Options, extract, sniff};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// Copies that take longer are kept.
const SLOW: Duration = Duration::from_secs(1);

/// What documents are made of; parts of a document that mean something break more than random bytes.
const PIECES: [&str; 24] = [
    "<",
    ">",
    "</",
    "/>",
    "\"",
    "'",
    "&#x202e;",
    "<!--",
    "<table>",
    "</table>",
    "<tr><td>",
    "<ul><li>",
    "<pre>",
    "<svg>",
    "<template>",
    "<script>",
    "<< /Type /Page >>",
    "endobj",
    "stream\n",
    "[ 0 R ]",
    " BT ",
    " Tj ET ",
    "-1",
    "99999999999",
];

/// A generator whose numbers depend on its start alone.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % limit.max(1)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().ok_or("usage: fuzz SECONDS FILE...")?.parse()?;
    let originals = arguments.map(std::fs::read).collect::<Result<Vec<_>, _>>()?;
    if originals.is_empty() {
        return Err("usage: fuzz SECONDS FILE...".into());
    }
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut tried, mut kept) = (0, 0);
    while Instant::now() < end {
        let original = &originals[random.below(originals.len())];
        let copy = match changed_package(original, &mut random) {
            Some(package) => package,
            None => changed(original, &mut random),
        };
        let form =
            [Form::Text, Form::Markdown, Form::MainText, Form::MainMarkdown][random.below(4)];
        tried += 1;
        let start = Instant::now();
        let read = catch_unwind(AssertUnwindSafe(|| {
            let options = Options::new(sniff(&copy, None)).with_form(form);
            extract(copy.clone(), &options, &Limits::default()).is_ok()
        }));
        if read.is_err() || start.elapsed() > SLOW {
            kept += 1;
            let name = format!("fuzz-{tried}.bin");
            println!("{name}: {form:?}, {:?}, panicked: {}", start.elapsed(), read.is_err());
            std::fs::write(name, &copy)?;
        }
    }
    println!("{tried} documents read, {kept} kept");
    if kept == 0 { Ok(()) } else { Err("some documents panicked or took long".into()) }
}

/// A copy with up to eight changes: other bytes, pieces put in, ranges dropped, doubled or moved.
fn changed(original: &[u8], random: &mut Random) -> Vec<u8> {
    let mut copy = original.to_vec();
    for _ in 0..=random.below(8) {
        let at = random.below(copy.len());
        let end = (at + 1 + random.below(200)).min(copy.len());
        match random.below(6) {
            0 => copy.get_mut(at).into_iter().for_each(|byte| *byte = random.below(256) as u8),
            1 => drop(copy.splice(at..at, PIECES[random.below(PIECES.len())].bytes())),
            2 => drop(copy.splice(
                at..at,
                PIECES[random.below(PIECES.len())].repeat(random.below(2_000)).into_bytes(),
            )),
            3 => drop(copy.drain(at..end)),
            4 => copy.truncate(at),
            _ => {
                let range = copy[at..end].to_vec();
                let to = random.below(copy.len());
                copy.splice(to..to, range);
            }
        }
    }
    copy
}

/// A copy of a package of which one part is changed; nothing if it is no package.
fn changed_package(original: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut package = ZipArchive::new(Cursor::new(original)).ok()?;
    let target = random.below(package.len());
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..package.len() {
        let mut part = package.by_index(index).ok()?;
        let mut bytes = Vec::new();
        part.read_to_end(&mut bytes).ok()?;
        if index == target {
            bytes = changed(&bytes, random);
        }
        writer.start_file(part.name().ok()?, SimpleFileOptions::default()).ok()?;
        writer.write_all(&bytes).ok()?;
    }
    Some(writer.finish().ok()?.into_inner())
}
