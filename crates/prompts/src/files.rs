use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use super::fault::Fault;

/// The prompts folder. Links that lead out of it are not followed.
pub(super) struct Folder {
    given: PathBuf,
    root: PathBuf,
}

/// A name in the folder.
pub(super) struct Item {
    pub(super) name: String,
    pub(super) is_dir: bool,
}

impl Folder {
    /// Opens the folder, if there is one.
    pub(super) fn open(dir: &Path) -> Result<Option<Self>, Fault> {
        match fs::canonicalize(dir) {
            Ok(root) if root.is_dir() => Ok(Some(Self { given: dir.to_owned(), root })),
            Ok(_) => Err(Fault::new(None, "is not a folder")),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Fault::new(None, format!("cannot be opened: {error}"))),
        }
    }

    /// The path to show to users.
    pub(super) fn shown(&self, relative: &str) -> PathBuf {
        self.given.join(relative)
    }

    /// The entries of a subfolder by name, without hidden ones; none if there is no such subfolder.
    pub(super) fn list(&self, relative: &str) -> Result<Option<Vec<Item>>, Fault> {
        let unreadable =
            |error: std::io::Error| Fault::new(None, format!("cannot be read: {error}"));
        let Some(path) = self.confined(relative)? else {
            return Ok(None);
        };
        let mut items = Vec::new();
        for entry in fs::read_dir(path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let Ok(name) = entry.file_name().into_string() else {
                return Err(Fault::new(None, "holds a name that is not UTF-8"));
            };
            if name.starts_with('.') {
                continue;
            }
            // Follows links: mounted folders may consist of links.
            let is_dir = fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_dir());
            items.push(Item { name, is_dir });
        }
        items.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(Some(items))
    }

    /// A text file of at most `limit` bytes; none if there is no such file.
    pub(super) fn read(&self, relative: &str, limit: usize) -> Result<Option<String>, Fault> {
        let Some(path) = self.confined(relative)? else {
            return Ok(None);
        };
        let unreadable =
            |error: std::io::Error| Fault::new(None, format!("cannot be read: {error}"));
        // Opening a pipe would block.
        if !fs::metadata(&path).map_err(unreadable)?.is_file() {
            return Err(Fault::new(None, "is not a file"));
        }
        let mut bytes = Vec::new();
        let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        File::open(&path)
            .and_then(|file| file.take(most).read_to_end(&mut bytes))
            .map_err(unreadable)?;
        if bytes.len() > limit {
            return Err(Fault::new(None, format!("is larger than {limit} bytes")));
        }
        String::from_utf8(bytes).map(Some).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            Fault::new(Some(line), "is not UTF-8")
        })
    }

    fn confined(&self, relative: &str) -> Result<Option<PathBuf>, Fault> {
        match fs::canonicalize(self.root.join(relative)) {
            Ok(path) if path.starts_with(&self.root) => Ok(Some(path)),
            Ok(_) => Err(Fault::new(None, "leads out of the prompts folder")),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Fault::new(None, format!("cannot be opened: {error}"))),
        }
    }
}
