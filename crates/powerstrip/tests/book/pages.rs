//! Markdown files, and the fenced blocks in them.

use std::path::{Path, PathBuf};

/// A fenced block of a page.
pub(crate) struct Block {
    /// The page and line, for messages.
    pub(crate) place: String,
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
    let mut blocks = Vec::new();
    let mut open: Option<(usize, Vec<&str>)> = None;
    let text = std::fs::read_to_string(page).unwrap();
    for (index, line) in text.lines().enumerate() {
        match (&mut open, line.starts_with("```")) {
            (None, true) => open = Some((index + 1, Vec::new())),
            (Some(_), true) => {
                let (line, lines) = open.take().unwrap();
                blocks.push(Block {
                    place: format!("{}:{line}", page.display()),
                    file: lines.iter().take(2).find_map(|line| marked(line)),
                    text: lines.join("\n") + "\n",
                });
            }
            (Some((_, lines)), false) => lines.push(line),
            (None, false) => {}
        }
    }
    assert!(open.is_none(), "{}: a block is not closed", page.display());
    blocks
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
