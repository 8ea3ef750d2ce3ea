//! What typst sees: a template, one JSON file and pictures, all in memory.

use std::sync::LazyLock;

use typst::diag::{FileError, FileResult, PackageError};
use typst::foundations::{Bytes, Datetime, Duration};
use typst::syntax::{FileId, RootedPath, Source, VirtualPath, VirtualRoot};
use typst::text::{Font, FontBook};
use typst::utils::LazyHash;
use typst::{Library, LibraryExt, World};

use crate::failure::TypesetError;
use crate::fonts::Fonts;

/// A world without files, packages, network and clock.
pub(crate) struct MemoryWorld {
    main: Source,
    files: Vec<(FileId, Bytes)>,
}

impl MemoryWorld {
    /// A template with the files that it reads by their names.
    pub(crate) fn new(template: &str, files: Vec<(String, Vec<u8>)>) -> Result<Self, TypesetError> {
        let main = Source::new(file_id("main.typ")?, template.to_owned());
        let files = files.into_iter().map(|(name, bytes)| Ok((file_id(&name)?, Bytes::new(bytes))));
        Ok(Self { main, files: files.collect::<Result<_, TypesetError>>()? })
    }
}

fn file_id(name: &str) -> Result<FileId, TypesetError> {
    let path = VirtualPath::new(name)
        .map_err(|_| TypesetError::Layout(format!("`{name}` is no name of a file")))?;
    Ok(RootedPath::new(VirtualRoot::Project, path).intern())
}

impl World for MemoryWorld {
    fn library(&self) -> &LazyHash<Library> {
        static LIBRARY: LazyLock<LazyHash<Library>> =
            LazyLock::new(|| LazyHash::new(Library::default()));
        &LIBRARY
    }

    fn book(&self) -> &LazyHash<FontBook> {
        &Fonts::shipped().book
    }

    fn main(&self) -> FileId {
        self.main.id()
    }

    fn source(&self, id: FileId) -> FileResult<Source> {
        if id == self.main.id() { Ok(self.main.clone()) } else { Err(missing(id)) }
    }

    fn file(&self, id: FileId) -> FileResult<Bytes> {
        let found = self.files.iter().find(|(file, _)| *file == id);
        found.map(|(_, bytes)| bytes.clone()).ok_or_else(|| missing(id))
    }

    fn font(&self, index: usize) -> Option<Font> {
        Fonts::shipped().get(index)
    }

    fn today(&self, _offset: Option<Duration>) -> Option<Datetime> {
        None
    }
}

fn missing(id: FileId) -> FileError {
    match id.get().root() {
        VirtualRoot::Project => FileError::NotFound(id.get().vpath().get_with_slash().into()),
        VirtualRoot::Package(package) => {
            FileError::Package(PackageError::NotFound(package.clone()))
        }
    }
}
