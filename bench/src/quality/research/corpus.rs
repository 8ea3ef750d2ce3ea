//! A folder of documents with judged queries.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use documents::{Form, Limits, Metadata, Options, extract, sniff};
use serde::Deserialize;

use crate::quality::json_lines::lines;

/// The endings of documents: notes on the corpus are called README, queries and figures are JSON.
const ENDINGS: [&str; 3] = [".md", ".html", ".txt"];

/// A document as research reads it.
pub(super) struct Document {
    /// Its file in the folder.
    pub(super) name: String,
    /// Markdown.
    pub(super) text: String,
    pub(super) meta: Metadata,
}

/// A query and how well documents answer it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    pub(super) id: String,
    pub(super) query: String,
    /// From 0 to 3; a document that is not listed has 0.
    pub(super) judgements: BTreeMap<String, u8>,
}

/// The documents in a folder, in the order of their names.
pub(super) fn documents(folder: &Path) -> anyhow::Result<Vec<Document>> {
    let unreadable = || format!("{} cannot be read", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(unreadable)? {
        let name = entry.with_context(unreadable)?.file_name().to_string_lossy().into_owned();
        if ENDINGS.iter().any(|ending| name.ends_with(ending)) && name != "README.md" {
            names.push(name);
        }
    }
    names.sort_unstable();
    names.into_iter().map(|name| document(folder, name)).collect()
}

fn document(folder: &Path, name: String) -> anyhow::Result<Document> {
    let bytes = fs::read(folder.join(&name)).with_context(|| format!("{name} cannot be read"))?;
    let options = Options::new(sniff(&bytes, Some(&name))).with_form(Form::Markdown);
    let read = extract(bytes, &options, &Limits::default()).with_context(|| name.clone())?;
    Ok(Document { name, text: read.text, meta: read.meta })
}

/// The queries of a folder; each names only documents that are there.
pub(super) fn queries(folder: &Path, documents: &[Document]) -> anyhow::Result<Vec<Query>> {
    let path = folder.join("queries.jsonl");
    let queries: Vec<Query> = lines(&path)?;
    ensure!(!queries.is_empty(), "{} has no queries", path.display());
    for Query { id, judgements, .. } in &queries {
        for (name, grade) in judgements {
            ensure!(documents.iter().any(|it| it.name == *name), "{id}: there is no {name}");
            ensure!(*grade <= 3, "{id}: {name} has grade {grade}; the highest is 3");
        }
    }
    Ok(queries)
}
