//! What `connect` changed in a client's file, and the entries that `--move` took out of it, kept so that `disconnect` can
//! undo both.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use config::client_files::MAX_FILE_BYTES;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::DataFolder;
use userfiles::{Access, UserFile};

/// The largest file that is read: the text of a client's file before and after, and its entries. In JSON, a text has at
/// most six times as many bytes.
const MAX_BYTES: u64 = 6 * 3 * MAX_FILE_BYTES;

/// The keys by which entries say how the gateway is reached.
const ROUTE_KEYS: [&str; 6] = ["command", "args", "type", "url", "serverUrl", "httpUrl"];

/// What `connect` did in one file. The entries may contain secrets, so only the owner of the data folder can read them.
#[derive(Serialize, Deserialize)]
pub struct ConnectRecord {
    client: String,
    file: PathBuf,
    /// The entries that were moved out of the file.
    pub servers: Vec<MovedEntry>,
    /// The gateway's entries that were written into the file, by their names.
    #[serde(default)]
    written: BTreeMap<String, Value>,
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
pub struct MovedEntry {
    /// The keys that lead to it in the file.
    pub keys: Vec<String>,
    /// As the client had it.
    pub entry: Value,
}

impl ConnectRecord {
    /// The record of a file; an empty one if nothing was changed there.
    pub fn read(data_dir: &Path, client: &str, file: &Path) -> anyhow::Result<Self> {
        let mut known = Self::read_from(&path_of(data_dir, client, file))?;
        if known.is_none() {
            let earlier = Self::read_from(&earlier_path_of(data_dir, client))?;
            known = earlier.filter(|earlier| canonical(&earlier.file) == canonical(file));
        }
        Ok(known.unwrap_or_else(|| Self::new(client, file)))
    }

    /// The record of a file in which nothing was changed.
    pub fn new(client: &str, file: &Path) -> Self {
        Self {
            client: client.to_owned(),
            file: canonical(file),
            servers: Vec::new(),
            written: BTreeMap::new(),
            text_before: None,
            text_after: None,
            is_first: true,
        }
    }

    /// Whether nothing was changed in the file before.
    pub fn is_new(&self) -> bool {
        self.is_first
    }

    fn read_from(path: &Path) -> anyhow::Result<Option<Self>> {
        let text = match userfiles::read_text(path, MAX_BYTES) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.with_context(|| format!("{} cannot be read", path.display()))?,
        };
        // Entries that cannot be read are not overwritten: they may be the only copy.
        serde_json::from_str(&text).map(Some).with_context(|| {
            let path = path.display();
            format!(
                "{path} has the entries that were moved from a client's file and is damaged; move it elsewhere to go on \
                 without them"
            )
        })
    }

    /// Keeps an entry that is moved out of the file, in place of an older one that was there.
    pub fn keep(&mut self, moved: MovedEntry) {
        self.servers.retain(|known| known.keys != moved.keys);
        self.servers.push(moved);
    }

    /// Whether `connect` has written this entry. The client or the user may have added keys since.
    pub fn has_written(&self, name: &str, entry: &Value) -> bool {
        let written = self.written.get(name).and_then(Value::as_object);
        written.is_some_and(|keys| keys.iter().all(|(key, value)| entry.get(key) == Some(value)))
    }

    /// An entry of the gateway with the keys that the client or the user added to the one that is there. If the client
    /// reaches the gateway in another way by now, the keys of the old one may not fit, and none are kept.
    pub fn merge(&self, name: &str, there: Option<Value>, entry: &Value) -> Value {
        let (Some(Value::Object(mut merged)), Value::Object(entry)) = (there, entry) else {
            return entry.clone();
        };
        if merged.contains_key("command") != entry.contains_key("command") {
            return Value::Object(entry.clone());
        }
        let written = self.written.get(name).and_then(Value::as_object);
        merged.retain(|key, _| {
            !ROUTE_KEYS.contains(&key.as_str())
                && written.is_none_or(|written| !written.contains_key(key))
        });
        merged.extend(entry.clone());
        Value::Object(merged)
    }

    /// Stores that an entry of the gateway is written, with the text of the file before the change, if there was a file,
    /// and after it.
    pub fn add(
        &mut self,
        name: &str,
        entry: &Value,
        before: Option<&str>,
        after: &str,
        data_dir: &Path,
    ) -> anyhow::Result<()> {
        self.written.insert(name.to_owned(), entry.clone());
        self.remember(before, after);
        self.write(data_dir)
    }

    /// Stores that the entry of this name is removed, while others of the gateway stay in the file.
    pub fn remove(
        &mut self,
        name: &str,
        before: &str,
        after: &str,
        data_dir: &Path,
    ) -> anyhow::Result<()> {
        if self.is_first {
            return Ok(());
        }
        self.written.remove(name);
        self.remember(Some(before), after);
        self.write(data_dir)
    }

    fn remember(&mut self, before: Option<&str>, after: &str) {
        if self.is_first {
            self.text_before = before.map(str::to_owned);
        } else if self.text_after.as_deref() != before && self.text_before.as_deref() != before {
            // The file was edited between two changes. One that is as before the first was never written.
            self.text_before = None;
        }
        self.text_after = Some(after.to_owned());
    }

    /// The text to restore, if the file is as the last change left it.
    pub fn text_before(&self, now: &str) -> Option<&str> {
        self.text_before.as_deref().filter(|_| self.text_after.as_deref() == Some(now))
    }

    fn write(&self, data_dir: &Path) -> anyhow::Result<()> {
        let path = self.path(data_dir);
        if !data_dir.exists() {
            // The process that claims a new folder closes it to others and to Git.
            drop(DataFolder::claim(data_dir)?);
        }
        let write = || {
            userfiles::create_private_folder(path.parent().unwrap_or(data_dir))?;
            let text = serde_json::to_vec_pretty(self)?;
            UserFile::find(&path)?.replace(&text, Access::OwnerOnly)
        };
        write().with_context(|| format!("{} cannot be written", path.display()))?;
        self.forget_earlier(data_dir)
    }

    /// Where the record is.
    pub fn path(&self, data_dir: &Path) -> PathBuf {
        path_of(data_dir, &self.client, &self.file)
    }

    /// Keeps the entries with these keys and forgets everything else, once that is undone.
    pub fn keep_only(&mut self, kept: &[Vec<String>], data_dir: &Path) -> anyhow::Result<()> {
        self.servers.retain(|server| kept.contains(&server.keys));
        self.written.clear();
        (self.text_before, self.text_after) = (None, None);
        self.write(data_dir)
    }

    /// Forgets the entries, once they are back.
    pub fn forget(&self, data_dir: &Path) -> anyhow::Result<()> {
        remove(&self.path(data_dir))?;
        self.forget_earlier(data_dir)
    }

    /// Removes the record of an earlier version, which had one for each client, if it is of this file.
    fn forget_earlier(&self, data_dir: &Path) -> anyhow::Result<()> {
        let path = earlier_path_of(data_dir, &self.client);
        let earlier = Self::read_from(&path)?;
        if earlier.is_some_and(|earlier| canonical(&earlier.file) == canonical(&self.file)) {
            remove(&path)?;
        }
        Ok(())
    }
}

fn remove(path: &Path) -> anyhow::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{} cannot be removed", path.display()))
        }
        _ => Ok(()),
    }
}

fn path_of(data_dir: &Path, client: &str, file: &Path) -> PathBuf {
    let digest = proto::digest(canonical(file).as_os_str().as_encoded_bytes());
    data_dir.join("moved").join(format!("{client}-{digest}.json"))
}

fn earlier_path_of(data_dir: &Path, client: &str) -> PathBuf {
    data_dir.join("moved").join(format!("{client}.json"))
}

/// The path of a file without links, also if the file or its folder is missing.
pub fn canonical(file: &Path) -> PathBuf {
    let known = file.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    let Some((part, known)) = known else { return file.to_owned() };
    let rest = file.strip_prefix(part).unwrap_or(Path::new(""));
    known.components().chain(rest.components()).collect()
}
