use std::io::{self, Read, Write};
use std::panic;
use std::process::ExitCode;

use clap::Args;
use documents::{Extracted, Limits, Options, Unreadable};

use reading::ReaderHeader;

/// Read the text of the document on standard input (the gateway runs this in its sandbox)
#[derive(Debug, Args)]
pub(crate) struct ExtractText {
    /// What the document is by its beginning.
    #[arg(long, default_value = "")]
    media_type: String,
    /// Bytes of the document that are taken.
    #[arg(long, default_value_t = Limits::default().input)]
    input: usize,
    /// Bytes of text that are given.
    #[arg(long, default_value_t = Limits::default().text)]
    text: usize,
}

impl ExtractText {
    /// Writes one line of JSON and, if the document could be read, its text behind it.
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let limits = Limits { input: self.input, text: self.text, ..Limits::default() };
        // One byte more than is taken, so that what is too large is found to be.
        let mut bytes = Vec::new();
        io::stdin().lock().take(limits.input as u64 + 1).read_to_end(&mut bytes)?;
        // A panic is reported in one line, with its location, for the log of the parent process.
        let read = panic::catch_unwind(move || {
            documents::extract(bytes, &Options::new(&self.media_type), &limits)
        });
        let (header, text) = match read {
            Ok(Ok(extracted)) => clean(extracted),
            Ok(Err(unreadable)) => (refused(&unreadable), String::new()),
            Err(_) => (ReaderHeader::Crashed, String::new()),
        };
        let mut stdout = io::stdout().lock();
        serde_json::to_writer(&mut stdout, &header)?;
        stdout.write_all(b"\n")?;
        stdout.write_all(text.as_bytes())?;
        stdout.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What a person would not see but a model would read is removed here, where a long text costs only this process time.
fn clean(extracted: Extracted) -> (ReaderHeader, String) {
    let (text, in_text) = proto::clean::text(&extracted.text);
    let (title, in_title) = extracted.meta.title.map_or((None, 0), |title| {
        let (title, removed) = proto::clean::text(&title);
        (Some(title), removed)
    });
    let header = ReaderHeader::Read {
        media_type: extracted.media_type,
        parts: extracted.parts,
        title,
        removed: extracted.hidden + in_text + in_title,
        truncated: extracted.truncated,
    };
    (header, text)
}

fn refused(unreadable: &Unreadable) -> ReaderHeader {
    ReaderHeader::Refused { kind: unreadable.kind().to_owned(), message: unreadable.to_string() }
}
