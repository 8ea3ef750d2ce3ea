//! Whether a path is a file or a folder, as far as its words tell.

use super::introducing;
use crate::mention::{Mention, Written};
use crate::tool::{Field, Kind, Sense, ToolSpec};

/// Names of fields that take a folder, not a file.
pub(crate) const FOLDERS: [&str; 6] = ["folder", "directory", "dir", "repo", "repository", "root"];

/// Whether a path ends with the type of a file.
pub(crate) fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(stem, extension)| !stem.is_empty() && !extension.is_empty())
}

/// Whether the words before a path say that it is a folder: `in /data`, `the folder /data`.
pub(crate) fn is_folder(mention: &Mention) -> bool {
    let word = introducing(mention);
    mention.value == Written::Path
        && !is_file(&mention.text)
        && (matches!(word, "in" | "inside" | "within" | "under") || FOLDERS.contains(&word))
}

/// A tool for one file, or a list of files, takes no folder.
pub(super) fn folder_misfit(field: &Field, tool: &ToolSpec, mention: &Mention) -> f32 {
    let is_for_files = tool.takes_file || field.kind == Kind::List;
    let is_misfit = field.sense == Sense::Path
        && is_for_files
        && !field.is_named(&FOLDERS)
        && is_folder(mention);
    if is_misfit { 8.0 } else { 0.0 }
}
