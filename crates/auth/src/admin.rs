//! The admin token: the operator's credential, with or without an identity provider.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use proto::{Digest, Principal, Secret, TenantId, Via, digest};

use crate::local::LOCAL_TENANT;
use crate::random::random_text;
use crate::scope;

/// The prefix of every admin token, by which people and secret scanners recognize one.
const PREFIX: &str = "psa_";

const FILE: &str = "admin.token";
const MAX_FILE_BYTES: u64 = 4_096;

/// A shorter text could be guessed, and was not written by the gateway.
const MIN_TEXT_BYTES: usize = 40;

/// Why there is no admin token. Never repeats any of it.
#[derive(Debug, thiserror::Error)]
pub enum AdminFault {
    #[error("the admin token's file {} cannot be used: {why}", path.display())]
    File { path: PathBuf, why: io::Error },
    #[error("this system provides no random numbers")]
    Randomness,
}

/// The one admin token of a data folder.
pub struct AdminToken {
    path: PathBuf,
    text: Secret,
    digest: Digest,
    principal: Arc<Principal>,
}

impl AdminToken {
    /// The token of a data folder that this process owns, made if there is none. One that other users could read is
    /// replaced.
    pub fn open(folder: &Path) -> Result<Self, AdminFault> {
        let path = folder.join(FILE);
        let text = match read(&path).map_err(|why| AdminFault::File { path: path.clone(), why })? {
            Some(text) => text,
            None => make(&path)?,
        };
        let principal = Arc::new(Principal {
            tenant: TenantId::new(LOCAL_TENANT),
            subject: "admin".to_owned(),
            agent: None,
            scopes: scope::ALL
                .iter()
                .chain(&scope::OF_ADMIN)
                .map(|&name| name.to_owned())
                .collect(),
            via: Via::Local,
        });
        Ok(Self { path, digest: digest(text.as_bytes()), text: Secret::new(text), principal })
    }

    /// The file that stores it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The token itself, for the command that prints it.
    pub fn text(&self) -> &Secret {
        &self.text
    }

    /// The operator, who may see the data of all tenants.
    pub fn principal(&self) -> &Arc<Principal> {
        &self.principal
    }

    /// The operator, if this is the token. Compared in constant time.
    pub fn verify(&self, token: &str) -> Option<&Arc<Principal>> {
        let given = digest(token.as_bytes());
        let same = verify_slices_are_equal(given.as_bytes(), self.digest.as_bytes()).is_ok();
        same.then_some(&self.principal)
    }

    /// Whether a text has the form of an admin token, of this gateway or another.
    pub(crate) fn has_prefix(token: &str) -> bool {
        token.starts_with(PREFIX)
    }
}

fn read(path: &Path) -> io::Result<Option<String>> {
    let file = match OpenOptions::new().read(true).open(path) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        tracing::warn!(path = %path.display(), "other users could read the admin token; it is replaced");
        return Ok(None);
    }
    let mut text = String::new();
    file.take(MAX_FILE_BYTES).read_to_string(&mut text)?;
    let text = text.trim();
    Ok((text.starts_with(PREFIX) && text.len() >= MIN_TEXT_BYTES).then(|| text.to_owned()))
}

fn make(path: &Path) -> Result<String, AdminFault> {
    let text = format!("{PREFIX}{}", random_text().ok_or(AdminFault::Randomness)?);
    // Written to a draft and renamed, so that the file is always complete.
    let draft = path.with_extension("draft");
    let written = (|| {
        let _ = std::fs::remove_file(&draft);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        writeln!(file, "{text}")?;
        file.sync_all()?;
        std::fs::rename(&draft, path)
    })();
    written.map_err(|why| AdminFault::File { path: path.to_owned(), why })?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn the_admin_token_is_made_once_and_kept_0600() {
        let folder = tempfile::tempdir().unwrap();
        let first = AdminToken::open(folder.path()).unwrap();
        let mode = std::fs::metadata(first.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = AdminToken::open(folder.path()).unwrap();
        assert_eq!(again.text().expose(), first.text().expose());
        assert!(first.text().expose().len() >= MIN_TEXT_BYTES);

        let admin = again.verify(first.text().expose()).unwrap();
        assert!(
            scope::covers(admin, scope::ADMIN) && scope::covers(admin, scope::APPROVALS_DECIDE)
        );
        assert_eq!(admin.agent, None);
        for wrong in
            ["", "psa_", &first.text().expose()[1..], &format!("{}x", first.text().expose())]
        {
            assert!(again.verify(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_readable_or_invalid_admin_token_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let first = AdminToken::open(folder.path()).unwrap();
        std::fs::set_permissions(first.path(), Permissions::from_mode(0o644)).unwrap();
        let second = AdminToken::open(folder.path()).unwrap();
        assert!(second.verify(first.text().expose()).is_none());
        assert_eq!(std::fs::metadata(first.path()).unwrap().permissions().mode() & 0o777, 0o600);

        std::fs::write(first.path(), "psa_short\n").unwrap();
        assert!(AdminToken::open(folder.path()).unwrap().verify("psa_short").is_none());
    }
}
