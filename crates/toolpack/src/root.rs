//! The folder that a pack and everything it refers to must lie in.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::Fault;
use crate::yaml;

/// A pack root: the parent of a tools folder, without links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root(PathBuf);

impl Root {
    /// The root of a tools folder that exists.
    pub(crate) fn of(tools: &Path) -> std::io::Result<Self> {
        let real = fs::canonicalize(tools)?;
        let parent = real.parent().map(Path::to_owned);
        Ok(Self(parent.unwrap_or(real)))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The file that a pack in `folder` means by a relative path; it must exist inside the root, links followed.
    pub(crate) fn file(&self, folder: &Path, written: &str) -> Result<PathBuf, Fault> {
        let path = Path::new(written);
        if written.contains('\0') {
            return Err(Fault::new("a path cannot contain NUL"));
        }
        if path.is_absolute() || path.components().any(|part| matches!(part, Component::Prefix(_))) {
            return Err(Fault::new(format!("`{written}` must be relative to the pack")));
        }
        let outside = || Fault::new(format!("`{written}` leads out of the pack's root"));
        // Told apart before the disk is asked, so that nobody learns which files exist outside.
        if !lexically_inside(&self.0, folder, path) {
            return Err(outside());
        }
        let real = fs::canonicalize(folder.join(path))
            .map_err(|_| Fault::new(format!("`{written}` does not exist")))?;
        if !real.starts_with(&self.0) {
            return Err(outside());
        }
        if !real.is_file() {
            return Err(Fault::new(format!("`{written}` is not a file")));
        }
        Ok(real)
    }
}

fn lexically_inside(root: &Path, folder: &Path, relative: &Path) -> bool {
    let mut path = folder.to_owned();
    for part in relative.components() {
        match part {
            Component::ParentDir => {
                if !path.pop() {
                    return false;
                }
            }
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path.starts_with(root)
}

/// A small file's text; a large one is refused before it is read.
pub(crate) fn read_text(path: &Path) -> Result<String, Fault> {
    let unreadable = |error: std::io::Error| {
        Fault::in_file(path, None, format!("the file cannot be read: {error}"))
    };
    let size = fs::metadata(path).map_err(unreadable)?.len();
    yaml::check_size(usize::try_from(size).unwrap_or(usize::MAX))
        .map_err(|fault| Fault::in_file(path, None, fault.message))?;
    let bytes = fs::read(path).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|_| Fault::in_file(path, None, "the file is not UTF-8 text"))
}
