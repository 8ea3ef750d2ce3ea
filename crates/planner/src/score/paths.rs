//! Whether a path is a file or a folder, as far as its words tell.

use std::collections::HashSet;
use std::sync::LazyLock;

use language::words::stem;

use super::{ENDS, introducing};
use crate::mention::{Mention, Written};
use crate::tool::{Field, Kind, Sense, ToolSpec};
use crate::word_list::WordList;

/// Names of fields that take a folder, not a file.
pub(crate) const FOLDERS: [&str; 6] = ["folder", "directory", "dir", "repo", "repository", "root"];

/// Stems of words for files, and for folders.
static FILES: LazyLock<HashSet<String>> = LazyLock::new(|| {
    stems(&[
        "archive",
        "attachment",
        "audio",
        "directory",
        "document",
        "file",
        "filename",
        "folder",
        "image",
        "input",
        "path",
        "photo",
        "picture",
        "source",
        "upload",
        "video",
    ])
});
static FOLDER_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| stems(&["directory", "folder"]));

fn stems(words: &[&str]) -> HashSet<String> {
    words.iter().map(|word| stem(word)).collect()
}

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

/// Whether a text has a part that only paths have.
pub(super) fn looks_like_path(text: &str) -> bool {
    text.contains('/') || is_file(text) && !text.contains(char::is_whitespace)
}

/// Whether a field is one end of a movement: a `target`, but not a `target_role`.
pub(super) fn is_end(field: &Field) -> bool {
    field.name_words.len() == 1 && field.is_named(&ENDS)
}

/// Whether a field can take a file, as far as its name and description show, or anything that is searched for.
pub(super) fn is_about_files(field: &Field) -> bool {
    const SEARCHED: [&str; 9] =
        ["query", "q", "keyword", "keywords", "term", "terms", "search", "topic", "pattern"];
    let says = |words: &WordList| words.iter().any(|word| FILES.contains(word));
    is_end(field)
        || says(&field.name_stems)
        || says(&field.about_stems)
        || field.is_named(&SEARCHED)
}

/// A tool for one file, or a list of files, takes no folder, and one for folders takes no file.
pub(super) fn folder_misfit(field: &Field, tool: &ToolSpec, mention: &Mention) -> f32 {
    let is_for_files = tool.takes_file || field.kind == Kind::List;
    let is_misfit = field.sense == Sense::Path
        && is_for_files
        && !field.is_named(&FOLDERS)
        && is_folder(mention);
    let is_for_folders = tool.name_stems.iter().any(|name| FOLDER_STEMS.contains(name));
    let is_no_folder = field.sense == Sense::Path
        && is_for_folders
        && !tool.changes
        && mention.value == Written::Path
        && is_file(&mention.text);
    if is_misfit || is_no_folder { 8.0 } else { 0.0 }
}
