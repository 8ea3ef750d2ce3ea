//! Our own capability servers: programs that are installed with this one.

use std::path::{Path, PathBuf};

use environment::Environment;

/// How the capability servers are installed.
pub const HOW_TO_INSTALL: &str = "install the package `powerstrip-servers` (`deploy/install.sh --servers`), or build all \
    of them with `cargo build --release --workspace --bins` and put them next to this program or in PATH";

/// How a server is started: by its name if it is in `PATH`, else by its path if it is in the folder of this program.
pub fn locate(program: &str) -> Option<String> {
    let path = Environment::of_process().path("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    if folders.any(|folder| is_program(&folder.join(program))) {
        return Some(program.to_owned());
    }
    let own = std::env::current_exe().ok()?;
    let next_to_it: PathBuf = own.parent()?.join(program);
    is_program(&next_to_it).then(|| next_to_it.display().to_string())
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
