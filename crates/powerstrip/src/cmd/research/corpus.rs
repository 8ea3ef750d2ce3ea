//! The documents of a folder as a collection.

use std::path::{Component, Path, PathBuf};

use anyhow::bail;
use corpus::operations::{CollectionInput, ListCollections, RemoveCollection};
use gateway::collection_files::{AddFile, AddFileInput, FileStatus};
use operations::NoInput;
use proto::digest_of_parts;
use terminal::progress::Progress;
use terminal::shown;

use super::usage::unusable;
use crate::access::Access;
use crate::cmd::collections::{Files, Skipped, SourceFile};

/// Files with data rather than prose.
const DATA: [&str; 6] = ["json", "jsonl", "yaml", "yml", "toml", "lock"];

/// The longest part of a folder's name in the name of its collection.
const MAX_NAME: usize = 32;

/// A document and how chunks name it: by its path in the folder, so that a report is the same wherever the folder is.
struct Document {
    path: PathBuf,
    source: String,
}

/// Reads the documents of a folder into a collection of its own, and returns the collection's name.
pub(super) async fn index(access: &Access, folder: &Path) -> anyhow::Result<String> {
    let root = match std::fs::canonicalize(folder) {
        Ok(root) if root.is_dir() => root,
        Ok(_) => return Err(unusable(folder, "not a folder")),
        Err(error) => return Err(unusable(folder, &error.to_string())),
    };
    let mut files = Files::default();
    files.add(&root)?;
    let Files { found, skipped } = files;
    for Skipped { source, why } in &skipped {
        terminal::note(format_args!("skipped {}: {}", shown(source), shown(why)));
    }
    let documents: Vec<Document> =
        found.into_iter().filter_map(|found| document(&root, found)).collect();
    if documents.is_empty() {
        return Err(unusable(folder, "the folder has no documents"));
    }
    let sources = documents.iter().map(|document| document.source.as_str());
    let (name, family) = names(&root, sources);
    remove_outdated(access, &name, &family).await?;
    let all = documents.len();
    let (mut readable, mut warnings) = (0_usize, Vec::new());
    for (number, Document { path, source }) in (1..).zip(documents) {
        let progress = Progress::start(format!("reading {}, {number} of {all}", shown(&source)));
        let input = AddFileInput { name: name.clone(), path, source };
        let added = access.run::<AddFile>(&input).await;
        progress.end().await;
        let added = added?;
        match (added.status, added.why) {
            (FileStatus::Skipped, why) => {
                let why = why.unwrap_or_default();
                terminal::note(format_args!("skipped {}: {}", shown(&added.source), shown(&why)));
            }
            _ => readable += 1,
        }
        for warning in added.warnings {
            if !warnings.contains(&warning) {
                terminal::note(format_args!("warning: {}", shown(&warning)));
                warnings.push(warning);
            }
        }
    }
    if readable == 0 {
        bail!("{}: no document of the folder can be read", folder.display());
    }
    terminal::note(format_args!("Reading {readable} documents of {}", folder.display()));
    Ok(name)
}

/// A document of the folder; none for what describes the folder or is data.
fn document(root: &Path, SourceFile { path, .. }: SourceFile) -> Option<Document> {
    let inside = path.strip_prefix(root).ok()?;
    let parts: Vec<_> = inside.components().collect();
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let describes = parts.len() == 1 && name.split('.').next() == Some("readme");
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    if describes || ending.is_some_and(|ending| DATA.contains(&ending.as_str())) {
        return None;
    }
    let parts = parts.iter().filter_map(|part| match part {
        Component::Normal(part) => Some(part.to_string_lossy()),
        _ => None,
    });
    let source = parts.collect::<Vec<_>>().join("/");
    Some(Document { path, source })
}

/// The name of a folder's collection, and how the names of its earlier states begin. It changes when a file is added or
/// removed, so that a collection never has documents that are gone.
fn names<'a>(root: &Path, sources: impl Iterator<Item = &'a str>) -> (String, String) {
    let folder = root.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let plain: String = folder
        .chars()
        .map(|character| if character.is_ascii_alphanumeric() { character } else { '-' })
        .take(MAX_NAME)
        .collect();
    let short = |digest: proto::Digest| -> String {
        digest.as_bytes()[..4].iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let place = short(digest_of_parts([root.as_os_str().as_encoded_bytes()]));
    let family = format!("corpus-{}-{place}-", plain.trim_matches('-'));
    let files = sources.collect::<Vec<_>>().join("\n");
    let name = format!("{family}{}", short(digest_of_parts([files.as_bytes()])));
    (name, family)
}

/// Removes the collections of earlier states of the folder.
async fn remove_outdated(access: &Access, name: &str, family: &str) -> anyhow::Result<()> {
    let all = access.run::<ListCollections>(&NoInput {}).await?.collections;
    let outdated = all.into_iter().map(|collection| collection.name);
    for name in outdated.filter(|other| other != name && other.starts_with(family)) {
        access.run::<RemoveCollection>(&CollectionInput { name }).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_name_until_its_files_change() {
        let names = |root: &str, sources: &[&str]| names(Path::new(root), sources.iter().copied());
        let (name, family) = names("/a/Urban heat", &["a.md", "b.md"]);
        assert!(name.starts_with("corpus-urban-heat-") && name.len() <= 64, "{name}");
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
        assert_eq!(names("/a/Urban heat", &["a.md", "b.md"]).0, name);
        let (other, same_family) = names("/a/Urban heat", &["a.md"]);
        assert!(other != name && same_family == family);
        assert_ne!(names("/b/Urban heat", &["a.md", "b.md"]).1, family);
        assert!(names("/", &["a.md"]).0.len() <= 64);
        assert!(names(&format!("/{}", "ü".repeat(300)), &["a.md"]).0.len() <= 64);
    }

    #[test]
    fn documents_are_named_by_their_path_in_the_folder() {
        let source = |path: &str| {
            let found = SourceFile { path: path.into(), source: path.to_owned() };
            document(Path::new("/corpus"), found).map(|document| document.source)
        };
        assert_eq!(source("/corpus/more/roofs.md").as_deref(), Some("more/roofs.md"));
        assert_eq!(source("/corpus/more/README.md").as_deref(), Some("more/README.md"));
        for left_out in ["/corpus/README.md", "/corpus/queries.jsonl", "/elsewhere/a.md"] {
            assert_eq!(source(left_out), None, "{left_out}");
        }
    }
}
