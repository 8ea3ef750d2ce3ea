//! Edits the config file on disk.

use std::path::Path;

use userfiles::{Access, UserFile};

use super::{EditError, parse, server_names, set_disabled};
use crate::client_files::contains_secret;
use crate::settings::YAML_LIMITS;

const MAX_BYTES: u64 = YAML_LIMITS.max_bytes as u64;

/// Edits a file under a lock, so that no change of another command is lost. A file that does not exist counts as
/// empty. Nothing is written if the text stays the same. Returns whether users who could read the file before no longer
/// can, which is so if it contains secrets.
pub fn update(
    path: &Path,
    edit: impl FnOnce(&str) -> Result<String, EditError>,
) -> Result<bool, EditError> {
    let failed = |why| EditError::File { path: path.to_owned(), why };
    let file = UserFile::find(path).map_err(failed)?;
    file.lock().map_err(failed)?;
    let before = file.read_text(MAX_BYTES).map_err(failed)?;
    let after = edit(before.as_deref().unwrap_or_default())?;
    if before.as_deref() == Some(after.as_str()) {
        return Ok(false);
    }
    let secret = parse(&after).is_ok_and(|document| contains_secret(&document));
    let access = if secret { Access::OwnerOnly } else { Access::AsBefore };
    file.replace(after.as_bytes(), access).map_err(failed)
}

/// Sets or clears `disabled` of servers in the config file: the one way to switch them, for commands, pages and the HTTP
/// interface. If one of them is not there, none is changed.
pub fn switch_servers(path: &Path, names: &[String], disabled: bool) -> Result<bool, EditError> {
    // Renaming a new file over it would replace even a file that is write-protected.
    if std::fs::metadata(path).is_ok_and(|known| known.permissions().readonly()) {
        return Err(EditError::ReadOnly);
    }
    update(path, |yaml| {
        names.iter().try_fold(yaml.to_owned(), |yaml, name| set_disabled(&yaml, name, disabled))
    })
}

/// The servers that the config file at a path names; none if there is no file.
pub fn servers_in(path: &Path) -> Result<Vec<String>, EditError> {
    match userfiles::read_text(path, MAX_BYTES) {
        Ok(text) => server_names(&text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(why) => Err(EditError::File { path: path.to_owned(), why }),
    }
}
