//! `servers`: the MCP servers behind the gateway.

mod resolve;

use std::path::{Path, PathBuf};

use crate::references::ServerReferences;
use crate::secret::HeaderSource;
use crate::server_auth::ServerAuth;
use crate::units::Span;

pub use resolve::with_scheme;
pub(crate) use resolve::{
    check, missing_outside_vault, personal_secrets, resolve, sources, unusable,
};

/// One entry of `servers`, as the file writes it.
pub type Server = server_entry::Server<HeaderSource, ServerAuth, Span, ServerReferences>;

/// A fault of an entry: the keys below its name, and the message.
pub(crate) struct EntryFault {
    pub(super) keys: Vec<String>,
    pub(super) message: String,
}

/// Makes relative paths relative to the config's folder, and absolute: the program may run in another folder.
pub(crate) fn anchor(server: &mut Server, base: &Path) {
    let absolute = |path: &Path| {
        let joined = clean(&base.join(path));
        std::path::absolute(&joined).unwrap_or(joined)
    };
    if let Some(command) = &mut server.command
        && command.contains(std::path::MAIN_SEPARATOR)
    {
        *command = absolute(Path::new(&*command)).to_string_lossy().into_owned();
    }
    if let Some(document) = &mut server.document
        && !document.contains("://")
    {
        *document = absolute(Path::new(&*document)).to_string_lossy().into_owned();
    }
    server.folder = Some(absolute(Path::new(".")));
    let sandbox = &mut server.sandbox;
    for path in server.cwd.iter_mut().chain(&mut sandbox.read).chain(&mut sandbox.write) {
        *path = absolute(path);
    }
}

/// Removes `./` from a path, so that messages show what users would type.
pub(crate) fn clean(path: &Path) -> PathBuf {
    path.components().collect()
}
