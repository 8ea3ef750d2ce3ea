//! The folder that a report is written to.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use gateway::path_files::{GetFile, GetFileInput};
use serde_json::Value;
use tempfile::NamedTempFile;

use super::usage::unusable;
use crate::access::Access;

/// The longest part of a topic in the name of a folder.
const MAX_SLUG: usize = 48;
/// How many numbers are tried for a folder that exists.
const MAX_TRIES: usize = 1000;

/// How the names of files end that a person edits.
pub(super) const DRAFT: &str = ".draft.md";

/// A folder for the files of one report.
pub(super) struct OutputFolder(PathBuf);

impl OutputFolder {
    /// The folder that was asked for, which must be empty, or a new one named after the topic.
    pub(super) fn choose(asked: Option<PathBuf>, topic: &str) -> anyhow::Result<Self> {
        if let Some(path) = asked {
            // Drafts of questions may be there from a call that was interrupted.
            let is_draft = |entry: std::io::Result<std::fs::DirEntry>| {
                entry.is_ok_and(|entry| entry.file_name().to_string_lossy().ends_with(DRAFT))
            };
            return match std::fs::read_dir(&path).map(|mut entries| entries.all(is_draft)) {
                Ok(true) => Ok(Self(path)),
                Ok(false) => {
                    Err(unusable(&path, "the folder is not empty; choose another with --out"))
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self(path)),
                Err(error) => Err(unusable(&path, &error.to_string())),
            };
        }
        let name = format!("research-{}", slug(topic));
        let numbered = (2..MAX_TRIES).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        let free = names.find(|name| std::fs::symlink_metadata(name).is_err());
        let free = free.with_context(|| format!("there are {MAX_TRIES} folders named {name}"))?;
        Ok(Self(free.into()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Makes the folder.
    pub(super) fn create(&self) -> anyhow::Result<()> {
        let path = self.path();
        std::fs::create_dir_all(path).with_context(|| format!("{} cannot be made", path.display()))
    }

    /// Writes the artifacts of an answer, and returns their paths.
    pub(super) async fn write(
        &self,
        access: &Access,
        answer: &Value,
    ) -> anyhow::Result<Vec<PathBuf>> {
        self.create()?;
        let mut written = Vec::new();
        for artifact in answer["artifacts"].as_array().into_iter().flatten() {
            let Some(id) = artifact["file_id"].as_str() else { continue };
            let name = file_name(artifact["file_name"].as_str().unwrap_or_default(), id);
            written.push(self.fetch(access, id, &name).await?);
        }
        Ok(written)
    }

    async fn fetch(&self, access: &Access, id: &str, name: &str) -> anyhow::Result<PathBuf> {
        // The owner writes into a temporary file; only a complete one gets its final name.
        let folder = self.path();
        let draft = NamedTempFile::new_in(folder).with_context(|| folder.display().to_string())?;
        let path = std::path::absolute(draft.path())?;
        access.run::<GetFile>(&GetFileInput { id: id.to_owned(), path }).await?;
        let path = folder.join(name);
        draft.persist_noclobber(&path).with_context(|| path.display().to_string())?;
        Ok(path)
    }
}

/// A name that stays in its folder; the id of a file whose own name does not.
fn file_name(name: &str, id: &str) -> String {
    let plain = Path::new(name).file_name() == Some(OsStr::new(name));
    let visible = !name.starts_with('.') && !name.chars().any(char::is_control);
    if plain && visible { name.to_owned() } else { id.to_owned() }
}

/// Words in lower case with hyphens between them.
pub(super) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for character in text.chars().flat_map(char::to_lowercase) {
        if slug.len() >= MAX_SLUG {
            break;
        }
        if character.is_alphanumeric() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "topic".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_become_names_of_folders() {
        assert_eq!(slug("Urban heat islands: why?"), "urban-heat-islands-why");
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("熱島 効果"), "熱島-効果");
        assert_eq!(slug(" \u{202e}… "), "topic");
        assert!(slug(&"x".repeat(500)).len() <= MAX_SLUG);
    }

    #[test]
    fn names_of_artifacts_stay_in_their_folder() {
        assert_eq!(file_name("report.md", "file_1"), "report.md");
        for name in ["../report.md", "/etc/passwd", "", ".", "..", ".profile", "a\nb", "a/b"] {
            assert_eq!(file_name(name, "file_1"), "file_1", "{name:?}");
        }
    }

    #[test]
    fn a_folder_with_files_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(OutputFolder::choose(Some(folder.path().to_owned()), "x").is_ok());
        std::fs::write(folder.path().join("notes.txt"), "mine").unwrap();
        let refused = OutputFolder::choose(Some(folder.path().to_owned()), "x");
        assert!(refused.err().unwrap().to_string().contains("not empty"));
    }
}
