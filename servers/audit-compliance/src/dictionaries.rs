//! Hunspell dictionaries: the English one that ships, those of a folder, and those of the system.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use analysis::spelling::Dictionary;
use serde::{Deserialize, Serialize};

/// Where systems install dictionaries.
const SYSTEM: [&str; 3] = ["/usr/share/hunspell", "/usr/share/myspell/dicts", "/usr/share/myspell"];

/// The largest file of a dictionary.
const LARGEST: u64 = 64 << 20;

/// The dictionaries of this machine, each read when it is first needed.
pub(crate) struct Dictionaries {
    folders: Vec<PathBuf>,
    read: Mutex<HashMap<String, Arc<Dictionary>>>,
}

/// A dictionary in use.
pub(crate) enum LoadedDictionary {
    Shipped(&'static Dictionary),
    Installed(Arc<Dictionary>),
}

impl LoadedDictionary {
    pub(crate) fn dictionary(&self) -> &Dictionary {
        match self {
            Self::Shipped(dictionary) => dictionary,
            Self::Installed(dictionary) => dictionary,
        }
    }
}

/// The files of a dictionary.
#[derive(Serialize, Deserialize)]
pub(crate) struct Source {
    rules: String,
    words: String,
}

impl Source {
    pub(crate) fn len(&self) -> usize {
        self.rules.len() + self.words.len()
    }

    pub(crate) fn dictionary(&self) -> Result<Dictionary, String> {
        Dictionary::new(&self.rules, &self.words)
    }
}

/// A language without a dictionary.
pub(crate) struct Missing {
    pub(crate) why: String,
    pub(crate) package: Option<String>,
    pub(crate) fix: String,
}

impl Dictionaries {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        let folders = folder.into_iter().chain(SYSTEM.iter().map(PathBuf::from)).collect();
        Self { folders, read: Mutex::new(HashMap::new()) }
    }

    /// The dictionary of a language.
    pub(crate) fn of(&self, language: Option<&str>) -> Result<LoadedDictionary, Missing> {
        let Some(language) = language else {
            return Err(Missing {
                why: "the language of the text was not recognised".to_owned(),
                package: None,
                fix: "name it in `language`".to_owned(),
            });
        };
        if let Some(dictionary) = self.installed_one(language) {
            return Ok(LoadedDictionary::Installed(dictionary));
        }
        if language == "en"
            && let Some(dictionary) = Dictionary::english()
        {
            return Ok(LoadedDictionary::Shipped(dictionary));
        }
        let package = format!("hunspell-{language}");
        Err(Missing {
            why: format!(
                "there is no dictionary for `{language}`; installed are {}",
                self.installed().join(", ")
            ),
            fix: format!(
                "apt install {package} (or {package}-{language}), or start the server with --dictionaries DIR"
            ),
            package: Some(package),
        })
    }

    /// The languages that can be checked.
    pub(crate) fn installed(&self) -> Vec<String> {
        let mut languages: BTreeSet<String> = ["en".to_owned()].into();
        for folder in &self.folders {
            languages.extend(
                names(folder).iter().filter_map(|name| language_of(name)).map(str::to_owned),
            );
        }
        languages.into_iter().collect()
    }

    /// The files of an installed dictionary, for a process that has no right to read them.
    pub(crate) fn source(&self, language: &str) -> Option<Source> {
        self.folders.iter().find_map(|folder| {
            let mut fitting: Vec<String> = names(folder)
                .into_iter()
                .filter(|name| language_of(name) == Some(language))
                .collect();
            // `de_DE` before `de_AT`: the variant that is named like the language.
            fitting.sort_by_key(|name| (!is_main_variant(name, language), name.clone()));
            let sources = fitting.iter().filter_map(|name| load(folder, name));
            sources.into_iter().find(|source| source.dictionary().is_ok())
        })
    }

    fn installed_one(&self, language: &str) -> Option<Arc<Dictionary>> {
        if let Some(read) = self.read.lock().unwrap_or_else(PoisonError::into_inner).get(language) {
            return Some(Arc::clone(read));
        }
        let source = self.source(language)?;
        let dictionary = Arc::new(source.dictionary().ok()?);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.insert(language.to_owned(), Arc::clone(&dictionary));
        Some(dictionary)
    }
}

/// The names of the dictionaries in a folder, such as `de_DE`.
fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_suffix(".aff").map(str::to_owned)
    });
    names.collect()
}

/// The language of `de_DE`, `de-AT` or `de`.
fn language_of(name: &str) -> Option<&str> {
    let language = name.split(['_', '-']).next()?;
    (language.len() == 2 && language.chars().all(|c| c.is_ascii_lowercase())).then_some(language)
}

fn is_main_variant(name: &str, language: &str) -> bool {
    name == language || name.eq_ignore_ascii_case(&format!("{language}_{language}"))
}

fn load(folder: &Path, name: &str) -> Option<Source> {
    let rules = decoded(&folder.join(format!("{name}.aff")))?;
    let words = decoded(&folder.join(format!("{name}.dic")))?;
    Some(Source { rules, words })
}

/// A file in UTF-8, or in Latin-1, which older dictionaries use.
fn decoded(path: &Path) -> Option<String> {
    if std::fs::metadata(path).ok()?.len() > LARGEST {
        return None;
    }
    let bytes = std::fs::read(path).ok()?;
    Some(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => error.into_bytes().into_iter().map(char::from).collect(),
    })
}
