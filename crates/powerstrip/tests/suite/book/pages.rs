//! Markdown files, and the fenced blocks in them.

use std::path::{Path, PathBuf};

/// A fenced block of a page.
pub(crate) struct Block {
    /// The page and line, for messages.
    pub(crate) place: String,
    /// The language behind the fence.
    pub(crate) language: String,
    /// The comments on the lines above the fence, `<!-- … -->`.
    pub(crate) notes: Vec<String>,
    /// The path of a `# file: PATH` line at its top.
    pub(crate) file: Option<String>,
    pub(crate) text: String,
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All files of a folder and below, by path.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// All pages of a folder and below.
pub(crate) fn markdown_below(folder: &Path) -> Vec<PathBuf> {
    let is_page = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md");
    files_below(folder).into_iter().filter(is_page).collect()
}

/// The fenced blocks of a page.
pub(crate) fn blocks(page: &Path) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut open, mut notes) = (false, Vec::new());
    let text = std::fs::read_to_string(page).unwrap();
    for (index, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), open) {
            (Some(language), false) => {
                open = true;
                blocks.push(Block {
                    place: format!("{}:{}", page.display(), index + 1),
                    language: language.trim().to_owned(),
                    notes: std::mem::take(&mut notes),
                    file: None,
                    text: String::new(),
                });
            }
            (Some(_), true) => open = false,
            (None, true) => {
                let block = blocks.last_mut().unwrap();
                if block.text.lines().count() < 2 {
                    block.file = block.file.take().or_else(|| marked(line));
                }
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, false) => match comment(line) {
                Some(note) => notes.push(note),
                None => notes.clear(),
            },
        }
    }
    assert!(!open, "{}: a block is not closed", page.display());
    blocks
}

/// The text of `<!-- … -->` on a line of its own.
fn comment(line: &str) -> Option<String> {
    Some(line.trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim().to_owned())
}

/// The path in `# file: PATH` or, for languages with other comments, `// file: PATH`.
fn marked(line: &str) -> Option<String> {
    let comment = line.strip_prefix('#').or_else(|| line.strip_prefix("//"))?;
    Some(comment.trim_start().strip_prefix("file: ")?.trim().to_owned())
}

/// A page's lines with their numbers, fenced blocks left out.
pub(crate) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.starts_with("```");
        inside ^= fence;
        (!inside && !fence).then_some((index + 1, line))
    })
}
