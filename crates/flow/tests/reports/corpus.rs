//! A folder of documents, searched by words as a collection would be.

use std::collections::HashMap;
use std::path::Path;

use flow::compose::{Report, Request, Style, compose};
use flow::outline::Outline;
use flow::perspectives::{self, plan};
use flow::source::Source;
use language::passages::{ChunkOptions, chunks};
use language::ranking::Bm25;
use language::stems::{language_of, terms};
use notes::Chunk;
use notes::{Note, summarize};

pub(crate) const CORPORA: [&str; 3] = ["heat-pumps", "http-caching", "home-blood-pressure"];

pub(crate) struct Corpus {
    topic: String,
    pub(crate) sources: Vec<Source>,
    chunks: Vec<Chunk>,
}

impl Corpus {
    pub(crate) fn read(name: &str) -> Self {
        let topic = match name {
            "http-caching" => "HTTP caching".to_owned(),
            "home-blood-pressure" => "home blood pressure monitoring".to_owned(),
            "balkonkraftwerke" => "Balkonkraftwerke".to_owned(),
            _ => name.replace('-', " "),
        };
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora").join(name);
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .expect("a corpus")
            .map(|entry| entry.expect("a file").path())
            .collect();
        files.sort();
        let mut corpus = Self::empty(&topic);
        for file in files {
            corpus.add(&std::fs::read_to_string(file).expect("a text"));
        }
        corpus
    }

    pub(crate) fn empty(topic: &str) -> Self {
        Self { topic: topic.to_owned(), sources: Vec::new(), chunks: Vec::new() }
    }

    pub(crate) fn add(&mut self, text: &str) {
        let (head, body) = text.split_once("\n\n").expect("a head");
        let fields: HashMap<&str, &str> =
            head.lines().filter_map(|line| line.split_once(": ")).collect();
        let field = |name: &str| fields.get(name).map(|value| (*value).to_owned());
        let source = Source {
            id: format!("s{}", self.sources.len() + 1),
            url: field("url"),
            title: field("title"),
            author: field("author"),
            site: field("site"),
            published_at: field("date"),
            ..Source::default()
        };
        for (at, chunk) in chunks(body, ChunkOptions::default()).enumerate() {
            self.chunks.push(Chunk {
                id: format!("{}-{at}", source.id),
                text: chunk.text,
                source: Some(source.id.clone()),
                score: None,
            });
        }
        self.sources.push(source);
    }

    pub(crate) fn chunk(&self, id: &str) -> &Chunk {
        self.chunks.iter().find(|chunk| chunk.id == id).expect("a chunk")
    }

    /// The chunks that fit a query best.
    pub(crate) fn search(&self, query: &str, limit: usize) -> Vec<Chunk> {
        let read = |text: &str| terms(text, language_of(text));
        let texts: Vec<Vec<String>> = self.chunks.iter().map(|chunk| read(&chunk.text)).collect();
        let average = texts.iter().map(Vec::len).sum::<usize>() as f64 / texts.len() as f64;
        let bm25 = Bm25::default();
        let mut scores = vec![0.0; texts.len()];
        for term in read(query) {
            let holders = texts.iter().filter(|text| text.contains(&term)).count() as u64;
            for (text, score) in texts.iter().zip(&mut scores) {
                let uses = text.iter().filter(|held| **held == term).count() as f64;
                *score += bm25.idf(texts.len() as u64, holders)
                    * bm25.weight(uses, text.len() as f64, average);
            }
        }
        let mut order: Vec<usize> = (0..texts.len()).filter(|at| scores[*at] > 0.0).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        order.into_iter().take(limit).map(|at| self.chunks[at].clone()).collect()
    }

    pub(crate) fn outline(&self) -> Outline {
        let chunks = self.search(&self.topic, 40);
        let request = perspectives::Request {
            topic: &self.topic,
            perspectives: &[],
            per_perspective: 3,
            chunks: &chunks,
        };
        plan(request).outline
    }

    /// The notes on all questions.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let outline = self.outline();
        let questions = outline.sections.iter().flat_map(|section| &section.questions);
        questions
            .flat_map(|question| summarize(&question.text, &self.search(&question.text, 12)))
            .collect()
    }

    pub(crate) fn report(&self, style: Style) -> Report {
        compose(Request {
            outline: &self.outline(),
            notes: &self.notes(),
            sources: &self.sources,
            style,
            accessed: Some("2026-11-16"),
        })
    }
}
