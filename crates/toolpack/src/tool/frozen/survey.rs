//! Reading, and copying, every file that the code of a pack consists of.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use egress::process::{Sha256, copy_with_digest, open_regular};
use proto::{Digest, digest};

/// More files than this are no longer one pack's code.
const MAX_FILES: usize = 20_000;

/// More files of data than this take too long to look through for one call.
const MAX_DATA_FILES: usize = 100_000;

/// More bytes than this take too long to copy for one call.
const MAX_BYTES: u64 = 512 << 20;

/// Deeper folders are not followed.
const MAX_DEPTH: usize = 64;

/// What no code is loaded from. Python compiles anew what it does not find compiled.
const SKIPPED: [&str; 4] = ["__pycache__", ".git", ".hg", ".svn"];

/// What a folder with the data of a gateway holds: no tool gets a copy of it.
const DATABASE: &str = "powerstrip.db";

/// What a Python environment holds. Its packages are part of the interpreter's installation, which is not copied.
const ENVIRONMENT: &str = "pyvenv.cfg";

/// Endings of files that an interpreter or a loader executes.
const CODE: [&str; 19] = [
    "py", "pyc", "pyd", "so", "js", "mjs", "cjs", "ts", "node", "wasm", "php", "phar", "inc", "sh",
    "bash", "pl", "rb", "lua", "jar",
];

/// The folders and files that a pack's code lies in, all without links.
pub(super) struct Places {
    /// Everything in them is code.
    code: Vec<PathBuf>,
    /// What the pack may read as data. Code in there is treated as code, the rest is read in place.
    data: Vec<PathBuf>,
    /// What the pack may write: read and written in place.
    written: Vec<PathBuf>,
}

impl Places {
    pub(super) fn new(code: Vec<PathBuf>, data: Vec<PathBuf>, written: Vec<PathBuf>) -> Self {
        // Data that holds the code itself, such as the pack's own folder, is code.
        let holds_code = |place: &PathBuf| code.iter().any(|code| code.starts_with(place));
        let data = data.into_iter().filter(|place| !holds_code(place)).collect();
        let written = written.into_iter().filter(|place| !holds_code(place)).collect();
        Self { code: outermost(code), data: outermost(data), written }
    }

    /// Records every file of code, and copies it if a folder for that is given.
    pub(super) fn record(&self, copy: Option<&Path>, records: &mut Records) -> io::Result<()> {
        let mut walk = Walk { places: self, copy, records, files: 0, data_files: 0, bytes: 0 };
        for place in &self.code {
            walk.visit(place, 0)?;
        }
        let apart = |place: &&PathBuf| !self.code.iter().any(|code| place.starts_with(code));
        for place in self.data.iter().filter(apart) {
            walk.visit(place, 0)?;
        }
        for place in self.written.iter().filter(apart) {
            walk.link(place, place)?;
        }
        Ok(())
    }

    fn is_data(&self, path: &Path) -> bool {
        self.data.iter().any(|place| path.starts_with(place))
    }

    /// Whether the copy holds what lies there, not a link to it.
    pub(super) fn is_copied(&self, path: &Path) -> bool {
        let within = |places: &[PathBuf]| places.iter().any(|place| path.starts_with(place));
        (within(&self.code) || within(&self.data)) && !within(&self.written)
    }
}

/// The paths that lie in none of the others, in order.
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

/// Where the copy holds a path: code finds its data by the way from one file to another, so that stays the same.
pub(super) fn mirrored(copy: &Path, path: &Path) -> PathBuf {
    copy.join(path.strip_prefix("/").unwrap_or(path))
}

/// What the digest of a pack's code is made of.
#[derive(Default)]
pub(super) struct Records(Vec<u8>);

impl Records {
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
    places: &'a Places,
    copy: Option<&'a Path>,
    records: &'a mut Records,
    files: usize,
    data_files: usize,
    bytes: u64,
}

impl Walk<'_> {
    fn visit(&mut self, path: &Path, depth: usize) -> io::Result<()> {
        let (count, most) = if self.places.is_data(path) {
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
        if self.places.written.iter().any(|place| place == path) {
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
        } else if self.places.is_data(path) && !is_code(path, metadata.permissions().mode()) {
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
                let place = self.room(copy, path)?;
                let mode = if executable { 0o500 } else { 0o400 };
                let mut new =
                    OpenOptions::new().write(true).create_new(true).mode(mode).open(place)?;
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

    /// A link keeps leading where it led: to the copy of what is copied, and to the place itself otherwise.
    fn visit_link(&mut self, path: &Path) -> io::Result<()> {
        let target = fs::read_link(path)?;
        self.records.add(b"link", path, target.as_os_str().as_bytes());
        let Ok(real) = fs::canonicalize(path) else { return Ok(()) };
        self.records.add(b"leads to", path, real.as_os_str().as_bytes());
        match self.copy.filter(|_| self.places.is_copied(&real)) {
            Some(copy) => self.link(path, &mirrored(copy, &real)),
            None => self.link(path, &real),
        }
    }

    /// Puts a link where the copy holds `path`, unless something is there already.
    fn link(&self, path: &Path, target: &Path) -> io::Result<()> {
        let Some(copy) = self.copy else { return Ok(()) };
        match symlink(target, self.room(copy, path)?) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Where the copy holds `path`, with the folders above it.
    fn room(&self, copy: &Path, path: &Path) -> io::Result<PathBuf> {
        let place = mirrored(copy, path);
        if let Some(folder) = place.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        Ok(place)
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
