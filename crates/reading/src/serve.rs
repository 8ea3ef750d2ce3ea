//! The reader's side: reads one document or picture after the other until its pipe closes.

use std::io::{self, Read};
use std::panic;
use std::process::exit;

use documents::{Extracted, Limits, Metadata, Options, Unreadable};

use crate::frame::{self, Answer, Request, Task, VERSION};
use crate::page_starts::page_starts;
use crate::picture;
use crate::reader::ARGUMENT;
use crate::work::{self, Work};

/// Runs this process as a reader if its first argument says so; it ends with the pipe then. Otherwise returns at once.
pub fn maybe_run_reader() {
    maybe_run_reader_with(&[]);
}

/// Like [`maybe_run_reader`], for a program whose readers have functions of its own.
pub fn maybe_run_reader_with(works: &[Work]) {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == ARGUMENT) {
        let served = serve(works, &mut io::stdin().lock(), &mut io::stdout().lock());
        exit(i32::from(served.is_err()));
    }
}

fn serve(works: &[Work], requests: &mut impl Read, answers: &mut impl io::Write) -> io::Result<()> {
    frame::write(answers, &Answer::Ready { version: VERSION }, &[])?;
    while let Some(request) = frame::read_header::<Request>(requests)? {
        if request.length > request.input {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut bytes = vec![0; usize::try_from(request.length).map_err(io::Error::other)?];
        requests.read_exact(&mut bytes)?;
        // A panic is printed with its location, for the log of the program that asked.
        let (answer, content) = panic::catch_unwind(move || match &request.task {
            Task::Copy(asked) => picture::scale_down(&bytes, *asked),
            Task::Work { name, options } => work::run(works, name, options.clone(), bytes),
            Task::Read => {
                let (answer, text) = read(bytes, &request);
                (answer, text.into_bytes())
            }
        })
        .unwrap_or((Answer::Crashed, Vec::new()));
        frame::write(answers, &answer, &content)?;
    }
    Ok(())
}

fn read(bytes: Vec<u8>, request: &Request) -> (Answer, String) {
    let whole = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
    let limits =
        Limits { input: whole(request.input), text: whole(request.text), ..Limits::default() };
    let options = Options {
        media_type: &request.media_type,
        charset: request.charset.as_deref(),
        url: request.url.as_deref(),
        form: request.form,
    };
    match documents::extract(bytes, &options, &limits) {
        Ok(extracted) => clean(extracted),
        Err(unreadable) => (refused(&unreadable), String::new()),
    }
}

/// Removes text that is invisible to people but read by models. In the reader, a long text costs only this process time.
fn clean(extracted: Extracted) -> (Answer, String) {
    let (text, in_text) = proto::clean::text(&extracted.text);
    let pages = page_starts(&extracted.text, &text, extracted.pages);
    let (meta, in_meta) = clean_metadata(extracted.meta);
    let answer = Answer::Read {
        media_type: extracted.media_type,
        parts: extracted.parts,
        pages,
        meta: Box::new(meta),
        removed: extracted.hidden + in_text + in_meta,
        hidden_text: extracted.hidden_text,
        truncated: extracted.truncated,
        unreadable_pages: extracted.unreadable_pages,
        length: text.len() as u64,
    };
    (answer, text)
}

fn clean_metadata(mut meta: Metadata) -> (Metadata, usize) {
    let mut removed = 0;
    for value in meta.values_mut() {
        let (cleaned, count) = proto::clean::text(value);
        (*value, removed) = (cleaned, removed + count);
    }
    (meta, removed)
}

fn refused(unreadable: &Unreadable) -> Answer {
    Answer::Refused { kind: unreadable.kind().to_owned(), message: unreadable.to_string() }
}
