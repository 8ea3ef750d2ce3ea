//! `extract_document`: a document page by page.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use kit::{Ctx, Document, Engine, Fault, GivenFile, Linked, ReadDocument, StoredRef};
use ocr::searchable::{Recognized, Searchable};
use ocr::word::{Word, mean_confidence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engines::{Chosen, Engines, Read};
use crate::pages;
use crate::works::{self, DRAW, PREPARE, Preparation, SEARCHABLE};

/// A page with fewer letters and digits in its text is taken for a scan with a stamp or a page number.
const FEWEST_CHARACTERS: usize = 16;

/// No page is begun after this time; the answer says where to go on.
const BEGIN_WITHIN: Duration = Duration::from_secs(75);

/// Pages recognized at the same time.
const AT_ONCE: usize = 2;

const PDF: &str = "application/pdf";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The document in base64.
    #[schemars(length(min = 1))]
    file_data: String,
    /// Its media type; the content counts if they differ.
    #[serde(default)]
    file_type: Option<String>,
    /// The pages to read, such as `1-3,7`; the first 50 by default.
    #[serde(default)]
    pages: Option<String>,
    /// The languages of the text, the main one first, such as `eng` or `de`; chosen among those installed by default.
    #[serde(default)]
    languages: Vec<String>,
    /// What is made of the document.
    #[serde(default)]
    output: Output,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Output {
    /// Its text.
    #[default]
    Text,
    /// Its text, and a PDF that can be searched.
    Pdf,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// The text of all pages of this answer, an empty line between them.
    text: String,
    pages: Vec<PageText>,
    /// Of the whole document.
    page_count: usize,
    /// The first page that this answer lacks: call again with `pages` from there.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<usize>,
    /// The engine that recognized text; null if all pages have text of their own.
    engine: Option<Engine>,
    languages: Vec<String>,
    #[serde(flatten)]
    pdf: Option<StoredRef>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PageText {
    /// Counted from 1.
    page: usize,
    text: String,
    origin: Origin,
    /// From 0 to 1; null for text that was not recognized.
    mean_confidence: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Origin {
    /// The document has the text.
    Text,
    /// It was recognized.
    Ocr,
}

/// A page and, for a PDF that can be searched, where its words are.
struct Done {
    page: PageText,
    recognized: Recognized,
}

pub(crate) async fn extract_document(
    input: Input,
    ctx: Ctx,
    engines: &Engines,
) -> Result<Linked<Answer>, Fault> {
    let sent = GivenFile::decode("file_data", &input.file_data, input.file_type.as_deref())?;
    let is_picture = ocr::decode::media_type(&sent.bytes).is_some();
    let own =
        if is_picture { OwnText::none() } else { OwnText::of(&ctx.read(sent.document()).await?) };
    if input.output == Output::Pdf && !is_picture && sent.media_type != PDF {
        return Err(Fault::invalid_input(
            "/output: a PDF that can be searched is made of a PDF or a picture only",
        ));
    }
    let asked = pages::choose(input.pages.as_deref(), own.count)?;
    let scans = |page: &usize| own.pages.get(page).is_none_or(|text| !is_text(text));
    let needs_engine = (is_picture || sent.media_type == PDF) && asked.pages.iter().any(scans);
    let chosen =
        if needs_engine { Some(engines.choose(&ctx, &input.languages).await?) } else { None };
    let job =
        Job { ctx: &ctx, engines, chosen: chosen.as_ref(), sent: &sent, own: &own, is_picture };
    let (done, next) = job.read_pages(&asked).await?;
    let pdf = match input.output {
        Output::Pdf => Some(job.store_pdf(&done).await?),
        Output::Text => None,
    };
    let mut warnings = sent.warnings.clone();
    warnings.extend(own.cut.then(|| "the document is too long to be read to its end".to_owned()));
    let pages: Vec<PageText> = done.into_iter().map(|done| done.page).collect();
    let text: Vec<&str> =
        pages.iter().map(|page| page.text.trim()).filter(|text| !text.is_empty()).collect();
    let (engine, languages) =
        chosen.map_or((None, Vec::new()), |chosen| (Some(chosen.engine), chosen.languages));
    let answer = Answer {
        text: text.join("\n\n"),
        pages,
        page_count: own.count,
        next_page: next.map(|page| page + 1),
        engine,
        languages,
        pdf: pdf.clone(),
        warnings,
    };
    Ok(Linked::new(answer, pdf))
}

/// The text that a document has itself.
struct OwnText {
    count: usize,
    /// By page, from 0.
    pages: BTreeMap<usize, String>,
    cut: bool,
}

impl OwnText {
    /// A picture is one page without text.
    fn none() -> Self {
        Self { count: 1, pages: BTreeMap::new(), cut: false }
    }

    fn of(read: &ReadDocument) -> Self {
        let mut pages = BTreeMap::new();
        if read.pages.is_empty() {
            pages.insert(0, read.text.clone());
        }
        for (page, start) in read.pages.iter().enumerate() {
            let end = read.pages.get(page + 1).copied().unwrap_or(read.text.len());
            let text = read.text.get(*start..end).unwrap_or_default();
            pages.insert(page, text.trim().to_owned());
        }
        let count = if read.pages.is_empty() { 1 } else { read.parts.max(read.pages.len()) };
        Self { count, pages, cut: read.truncated }
    }
}

fn is_text(text: &str) -> bool {
    text.chars().filter(|c| c.is_alphanumeric()).nth(FEWEST_CHARACTERS - 1).is_some()
}

/// One call.
struct Job<'a> {
    ctx: &'a Ctx,
    engines: &'a Engines,
    /// None if no page has to be recognized.
    chosen: Option<&'a Chosen>,
    sent: &'a GivenFile,
    own: &'a OwnText,
    is_picture: bool,
}

impl Job<'_> {
    /// The pages in their order, and the first one for which there was no time.
    async fn read_pages(&self, asked: &pages::Chosen) -> Result<(Vec<Done>, Option<usize>), Fault> {
        let begun = Instant::now();
        let total = asked.pages.len();
        let reading = stream::iter(asked.pages.iter().copied()).map(|page| async move {
            if begun.elapsed() > BEGIN_WITHIN { None } else { Some(self.read_page(page).await) }
        });
        let mut reading = std::pin::pin!(reading.buffered(AT_ONCE));
        let mut done = Vec::new();
        while let Some(read) = reading.next().await {
            let Some(read) = read else { break };
            done.push(read?);
            self.ctx.progress(done.len() as f64, total as f64, "pages read").await;
        }
        let next = asked.pages.get(done.len()).copied().or(asked.next);
        Ok((done, next))
    }

    async fn read_page(&self, page: usize) -> Result<Done, Fault> {
        let own = self.own.pages.get(&page).map(String::as_str).unwrap_or_default();
        match self.chosen {
            Some(chosen) if !is_text(own) => self.recognize(page, own, chosen).await,
            _ => Ok(Done {
                page: PageText {
                    page: page + 1,
                    text: own.to_owned(),
                    origin: Origin::Text,
                    mean_confidence: None,
                },
                recognized: recognized(page, None),
            }),
        }
    }

    async fn recognize(&self, page: usize, own: &str, chosen: &Chosen) -> Result<Done, Fault> {
        let work = if self.is_picture { &PREPARE } else { &DRAW };
        let options = Preparation { scaled: self.engines.scales(), page };
        let drawn = self.ctx.work(work, &options, self.sent.document()).await?;
        let prepared = works::prepared(drawn)
            .ok_or_else(|| Fault::internal("the prepared page cannot be read"))?;
        let read = self.engines.read(self.ctx, chosen, prepared).await?;
        let confidence = mean_confidence(read.layout.words());
        let text = read.layout.text();
        // A page with a few characters of its own and nothing else to recognize keeps them.
        let (text, origin, mean_confidence) = if text.trim().is_empty() && !own.is_empty() {
            (own.to_owned(), Origin::Text, None)
        } else {
            (text, Origin::Ocr, confidence.map(|mean| (mean * 1000.0).round() / 1000.0))
        };
        let page_text = PageText { page: page + 1, text, origin, mean_confidence };
        Ok(Done { page: page_text, recognized: recognized(page, Some(&read)) })
    }

    async fn store_pdf(&self, done: &[Done]) -> Result<StoredRef, Fault> {
        let layer = Searchable { pages: done.iter().map(|done| done.recognized.clone()).collect() };
        let bytes = works::with_words(&layer, &self.sent.bytes)
            .map_err(|error| Fault::internal(format!("the words are not JSON: {error}")))?;
        let document = Document::new(bytes, self.sent.media_type);
        let written = self.ctx.work(&SEARCHABLE, &Value::Null, document).await?;
        self.ctx.store_as("scan", written.bytes, PDF, "searchable.pdf").await
    }
}

fn recognized(page: usize, read: Option<&Read>) -> Recognized {
    let Some(Read { layout, prepared }) = read else {
        let origin = ocr::affine::Affine::IDENTITY;
        return Recognized { page, width: 1, height: 1, origin, words: Vec::new() };
    };
    let words: Vec<Word> = layout.words().cloned().collect();
    let report = &prepared.report;
    Recognized { page, width: report.width, height: report.height, origin: report.origin, words }
}
