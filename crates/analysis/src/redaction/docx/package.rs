//! The parts of a document that are kept, with new names, and the archive that they are written to.

use std::collections::{BTreeMap, HashMap};
use std::io::{Cursor, Read as _, Write as _};

use extraction::{Limits, Unreadable};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::kinds::{self, HYPERLINK, IMAGE, Kind, MAIN};
use super::pictures;
use super::walk::Kept;
use super::xml::{self, Node, Output, local};

/// The parts that are kept.
pub(super) struct Package {
    pub(super) parts: Vec<Part>,
    /// What is dropped, in words, and how often.
    pub(super) dropped: BTreeMap<&'static str, usize>,
    strict: bool,
}

/// A part that is kept.
pub(super) struct Part {
    pub(super) content: Content,
    kind: &'static Kind,
    /// Its new name.
    name: String,
    relations: Vec<Relation>,
    pub(super) links: Vec<Link>,
    pub(super) kept: Kept,
}

pub(super) enum Content {
    Xml(String),
    Picture { bytes: Vec<u8>, extension: &'static str },
}

/// A relationship to another kept part.
struct Relation {
    number: String,
    part: usize,
}

/// A relationship to an address.
pub(super) struct Link {
    number: String,
    pub(super) target: String,
}

/// A relationship as the source writes it.
struct Written {
    id: String,
    relation: String,
    target: String,
    external: bool,
}

/// The files of an archive by their names, which have no case.
struct Files(HashMap<String, (String, Vec<u8>)>);

impl Files {
    fn open(bytes: &[u8], limits: &Limits) -> Result<Self, Unreadable> {
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(Unreadable::damaged)?;
        if archive.len() > limits.parts {
            return Err(Unreadable::TooManyParts { limit: limits.parts });
        }
        let mut budget = limits.inflated;
        let mut files = HashMap::new();
        for index in 0..archive.len() {
            let file = archive.by_index(index).map_err(Unreadable::damaged)?;
            let name = file.name().map_err(Unreadable::damaged)?.into_owned();
            let mut bytes = Vec::new();
            // Sizes in the archive's headers are not trusted.
            file.take(budget + 1).read_to_end(&mut bytes).map_err(Unreadable::damaged)?;
            budget = budget.checked_sub(bytes.len() as u64).ok_or(Unreadable::TooLarge {
                what: "its decompressed parts",
                limit: limits.inflated,
            })?;
            if !name.ends_with('/') {
                let key = name.trim_start_matches('/').to_ascii_lowercase();
                files.insert(key, (name, bytes));
            }
        }
        Ok(Self(files))
    }

    fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.get(&name.to_ascii_lowercase()).map(|(_, bytes)| bytes.as_slice())
    }

    /// The relationships of a part; of the package if it has no name.
    fn relations(&self, part: &str, limits: &Limits) -> Result<Vec<Written>, Unreadable> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let gap = if folder.is_empty() { "" } else { "/" };
        let Some(bytes) = self.get(&format!("{folder}{gap}_rels/{file}.rels")) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        xml::each(&xml::decode(bytes)?, limits, |node| {
            if let Node::Open(element) = node
                && local(&element.name) == "Relationship"
                && let (Some(id), Some(relation), Some(target)) =
                    (element.get("Id"), element.get("Type"), element.get("Target"))
            {
                found.push(Written {
                    id: id.to_owned(),
                    relation: relation.to_owned(),
                    target: target.to_owned(),
                    external: element.get("TargetMode").is_some_and(|mode| mode == "External"),
                });
            }
            Ok(())
        })?;
        Ok(found)
    }
}

impl Package {
    pub(super) fn open(bytes: &[u8], limits: &Limits) -> Result<Self, Unreadable> {
        let files = Files::open(bytes, limits)?;
        let top = files.relations("", limits)?;
        let main = top.iter().find(|written| kinds::last_word(&written.relation) == MAIN.relation);
        let name = main.map_or("word/document.xml".to_owned(), |main| resolve("", &main.target));
        let source =
            files.get(&name).ok_or_else(|| Unreadable::damaged("it has no main document"))?;
        let strict = main.is_some_and(|main| kinds::is_strict(&main.relation));
        let mut package = Self { parts: Vec::new(), dropped: BTreeMap::new(), strict };
        package.add(&MAIN, Content::Xml(xml::decode(source)?));
        // The name in the source of each part that is kept.
        let mut names = vec![name];
        let mut at = 0;
        while at < names.len() {
            package.follow(at, &mut names, &files, limits)?;
            at += 1;
        }
        for name in files.0.keys() {
            let is_index = name.ends_with(".rels") || name == "[content_types].xml";
            if !is_index && !names.iter().any(|kept| kept.eq_ignore_ascii_case(name)) {
                *package.dropped.entry(kinds::describe(name)).or_default() += 1;
            }
        }
        Ok(package)
    }

    /// Keeps the parts that a part refers to, if display needs them.
    fn follow(
        &mut self,
        at: usize,
        names: &mut Vec<String>,
        files: &Files,
        limits: &Limits,
    ) -> Result<(), Unreadable> {
        for (index, written) in files.relations(&names[at], limits)?.into_iter().enumerate() {
            let number = format!("rId{}", index + 1);
            let word = kinds::last_word(&written.relation);
            if word == HYPERLINK {
                let link = Link { number: number.clone(), target: written.target };
                self.parts[at].links.push(link);
                self.parts[at].kept.insert(written.id, number);
                continue;
            }
            if written.external {
                *self.dropped.entry("links to other files").or_default() += 1;
                continue;
            }
            let name = resolve(&names[at], &written.target);
            let Some(bytes) = files.get(&name) else { continue };
            let known = names.iter().position(|known| known.eq_ignore_ascii_case(&name));
            let part = match (known, kinds::of(&written.relation)) {
                (Some(known), _) => known,
                (None, Some(kind)) => {
                    names.push(name);
                    self.add(kind, Content::Xml(xml::decode(bytes)?))
                }
                (None, None) if word == IMAGE.relation => {
                    let Some((bytes, extension)) = pictures::without_metadata(bytes) else {
                        continue;
                    };
                    names.push(name);
                    self.add(&IMAGE, Content::Picture { bytes, extension })
                }
                (None, None) => continue,
            };
            self.parts[at].relations.push(Relation { number: number.clone(), part });
            self.parts[at].kept.insert(written.id, number);
        }
        Ok(())
    }

    fn add(&mut self, kind: &'static Kind, content: Content) -> usize {
        let extension = match &content {
            Content::Xml(_) => "xml",
            Content::Picture { extension, .. } => extension,
        };
        let count = self.parts.iter().filter(|part| part.kind.stem == kind.stem).count();
        let number = if count == 0 { String::new() } else { count.to_string() };
        let name = format!("word/{}{number}.{extension}", kind.stem);
        self.parts.push(Part {
            content,
            kind,
            name,
            relations: Vec::new(),
            links: Vec::new(),
            kept: Kept::new(),
        });
        self.parts.len() - 1
    }

    pub(super) fn write(&self) -> Result<Vec<u8>, Unreadable> {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let mut add = |name: &str, bytes: &[u8]| {
            archive.start_file(name, SimpleFileOptions::default())?;
            archive.write_all(bytes).map_err(zip::result::ZipError::from)
        };
        let written: Result<(), zip::result::ZipError> = (|| {
            add("[Content_Types].xml", self.content_types().as_bytes())?;
            let main = [(
                "rId1".to_owned(),
                kinds::uri(&MAIN, self.strict),
                "word/document.xml".to_owned(),
                false,
            )];
            add("_rels/.rels", relationships(&main).as_bytes())?;
            for part in &self.parts {
                match &part.content {
                    Content::Xml(xml) => add(&part.name, xml.as_bytes())?,
                    Content::Picture { bytes, .. } => add(&part.name, bytes)?,
                }
                let rows = self.relations_of(part);
                if !rows.is_empty() {
                    let (folder, file) = part.name.rsplit_once('/').unwrap_or(("", &part.name));
                    add(&format!("{folder}/_rels/{file}.rels"), relationships(&rows).as_bytes())?;
                }
            }
            Ok(())
        })();
        written.map_err(Unreadable::damaged)?;
        Ok(archive.finish().map_err(Unreadable::damaged)?.into_inner())
    }

    fn relations_of(&self, part: &Part) -> Vec<(String, String, String, bool)> {
        let parts = part.relations.iter().map(|relation| {
            let to = &self.parts[relation.part];
            (
                relation.number.clone(),
                kinds::uri(to.kind, self.strict),
                format!("/{}", to.name),
                false,
            )
        });
        let links = part.links.iter().map(|link| {
            let relation = kinds::standard_uri(HYPERLINK, self.strict);
            (link.number.clone(), relation, link.target.clone(), true)
        });
        parts.chain(links).collect()
    }

    fn content_types(&self) -> String {
        let mut output = Output::new();
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let types = "http://schemas.openxmlformats.org/package/2006/content-types";
        output.open("Types", &[pair("xmlns", types)]);
        let relationships = "application/vnd.openxmlformats-package.relationships+xml";
        for (extension, content) in [("rels", relationships), ("xml", "application/xml")] {
            let row = [pair("Extension", extension), pair("ContentType", content)];
            output.open("Default", &row);
            output.close();
        }
        for part in &self.parts {
            let content = match &part.content {
                Content::Xml(_) => kinds::content_type(part.kind),
                Content::Picture { extension, .. } => format!("image/{extension}"),
            };
            let name = format!("/{}", part.name);
            output.open("Override", &[pair("PartName", &name), pair("ContentType", &content)]);
            output.close();
        }
        output.close();
        output.finish()
    }
}

fn relationships(rows: &[(String, String, String, bool)]) -> String {
    let mut output = Output::new();
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let space = "http://schemas.openxmlformats.org/package/2006/relationships";
    output.open("Relationships", &[pair("xmlns", space)]);
    for (id, relation, target, external) in rows {
        let mut row = vec![pair("Id", id), pair("Type", relation), pair("Target", target)];
        if *external {
            row.push(pair("TargetMode", "External"));
        }
        output.open("Relationship", &row);
        output.close();
    }
    output.close();
    output.finish()
}

/// The name of the part that a relationship of `part` names.
fn resolve(part: &str, target: &str) -> String {
    let folder = part.rsplit_once('/').map_or("", |(folder, _)| folder);
    let folder = if target.starts_with('/') { "" } else { folder };
    let mut steps: Vec<&str> = folder.split('/').filter(|step| !step.is_empty()).collect();
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    steps.join("/")
}
