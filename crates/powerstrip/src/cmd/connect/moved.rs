//! What `connect` changed in a client's file, and the entries that `--move` took out of it, kept so that `disconnect` can
//! undo both.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use config::client_files::{ClientFile, MAX_FILE_BYTES};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use userfiles::{Access, UserFile};

/// The largest file that is read: the text of a client's file before and after, and its entries. In JSON, a text has at
/// most six times as many bytes.
const MAX_BYTES: u64 = 6 * 3 * MAX_FILE_BYTES;

/// The entries of one client's file. They may contain secrets, so only the owner of the data folder can read them.
#[derive(Serialize, Deserialize)]
pub(in crate::cmd) struct MovedServers {
    client: String,
    pub(in crate::cmd) file: PathBuf,
    pub(in crate::cmd) servers: Vec<MovedEntry>,
    /// The text of the file before the first change, and after the last: while it is unchanged, the file
    /// comes back as it was.
    #[serde(default)]
    text_before: Option<String>,
    #[serde(default)]
    text_after: Option<String>,
    /// Whether nothing was changed in the file before.
    #[serde(skip)]
    is_first: bool,
}

#[derive(Serialize, Deserialize)]
pub(in crate::cmd) struct MovedEntry {
    /// The keys that lead to it in the file.
    pub(in crate::cmd) keys: Vec<String>,
    /// As the client had it.
    pub(in crate::cmd) entry: Value,
}

impl MovedServers {
    /// What was moved from a file before; nothing if nothing was.
    pub(in crate::cmd) fn read(data_dir: &Path, client: &str, file: &Path) -> anyhow::Result<Self> {
        let (path, none) = (place(data_dir, client), || Self {
            client: client.to_owned(),
            file: file.to_owned(),
            servers: Vec::new(),
            text_before: None,
            text_after: None,
            is_first: true,
        });
        let text = match userfiles::read_text(&path, MAX_BYTES) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(none()),
            text => text.with_context(|| format!("{} cannot be read", path.display()))?,
        };
        // Entries that cannot be read are not overwritten: they may be the only copy.
        let kept: Self = serde_json::from_str(&text).with_context(|| {
            format!(
                "{} has the entries that were moved from {client} and is damaged",
                path.display()
            )
        })?;
        if kept.file != file && !kept.servers.is_empty() {
            anyhow::bail!(
                "servers were moved from {} before; put them back with `powerstrip disconnect {client} --file` and that file",
                kept.file.display()
            );
        }
        Ok(if kept.file == file { kept } else { none() })
    }

    /// Stores the entries, and the text of the file before and after a change.
    pub(in crate::cmd) fn keep(
        &mut self,
        before: &ClientFile,
        after: &ClientFile,
        data_dir: &Path,
    ) -> anyhow::Result<()> {
        self.remember(before.text(), after.text());
        self.write(data_dir)
    }

    fn remember(&mut self, before: &str, after: &str) {
        if self.is_first {
            self.text_before = Some(before.to_owned());
        } else if self.text_after.as_deref() != Some(before) {
            // The file was edited between two changes.
            self.text_before = None;
        }
        self.text_after = Some(after.to_owned());
    }

    /// The text to restore, if the file is as the last move left it.
    pub(in crate::cmd) fn text_before(&self, now: &str) -> Option<&str> {
        self.text_before.as_deref().filter(|_| self.text_after.as_deref() == Some(now))
    }

    fn write(&self, data_dir: &Path) -> anyhow::Result<()> {
        let path = place(data_dir, &self.client);
        let write = || {
            std::fs::create_dir_all(data_dir)?;
            userfiles::create_private_folder(path.parent().unwrap_or(data_dir))?;
            let text = serde_json::to_vec_pretty(self)?;
            UserFile::find(&path)?.replace(&text, Access::OwnerOnly)
        };
        write().with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(())
    }

    /// Forgets the entries, once they are back.
    pub(in crate::cmd) fn forget(&self, data_dir: &Path) -> std::io::Result<()> {
        match std::fs::remove_file(place(data_dir, &self.client)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn place(data_dir: &Path, client: &str) -> PathBuf {
    data_dir.join("moved").join(format!("{client}.json"))
}
