//! The vault's key: from the environment, or from a file that only its owner may read.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use aws_lc_rs::{hkdf, rand};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use proto::Secret;
use secrecy::zeroize::Zeroizing;

/// A shorter text could be guessed.
const MIN_TEXT_BYTES: usize = 32;

const MAX_FILE_BYTES: u64 = 4_096;

/// Where the key comes from.
#[derive(Clone, Debug)]
pub enum KeySource {
    /// The value of `POWERSTRIP_KEY`.
    Given(Secret),
    /// A file, made at first use.
    File(PathBuf),
}

/// Why there is no key. The message never contains any of it.
#[derive(Debug, thiserror::Error)]
pub enum KeyFault {
    #[error(
        "`POWERSTRIP_KEY` is too short: {MIN_TEXT_BYTES} characters at least, such as `openssl rand -base64 32` prints"
    )]
    TooShort,
    #[error("the key file {} was not made by the gateway; restore it, or remove it and log in again", .0.display())]
    Malformed(PathBuf),
    #[error("other users may read the key file {} (mode {mode:o}); `chmod 600` it", path.display())]
    Open { path: PathBuf, mode: u32 },
    #[error("the key file {} cannot be used: {why}", path.display())]
    File { path: PathBuf, why: io::Error },
    #[error("this system provides no random numbers")]
    Random,
}

/// 32 bytes, wiped when they are dropped.
pub(crate) type KeyBytes = Zeroizing<[u8; 32]>;

impl KeySource {
    pub(super) fn key(&self) -> Result<KeyBytes, KeyFault> {
        self.text().and_then(|text| derive(text.as_bytes(), b"aes-256-gcm"))
    }

    /// An independent key for another purpose.
    pub(crate) fn derive_for(&self, purpose: &'static [u8]) -> Result<KeyBytes, KeyFault> {
        self.text().and_then(|text| derive(text.as_bytes(), purpose))
    }

    fn text(&self) -> Result<Zeroizing<String>, KeyFault> {
        let text = match self {
            Self::Given(text) => Zeroizing::new(text.expose().trim().to_owned()),
            Self::File(path) => read_or_make(path)?,
        };
        match self {
            _ if text.len() >= MIN_TEXT_BYTES => Ok(text),
            Self::Given(_) => Err(KeyFault::TooShort),
            Self::File(path) => Err(KeyFault::Malformed(path.clone())),
        }
    }
}

/// Derives a key for one purpose from a text of any form.
fn derive(text: &[u8], purpose: &'static [u8]) -> Result<KeyBytes, KeyFault> {
    let mut key = Zeroizing::new([0; 32]);
    hkdf::Salt::new(hkdf::HKDF_SHA256, b"powerstrip vault")
        .extract(text)
        .expand(&[purpose], hkdf::HKDF_SHA256)
        .and_then(|derived| derived.fill(&mut *key))
        .map_err(|_| KeyFault::Random)?;
    Ok(key)
}

fn read_or_make(path: &Path) -> Result<Zeroizing<String>, KeyFault> {
    let fault = |why| KeyFault::File { path: path.to_owned(), why };
    match read(path) {
        Err(KeyFault::File { why, .. }) if why.kind() == io::ErrorKind::NotFound => {}
        read => return read,
    }
    let mut bytes = Zeroizing::new([0_u8; 32]);
    rand::fill(&mut *bytes).map_err(|_| KeyFault::Random)?;
    let text = Zeroizing::new(BASE64_STANDARD_NO_PAD.encode(bytes.as_slice()));
    // Written to a draft and hard-linked: the file is always complete, and of two processes the first one's key wins.
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        match std::fs::hard_link(&draft, path) {
            Err(why) if why.kind() != io::ErrorKind::AlreadyExists => Err(why),
            _ => Ok(()),
        }
    })();
    let _ = std::fs::remove_file(&draft);
    written.map_err(fault)?;
    read(path)
}

fn read(path: &Path) -> Result<Zeroizing<String>, KeyFault> {
    let fault = |why| KeyFault::File { path: path.to_owned(), why };
    let file = OpenOptions::new().read(true).open(path).map_err(fault)?;
    let mode = file.metadata().map_err(fault)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(KeyFault::Open { path: path.to_owned(), mode });
    }
    let mut text = Zeroizing::new(String::new());
    file.take(MAX_FILE_BYTES).read_to_string(&mut text).map_err(fault)?;
    Ok(Zeroizing::new(text.trim().to_owned()))
}
