//! Changes that could not be committed before the process ended wait in a file of the data folder for the next start.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Error, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use userfiles::{Access, UserFile};

use super::BATCH_ROWS;
use super::change::Change;
use super::commit::Committer;
use crate::{Database, StoreError};

const PREFIX: &str = "unwritten-";
const SUFFIX: &str = ".jsonl";

/// How many of the calls whose rows are lost are named in the log.
const MAX_NAMED: usize = 1000;

/// The first line of the file; each further line is a change.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    /// Names the writer in the database, which notes how many changes it has committed.
    pub(super) writer: String,
    pub(super) committed: u64,
    /// The first changes were tried as one group, which may have been committed without an answer.
    pub(super) tried: usize,
}

/// Stores changes for the next start; returns the path of their file.
pub(super) fn save(folder: &Path, header: &Header, changes: &[Change]) -> io::Result<PathBuf> {
    let mut text = serde_json::to_vec(header)?;
    text.push(b'\n');
    for change in changes {
        serde_json::to_writer(&mut text, change)?;
        text.push(b'\n');
    }
    let path = folder.join(format!("{PREFIX}{}{SUFFIX}", header.writer));
    UserFile::find(&path)?.replace(&text, Access::OwnerOnly)?;
    Ok(path)
}

/// Writes what earlier processes have left in the folder; returns how many changes there were. A file is removed once all
/// of its changes are committed, and a second try commits none of them twice.
pub(super) async fn recover(database: &Database, folder: &Path) -> Result<usize, StoreError> {
    let unreadable = |source| StoreError::Folder { path: folder.to_owned(), source };
    let mut recovered = 0;
    for path in files(folder).map_err(unreadable)? {
        let failed = |why: Box<dyn std::error::Error + Send + Sync>| StoreError::Unrecovered {
            path: path.clone(),
            why,
        };
        let (header, changes) = read(&path).map_err(|error| failed(error.into()))?;
        commit(database, header, &changes).await.map_err(|error| failed(error.into()))?;
        fs::remove_file(&path).map_err(|error| failed(error.into()))?;
        recovered += changes.len();
    }
    Ok(recovered)
}

async fn commit(database: &Database, header: Header, changes: &[Change]) -> Result<(), StoreError> {
    let mut written = header.committed;
    let tried = written.saturating_add(changes.len() as u64);
    let mut committer = Committer::of_writer(database.clone(), header.writer, tried);
    let (first, rest) = changes.split_at(header.tried.min(changes.len()));
    for group in first.chunks(first.len().max(1)).chain(rest.chunks(BATCH_ROWS)) {
        written += group.len() as u64;
        committer.append(group, written).await?;
    }
    Ok(())
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) {
            paths.push(entry.path());
        }
    }
    Ok(paths)
}

fn read(path: &Path) -> io::Result<(Header, Vec<Change>)> {
    let mut lines = BufReader::new(userfiles::open(path)?).lines();
    let first = lines.next().ok_or_else(|| Error::new(ErrorKind::UnexpectedEof, "it is empty"))?;
    let header = serde_json::from_str(&first?)?;
    let changes = lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect::<io::Result<_>>()?;
    Ok((header, changes))
}

/// Names the calls whose rows are lost.
pub(super) fn log_lost(changes: &[Change]) {
    let rows = changes.iter().filter_map(Change::row);
    for row in rows.take(MAX_NAMED) {
        tracing::error!(
            trace = %row.trace,
            tool = %row.tool,
            decision = %row.decision,
            outcome = %row.outcome,
            "the audit row of this call is lost"
        );
    }
}
