//! Replaces a file in one step.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::EditError;

/// Edits a file under a lock, so that no change of another command is lost. A file that does not exist counts as
/// empty. Nothing is written if the text stays the same.
pub fn update(
    path: &Path,
    edit: impl FnOnce(&str) -> Result<String, EditError>,
) -> Result<(), EditError> {
    let failed = |why| EditError::File { path: path.to_owned(), why };
    // A link stays a link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let lock = File::open(&folder).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let before = match fs::read_to_string(&target) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    let after = edit(before.as_deref().unwrap_or_default())?;
    if before.as_deref() == Some(after.as_str()) {
        return Ok(());
    }
    replace_file(&target, &after).map_err(failed)
}

/// Writes a temporary file in the same folder and renames it: readers see the old text or the new one. A link stays a link.
pub(crate) fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = (|| {
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).open(&temporary)?;
        if let Ok(known) = fs::metadata(path) {
            file.set_permissions(known.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        // Best effort: the error of the write is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}
