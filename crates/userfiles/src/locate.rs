//! Decides which file a path means when it is written to.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The owner of links that belong to the system.
const ROOT: u32 = 0;

/// The user that writes, and the folders that belong to it.
pub(crate) struct Writer {
    pub(crate) user: u32,
    pub(crate) home: Option<PathBuf>,
}

impl Writer {
    /// The user of this process.
    pub(crate) fn current() -> Self {
        Self { user: rustix::process::geteuid().as_raw(), home: std::env::home_dir() }
    }

    /// The path of the file to write, free of links. A link at the end of the path is followed only to a file of the
    /// same user, in the folder of the link or below the home folder, where other users cannot change anything.
    pub(crate) fn locate(&self, path: &Path) -> io::Result<PathBuf> {
        let path = std::path::absolute(path)?;
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it names no file"));
        };
        self.check_folders(parent)?;
        let folder = fs::canonicalize(parent)?;
        let file = folder.join(name);
        match fs::symlink_metadata(&file) {
            Ok(found) if found.is_symlink() => self.follow(&file, &found, &folder),
            Ok(found) => crate::read::require_regular(&found).map(|()| file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(file),
            Err(error) => Err(error),
        }
    }

    /// Refuses folders that are links of other users, who could change where they lead at any time.
    fn check_folders(&self, folder: &Path) -> io::Result<()> {
        for part in folder.ancestors() {
            let found = fs::symlink_metadata(part);
            if let Some(link) = found.ok().filter(Metadata::is_symlink)
                && !self.trusts(&link)
            {
                return Err(refused(part, "a link of another user"));
            }
        }
        Ok(())
    }

    fn follow(&self, link: &Path, found: &Metadata, folder: &Path) -> io::Result<PathBuf> {
        if !self.trusts(found) {
            return Err(refused(link, "a link of another user"));
        }
        let file = fs::canonicalize(link)
            .map_err(|why| refused(link, &format!("a link that leads to no file ({why})")))?;
        let target = fs::symlink_metadata(&file)?;
        crate::read::require_regular(&target)?;
        let home = self.home.as_deref().and_then(|home| fs::canonicalize(home).ok());
        let mut roots = [Some(folder.to_owned()), home].into_iter().flatten();
        let root = roots.find(|root| root.parent().is_some() && file.starts_with(root));
        let Some(root) = root.filter(|_| target.uid() == self.user) else {
            let why = format!(
                "a link to {}, which is not your file in this folder or below your home folder",
                file.display()
            );
            return Err(refused(link, &why));
        };
        for part in file.ancestors().skip(1).take_while(|part| part.starts_with(&root)) {
            let found = fs::symlink_metadata(part)?;
            if found.mode() & 0o002 != 0 || !self.trusts(&found) {
                let why = format!("a link into {}, which other users can change", part.display());
                return Err(refused(link, &why));
            }
        }
        Ok(file)
    }

    fn trusts(&self, found: &Metadata) -> bool {
        [self.user, ROOT].contains(&found.uid())
    }
}

fn refused(link: &Path, what: &str) -> io::Error {
    let message = format!(
        "{} is {what}; nothing is written through it: remove the link, or name the file itself",
        link.display()
    );
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn links_are_followed_within_the_folders_of_their_owner_only() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().canonicalize().unwrap().join(path);
        for folder in ["home/app", "home/dotfiles", "home/open", "other", "project/sub"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in ["home/dotfiles/mcp.json", "home/open/file", "other/file", "project/sub/file"] {
            fs::write(at(file), "{}").unwrap();
        }
        fs::set_permissions(at("home/open"), fs::Permissions::from_mode(0o777)).unwrap();
        let links = [
            ("home/app/mcp.json", "../dotfiles/mcp.json", Ok("home/dotfiles/mcp.json")),
            ("project/twice", "../home/app/mcp.json", Ok("home/dotfiles/mcp.json")),
            ("project/below", "sub/file", Ok("project/sub/file")),
            ("project/out", "../other/file", Err("is not your file")),
            ("home/shared", "open/file", Err("other users can change")),
            ("home/dangling", "nothing", Err("leads to no file")),
            ("home/device", "/dev/null", Err("a pipe, socket or device")),
            ("home/folder", "dotfiles", Err("a folder")),
        ];
        for (link, target, _) in &links {
            symlink(target, at(link)).unwrap();
        }
        let user = fs::metadata(root.path()).unwrap().uid();
        let writer = Writer { user, home: Some(at("home")) };
        for (link, _, expected) in &links {
            match (writer.locate(&at(link)), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, at(expected), "{link}"),
                (Err(why), Err(said)) => assert!(why.to_string().contains(said), "{link}: {why}"),
                (found, _) => panic!("{link}: {found:?}"),
            }
        }
        symlink("home", at("way")).unwrap();
        assert_eq!(writer.locate(&at("way/new")).unwrap(), at("home/new"));
        assert!(writer.locate(&at("none/new")).is_err());
        assert!(writer.locate(&at("home")).is_err());

        // Without a home folder the folder of the link is the only one; `/` would be every folder.
        for home in [None, Some("/".into())] {
            assert!(Writer { user, home }.locate(&at("project/twice")).is_err());
        }
        // For another user, all of these links and files are foreign.
        if user != ROOT {
            return;
        }
        let foreign = |path: &str| {
            let id = rustix::fs::Uid::from_raw(12_345);
            let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
            rustix::fs::chownat(rustix::fs::CWD, at(path), Some(id), None, flags).unwrap();
        };
        foreign("home/app/mcp.json");
        foreign("way");
        foreign("project/sub/file");
        for path in ["home/app/mcp.json", "way/new", "project/below"] {
            assert!(writer.locate(&at(path)).is_err(), "{path}");
        }
    }
}
