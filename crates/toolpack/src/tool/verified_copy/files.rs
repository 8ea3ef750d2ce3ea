//! Reads, and copies, every file of a pack's code.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use egress::process::{Sha256, copy_with_digest, open_regular};
use proto::{Digest, digest};

/// The most files of one pack's code.
const MAX_FILES: usize = 20_000;

/// The most data files that are searched for code.
const MAX_DATA_FILES: usize = 100_000;

/// The most bytes that are copied for one call.
const MAX_BYTES: u64 = 512 << 20;

/// Deeper folders are not followed.
const MAX_DEPTH: usize = 64;

/// Folders without code. Python recompiles modules whose cache is missing.
const SKIPPED: [&str; 4] = ["__pycache__", ".git", ".hg", ".svn"];

/// Marks the data folder of a gateway, of which no tool gets a copy.
const DATABASE: &str = "powerstrip.db";

/// Marks a Python environment. Its packages belong to the interpreter's installation, which is not copied.
const ENVIRONMENT: &str = "pyvenv.cfg";

/// Endings of files that an interpreter or a loader executes.
const CODE: [&str; 19] = [
    "py", "pyc", "pyd", "so", "js", "mjs", "cjs", "ts", "node", "wasm", "php", "phar", "inc", "sh",
    "bash", "pl", "rb", "lua", "jar",
];

/// The folders and files of a pack's code, with links resolved.
pub(super) struct CodePaths {
    /// Everything in them is code.
    code: Vec<PathBuf>,
    /// What the pack may read as data. Code in there is treated as code, the rest is read in place.
    data: Vec<PathBuf>,
    /// What the pack may write: read and written in place.
    written: Vec<PathBuf>,
}

impl CodePaths {
    pub(super) fn new(code: Vec<PathBuf>, data: Vec<PathBuf>, written: Vec<PathBuf>) -> Self {
        // A data folder that contains the code, such as the pack's own folder, counts as code.
        let holds_code = |path: &PathBuf| code.iter().any(|code| code.starts_with(path));
        let data = data.into_iter().filter(|path| !holds_code(path)).collect();
        let written = written.into_iter().filter(|path| !holds_code(path)).collect();
        Self { code: outermost(code), data: outermost(data), written }
    }

    /// DigestInput every file of code, and copies it if a folder for that is given.
    pub(super) fn record(&self, copy: Option<&Path>, records: &mut DigestInput) -> io::Result<()> {
        let mut walk = Walk { paths: self, copy, records, files: 0, data_files: 0, bytes: 0 };
        for path in &self.code {
            walk.visit(path, 0)?;
        }
        let apart = |path: &&PathBuf| !self.code.iter().any(|code| path.starts_with(code));
        for path in self.data.iter().filter(apart) {
            walk.visit(path, 0)?;
        }
        for path in self.written.iter().filter(apart) {
            walk.link(path, path)?;
        }
        Ok(())
    }

    fn is_data(&self, path: &Path) -> bool {
        self.data.iter().any(|outer| path.starts_with(outer))
    }

    /// Whether the copy contains the file itself, not a link to it.
    pub(super) fn is_copied(&self, path: &Path) -> bool {
        let within = |paths: &[PathBuf]| paths.iter().any(|outer| path.starts_with(outer));
        (within(&self.code) || within(&self.data)) && !within(&self.written)
    }
}

/// The paths that are in none of the others, sorted.
fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !kept.iter().any(|outer| path.starts_with(outer)) {
            kept.push(path);
        }
    }
    kept
}

/// The location of a path in the copy. Relative paths between files stay the same, because code relies on them.
pub(super) fn mirrored(copy: &Path, path: &Path) -> PathBuf {
    copy.join(path.strip_prefix("/").unwrap_or(path))
}

/// The input of the digest of a pack's code.
#[derive(Default)]
pub(super) struct DigestInput(Vec<u8>);

impl DigestInput {
    pub(super) fn add(&mut self, kind: &[u8], path: &Path, content: &[u8]) {
        for part in [kind, path.as_os_str().as_bytes(), content] {
            self.0.extend((part.len() as u64).to_le_bytes());
            self.0.extend(part);
        }
    }

    pub(super) fn digest(&self) -> Digest {
        digest(&self.0)
    }
}

struct Walk<'a> {
    paths: &'a CodePaths,
    copy: Option<&'a Path>,
    records: &'a mut DigestInput,
    files: usize,
    data_files: usize,
    bytes: u64,
}

impl Walk<'_> {
    fn visit(&mut self, path: &Path, depth: usize) -> io::Result<()> {
        let (count, most) = if self.paths.is_data(path) {
            (&mut self.data_files, MAX_DATA_FILES)
        } else {
            (&mut self.files, MAX_FILES)
        };
        *count += 1;
        if *count > most {
            return Err(too_large(path, format!("more than {most} files")));
        }
        if depth > MAX_DEPTH {
            return Err(too_large(path, format!("more than {MAX_DEPTH} levels of folders")));
        }
        if self.paths.written.iter().any(|written| written == path) {
            return self.link(path, path);
        }
        let metadata = fs::symlink_metadata(path)?;
        let kind = metadata.file_type();
        if kind.is_symlink() {
            self.visit_link(path)
        } else if kind.is_dir() {
            self.visit_folder(path, depth)
        } else if !kind.is_file() {
            Ok(())
        } else if self.paths.is_data(path) && !is_code(path, metadata.permissions().mode()) {
            self.link(path, path)
        } else {
            self.visit_file(path, metadata.permissions().mode())
        }
    }

    fn visit_folder(&mut self, path: &Path, depth: usize) -> io::Result<()> {
        if path.file_name().is_some_and(|name| SKIPPED.iter().any(|skipped| name == *skipped))
            || path.join(DATABASE).exists()
        {
            return Ok(());
        }
        if path.join(ENVIRONMENT).exists() {
            return self.link(path, path);
        }
        if let Some(copy) = self.copy {
            DirBuilder::new().recursive(true).mode(0o700).create(mirrored(copy, path))?;
        }
        let entries = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
        let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
        entries.sort();
        entries.iter().try_for_each(|entry| self.visit(entry, depth + 1))
    }

    fn visit_file(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        let mut file = open_regular(path)?;
        let executable = mode & 0o111 != 0;
        let (content, length): (Sha256, u64) = match self.copy {
            None => copy_with_digest(&mut file, &mut io::sink())?,
            Some(copy) => {
                let target = self.make_room(copy, path)?;
                let mode = if executable { 0o500 } else { 0o400 };
                let mut new =
                    OpenOptions::new().write(true).create_new(true).mode(mode).open(target)?;
                copy_with_digest(&mut file, &mut new)?
            }
        };
        self.bytes = self.bytes.saturating_add(length);
        if self.bytes > MAX_BYTES {
            return Err(too_large(path, format!("more than {} MiB", MAX_BYTES >> 20)));
        }
        let kind: &[u8] = if executable { b"executable" } else { b"file" };
        self.records.add(kind, path, &content);
        Ok(())
    }

    /// A link points to the copy of its target if that is copied, else to the target itself.
    fn visit_link(&mut self, path: &Path) -> io::Result<()> {
        let target = fs::read_link(path)?;
        self.records.add(b"link", path, target.as_os_str().as_bytes());
        let Ok(real) = fs::canonicalize(path) else { return Ok(()) };
        self.records.add(b"leads to", path, real.as_os_str().as_bytes());
        match self.copy.filter(|_| self.paths.is_copied(&real)) {
            Some(copy) => self.link(path, &mirrored(copy, &real)),
            None => self.link(path, &real),
        }
    }

    /// Creates a link at the location of `path` in the copy, unless something is there already.
    fn link(&self, path: &Path, target: &Path) -> io::Result<()> {
        let Some(copy) = self.copy else { return Ok(()) };
        match symlink(target, self.make_room(copy, path)?) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// The location of `path` in the copy, with its parent folders created.
    fn make_room(&self, copy: &Path, path: &Path) -> io::Result<PathBuf> {
        let target = mirrored(copy, path);
        if let Some(folder) = target.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        Ok(target)
    }
}

fn is_code(path: &Path, mode: u32) -> bool {
    let ending = path.extension().and_then(OsStr::to_str);
    mode & 0o111 != 0 || ending.is_some_and(|ending| CODE.contains(&ending))
}

fn too_large(path: &Path, limit: String) -> io::Error {
    let folder = path.parent().unwrap_or(path);
    io::Error::other(format!(
        "the code around `{}` has {limit}; keep the pack's code in a folder of its own, and name large data in \
         `caps.files.read`",
        folder.display()
    ))
}
