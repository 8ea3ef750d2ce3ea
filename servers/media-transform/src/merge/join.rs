//! Copies pages into a new PDF, in the confined process. Each page becomes an object that a new page draws, with its fonts and
//! pictures as they are.

use documents::Unreadable;
use hayro_write::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_write::{ChunkSettings, ExtractionQuery, extract};
use kit::{Done, Refused, Work};
use pdf_writer::{Content, Finish as _, Name, Rect, Ref, Str};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::links::{Link, links_of};
use crate::parts::{parse, split};

/// The most pages of the new document.
const MAX_PAGES: usize = 2_000;
/// The largest new document, in bytes.
const MAX_BYTES: usize = 64 << 20;
const PAGE: Name<'_> = Name(b"P");

/// Merges PDFs.
pub(crate) const MERGE: Work = Work::new("merge", run);

/// The result of a merge.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) pages: usize,
    /// Links within the documents, which have no place to lead to.
    pub(super) dropped_links: usize,
    pub(super) form_fields: bool,
    /// Notes, stamps, highlights and drawings.
    pub(super) dropped_marks: usize,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Options {
    /// The length of each file.
    pub(crate) lengths: Vec<usize>,
    /// The pages of each file, from 1; none is all.
    pub(crate) ranges: Vec<Vec<(usize, usize)>>,
}

fn run(options: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    let Options { lengths, ranges } = parse(options)?;
    let files = split(&lengths, bytes)?;
    let mut joined = Joined::new();
    for (at, file) in files.into_iter().enumerate() {
        let pdf = open(file).map_err(|error| in_file(at, &error.into()))?;
        let pages = chosen(&pdf, ranges.get(at).map_or(&[], Vec::as_slice), at)?;
        if joined.kids.len() + pages.len() > MAX_PAGES {
            let why = format!("they have more than {MAX_PAGES} pages; merge fewer");
            return Err(Refused::new("too_large", why));
        }
        joined.add(&pdf, &pages).map_err(|error| in_file(at, &error))?;
    }
    joined.finish()
}

fn in_file(at: usize, error: &Refused) -> Refused {
    Refused::new(&error.reason, format!("file {}: {}", at + 1, error.message))
}

/// Opens a PDF. An empty password is tried.
fn open(bytes: Vec<u8>) -> Result<Pdf, Unreadable> {
    Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(
            DecryptionError::PasswordProtected | DecryptionError::UnsupportedAlgorithm,
        ) => Unreadable::Encrypted,
        LoadPdfError::Decryption(error) => {
            Unreadable::Damaged { why: format!("its encryption: {error:?}") }
        }
        LoadPdfError::Invalid => {
            Unreadable::Damaged { why: "no pages can be found in it".to_owned() }
        }
    })
}

/// The pages that are asked for, from 0.
fn chosen(pdf: &Pdf, ranges: &[(usize, usize)], at: usize) -> Result<Vec<usize>, Refused> {
    let count = pdf.pages().len();
    if count == 0 {
        return Err(Refused::new("damaged", format!("file {}: it has no pages", at + 1)));
    }
    if ranges.is_empty() {
        return Ok((0..count).collect());
    }
    let mut pages = Vec::new();
    for (first, last) in ranges {
        if *last > count {
            let why = format!("file {}: there is no page {last}; it has {count}", at + 1);
            return Err(Refused::new("pages", why));
        }
        pages.extend(first - 1..*last);
        if pages.len() > MAX_PAGES {
            return Err(Refused::new("too_large", format!("more than {MAX_PAGES} pages")));
        }
    }
    Ok(pages)
}

/// The new document.
struct Joined {
    file: pdf_writer::Pdf,
    next: Ref,
    tree: Ref,
    kids: Vec<Ref>,
    dropped_links: usize,
    form_fields: bool,
    dropped_marks: usize,
}

impl Joined {
    fn new() -> Self {
        let mut next = Ref::new(2);
        let tree = next.bump();
        Self {
            file: pdf_writer::Pdf::new(),
            next,
            tree,
            kids: Vec::new(),
            dropped_links: 0,
            form_fields: false,
            dropped_marks: 0,
        }
    }

    fn add(&mut self, pdf: &Pdf, pages: &[usize]) -> Result<(), Refused> {
        let damaged =
            || Refused::new("damaged", "a page cannot be copied; save it again and send that");
        let queries: Vec<_> =
            pages.iter().map(|page| ExtractionQuery::new_xobject(*page)).collect();
        let next = &mut self.next;
        let copied = extract(pdf, Box::new(|| next.bump()), ChunkSettings::default(), &queries)
            .map_err(|_| damaged())?;
        self.file.extend(&copied.chunk);
        if self.file.len() > MAX_BYTES {
            return Err(Refused::new("too_large", "the merged document has more than 64 MB"));
        }
        let sources = pdf.pages();
        for (page, object) in pages.iter().zip(copied.root_refs) {
            let source = sources.get(*page).ok_or_else(damaged)?;
            let (links, others) = links_of(source);
            self.dropped_links += others.links;
            self.form_fields |= others.has_fields;
            self.dropped_marks += others.marks;
            self.add_page(object.map_err(|_| damaged())?, source.render_dimensions(), &links);
        }
        Ok(())
    }

    fn add_page(&mut self, object: Ref, (width, height): (f32, f32), links: &[Link]) {
        let (page, content) = (self.next.bump(), self.next.bump());
        let annotations: Vec<Ref> = links.iter().map(|_| self.next.bump()).collect();
        self.kids.push(page);
        let mut written = self.file.page(page);
        written.parent(self.tree).media_box(Rect::new(0.0, 0.0, width, height)).contents(content);
        written.resources().x_objects().pair(PAGE, object);
        if !annotations.is_empty() {
            written.annotations(annotations.iter().copied());
        }
        written.finish();
        let mut drawing = Content::new();
        drawing.x_object(PAGE);
        self.file.stream(content, &drawing.finish());
        for (link, reference) in links.iter().zip(annotations) {
            let [x1, y1, x2, y2] = link.area;
            let mut annotation = self.file.annotation(reference);
            annotation.subtype(pdf_writer::types::AnnotationType::Link);
            annotation.rect(Rect::new(x1, y1, x2, y2)).border(0.0, 0.0, 0.0, None);
            let mut action = annotation.action();
            action.action_type(pdf_writer::types::ActionType::Uri).uri(Str(&link.url));
        }
    }

    fn finish(mut self) -> Result<Done, Refused> {
        let count = i32::try_from(self.kids.len()).unwrap_or(i32::MAX);
        let report = Report {
            pages: self.kids.len(),
            dropped_links: self.dropped_links,
            form_fields: self.form_fields,
            dropped_marks: self.dropped_marks,
        };
        self.file.pages(self.tree).kids(self.kids).count(count);
        self.file.catalog(Ref::new(1)).pages(self.tree);
        Ok(Done { value: json!(report), bytes: self.file.finish() })
    }
}
