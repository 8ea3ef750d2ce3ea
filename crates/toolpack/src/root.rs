//! The folder that contains a pack and everything it refers to.

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use schema::yaml::Limits;

use crate::Fault;

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

    /// The real path of a file; it must be inside the root.
    pub(crate) fn confine(&self, path: &Path) -> Result<PathBuf, Fault> {
        let real = fs::canonicalize(path).map_err(|_| outside(path))?;
        if real.starts_with(&self.0) { Ok(real) } else { Err(outside(path)) }
    }

    /// The file that a relative path in a pack in `folder` refers to; it must exist inside the root, links followed.
    pub(crate) fn file(&self, folder: &Path, written: &str) -> Result<PathBuf, Fault> {
        let path = Path::new(written);
        if written.contains('\0') {
            return Err(Fault::new("a path cannot contain NUL"));
        }
        if path.is_absolute() || path.components().any(|part| matches!(part, Component::Prefix(_)))
        {
            return Err(Fault::new(format!("`{written}` must be relative to the pack")));
        }
        let outside = || outside(path);
        // Checked before the file system is asked, so that a fault does not reveal which files exist outside.
        let target =
            joined(folder, path).filter(|path| path.starts_with(&self.0)).ok_or_else(outside)?;
        let real = fs::canonicalize(folder.join(path))
            .map_err(|_| Fault::new(format!("`{written}` does not exist")).missing(target))?;
        if !real.starts_with(&self.0) {
            return Err(outside());
        }
        if !real.is_file() {
            return Err(Fault::new(format!("`{written}` is not a file")));
        }
        Ok(real)
    }
}

fn outside(path: &Path) -> Fault {
    Fault::new(format!("`{}` leads out of the pack's root", path.display()))
}

/// Joins without asking the file system; `None` above the top.
fn joined(folder: &Path, relative: &Path) -> Option<PathBuf> {
    let mut path = folder.to_owned();
    for part in relative.components() {
        match part {
            Component::ParentDir => path.pop().then_some(())?,
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    Some(path)
}

/// How packs and schema files are read.
pub(crate) const YAML_LIMITS: Limits =
    Limits { max_bytes: 256 * 1024, merge_keys: true, custom_tags: false };

/// The largest script that is read; bundlers produce large ones.
const MAX_CODE_BYTES: u64 = 16 * 1024 * 1024;

/// The text of a pack or a schema; a large file is refused before it is read.
pub(crate) fn read_text(path: &Path) -> Result<String, Fault> {
    let bytes = read(path, YAML_LIMITS.max_bytes as u64)?;
    String::from_utf8(bytes).map_err(|_| Fault::in_file(path, None, "the file is not UTF-8 text"))
}

/// The bytes of a script.
pub(crate) fn read_code(path: &Path) -> Result<Vec<u8>, Fault> {
    read(path, MAX_CODE_BYTES)
}

fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Fault> {
    let unreadable = |error: std::io::Error| {
        Fault::in_file(path, None, format!("the file cannot be read: {error}"))
    };
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(unreadable)?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit {
        let message = format!("the file has more than {limit} bytes");
        return Err(Fault::in_file(path, None, message));
    }
    Ok(bytes)
}
