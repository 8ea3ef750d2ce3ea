//! The files of the paths that a person names.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

/// No folder is read deeper, and no call adds more files.
const MAX_DEPTH: usize = 32;
const MAX_FILES: usize = 100_000;

/// A file to add, and its name in chunks.
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    pub(crate) source: String,
}

/// A file or folder that cannot be added.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Skipped {
    pub(crate) source: String,
    pub(crate) why: String,
}

/// The files of some paths, in the order of their names.
#[derive(Default)]
pub(crate) struct Files {
    pub(crate) found: Vec<SourceFile>,
    pub(crate) skipped: Vec<Skipped>,
}

impl Files {
    /// Adds a file, whatever it is called, or the files of a folder.
    pub(crate) fn add(&mut self, path: &Path) -> anyhow::Result<()> {
        let path = normalize(path).with_context(|| path.display().to_string())?;
        self.visit(&path, 0)
    }

    fn visit(&mut self, path: &Path, depth: usize) -> anyhow::Result<()> {
        let at = || path.display().to_string();
        if !std::fs::metadata(path).with_context(at)?.is_dir() {
            return self.add_file(path);
        }
        if depth == MAX_DEPTH {
            self.skip(path, format!("the folder is deeper than {MAX_DEPTH} folders"));
            return Ok(());
        }
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(path).with_context(at)? {
            let entry = entry.with_context(at)?;
            // A link could lead out of the folder, or back into it.
            let kind = entry.file_type().with_context(at)?;
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !hidden && (kind.is_file() || kind.is_dir()) {
                entries.push(entry.path());
            }
        }
        entries.sort();
        entries.iter().try_for_each(|entry| self.visit(entry, depth + 1))
    }

    fn add_file(&mut self, path: &Path) -> anyhow::Result<()> {
        if self.found.len() + self.skipped.len() == MAX_FILES {
            bail!("more than {MAX_FILES} files");
        }
        match path.to_str() {
            Some(source) => {
                self.found.push(SourceFile { path: path.to_owned(), source: source.to_owned() });
            }
            // The gateway gets paths as JSON.
            None => self.skip(path, "its path is not UTF-8".to_owned()),
        }
        Ok(())
    }

    fn skip(&mut self, path: &Path, why: String) {
        self.skipped.push(Skipped { source: path.to_string_lossy().into_owned(), why });
    }
}

/// The absolute path without `..` and links to folders, so that a file has one source however it is named. A file that is
/// a link keeps its name.
fn normalize(path: &Path) -> std::io::Result<PathBuf> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if !path.is_dir() => {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            Ok(std::fs::canonicalize(parent)?.join(name))
        }
        _ => std::fs::canonicalize(path),
    }
}

#[cfg(test)]
mod tests;
