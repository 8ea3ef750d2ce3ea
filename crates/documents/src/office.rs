//! Office files: packages of XML parts with relations between them.

pub(crate) mod cells;
pub(crate) mod docx;
mod flow;
mod inline;
mod look;
pub(crate) mod pptx;
mod styles;
pub(crate) mod xlsx;

use std::collections::HashMap;

use extraction::facts::Facts;
use extraction::metadata::iso_date;
use extraction::text::on_one_line;
use extraction::{Limits, Metadata, Unreadable, encoding};

use crate::archive::Archive;
use crate::xml::{Element, Node, Xml};

/// A package whose parts are found by their relations, as in Office.
pub(crate) struct Package<'a> {
    archive: Archive<'a>,
    limits: &'a Limits,
}

/// Targets of hyperlinks by the names of their relations.
pub(crate) type Links = HashMap<String, String>;

/// A relation from one part to another.
#[derive(Debug)]
pub(crate) struct Relation {
    pub(crate) id: String,
    /// The last word of its type, such as `slide`.
    pub(crate) kind: String,
    /// The target part.
    pub(crate) part: String,
}

impl<'a> Package<'a> {
    pub(crate) fn open(bytes: &'a [u8], limits: &'a Limits) -> Result<Self, Unreadable> {
        Ok(Self { archive: Archive::open(bytes, limits)?, limits })
    }

    /// A part's XML; none if there is no such part.
    pub(crate) fn part(&mut self, name: &str) -> Result<Option<String>, Unreadable> {
        Ok(self.archive.read(name)?.map(|bytes| match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => encoding::decode(error.as_bytes()),
        }))
    }

    /// The part with the document itself.
    pub(crate) fn main(&mut self, usual: &str) -> Result<(String, String), Unreadable> {
        let relations = self.relations("")?;
        let named = relations.into_iter().find(|relation| relation.kind == "officeDocument");
        let name = named.map_or_else(|| usual.to_owned(), |relation| relation.part);
        let part = self.part(&name)?;
        let part = part.ok_or_else(|| Unreadable::damaged(format_args!("`{name}` is missing")))?;
        Ok((name, part))
    }

    /// The relations of a part within the package; external ones are ignored.
    pub(crate) fn relations(&mut self, part: &str) -> Result<Vec<Relation>, Unreadable> {
        let folder = part.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut relations = Vec::new();
        self.each_relation(part, |element| {
            let attribute = |name| element.attribute(name).unwrap_or_default();
            if attribute("TargetMode") != "External" {
                let kind = attribute("Type");
                relations.push(Relation {
                    id: attribute("Id"),
                    kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
                    part: resolve(folder, &attribute("Target")),
                });
            }
        })?;
        Ok(relations)
    }

    fn each_relation(
        &mut self,
        part: &str,
        mut each: impl FnMut(&Element<'_>),
    ) -> Result<(), Unreadable> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let name = [folder, "_rels", &format!("{file}.rels")];
        let name = name.into_iter().filter(|step| !step.is_empty()).collect::<Vec<_>>().join("/");
        let Some(text) = self.part(&name)? else { return Ok(()) };
        let mut xml = Xml::new(&text, self.limits);
        loop {
            match xml.next()? {
                Node::Open(element) if element.name() == "Relationship" => each(&element),
                Node::End => return Ok(()),
                Node::Open(_) | Node::Close(_) | Node::Text(_) => {}
            }
        }
    }

    /// The addresses outside of the package to which a part links, by the names of the relations.
    pub(crate) fn hyperlinks(&mut self, part: &str) -> Result<Links, Unreadable> {
        let mut links = Links::new();
        self.each_relation(part, |element| {
            let attribute = |name| element.attribute(name).unwrap_or_default();
            if attribute("TargetMode") == "External" && attribute("Type").ends_with("/hyperlink") {
                links.insert(attribute("Id"), attribute("Target"));
            }
        })?;
        Ok(links)
    }

    /// The related parts of one kind, each once.
    pub(crate) fn related(&mut self, part: &str, kind: &str) -> Result<Vec<String>, Unreadable> {
        let mut parts: Vec<String> = Vec::new();
        for relation in self.relations(part)? {
            if relation.kind == kind && !parts.contains(&relation.part) {
                parts.push(relation.part);
            }
        }
        Ok(parts)
    }

    /// The texts of the diagrams on a part, which have parts of their own.
    pub(crate) fn diagrams(&mut self, part: &str) -> Result<Vec<String>, Unreadable> {
        let mut texts = Vec::new();
        for data in self.related(part, "diagramData")? {
            let Some(data) = self.part(&data)? else { continue };
            let mut xml = Xml::new(&data, self.limits);
            // The text of a point and its runs have the same name.
            let (mut inside, mut text) = (false, String::new());
            loop {
                match xml.next()? {
                    Node::Open(element) => match element.name() {
                        "pt" => inside = false,
                        "t" if inside => text.push_str(&xml.text()?),
                        "t" => inside = true,
                        "br" => text.push(' '),
                        _ => {}
                    },
                    Node::Close(name) if name == "p" => {
                        texts.push(on_one_line(&std::mem::take(&mut text)));
                    }
                    Node::End => break,
                    Node::Close(_) | Node::Text(_) => {}
                }
            }
        }
        texts.retain(|text| !text.is_empty());
        Ok(texts)
    }

    /// The document's properties.
    pub(crate) fn metadata(&mut self) -> Result<Metadata, Unreadable> {
        let mut meta = Metadata::default();
        let Some(text) = self.part("docProps/core.xml")? else { return Ok(meta) };
        let mut xml = Xml::new(&text, self.limits);
        loop {
            let slot = match xml.next()? {
                Node::Open(element) => match element.name() {
                    "title" => &mut meta.title,
                    "creator" => &mut meta.author,
                    "created" => &mut meta.created,
                    "modified" => &mut meta.modified,
                    "language" => &mut meta.language,
                    "description" => &mut meta.description,
                    _ => continue,
                },
                Node::End => break,
                Node::Close(_) | Node::Text(_) => continue,
            };
            *slot = Some(xml.text()?);
        }
        // Times are given to the second, such as `2026-03-15T08:00:00Z`.
        meta.created = meta.created.and_then(|time| iso_date(time.trim()));
        meta.modified = meta.modified.and_then(|time| iso_date(time.trim()));
        // Several authors are separated by semicolons.
        meta.author = meta.author.map(|author| author.replace(';', ", "));
        Ok(meta)
    }

    pub(crate) fn limits(&self) -> &'a Limits {
        self.limits
    }
}

/// What an Office file is apart from its text.
pub(crate) fn facts(bytes: &[u8], limits: &Limits) -> Result<Facts, Unreadable> {
    let mut package = Package::open(bytes, limits)?;
    let mut facts = Facts { modified: package.metadata()?.modified, ..Facts::default() };
    for name in package.archive.names() {
        facts.has_macros |= name.ends_with("vbaProject.bin");
        facts.signed |= name.starts_with("_xmlsignatures/") && name.ends_with(".xml");
    }
    let Some(text) = package.part("docProps/app.xml")? else { return Ok(facts) };
    let mut xml = Xml::new(&text, limits);
    loop {
        match xml.next()? {
            Node::Open(element) if element.name() == "Application" => {
                let program = on_one_line(&xml.text()?);
                facts.producer = Some(program).filter(|program| !program.is_empty());
            }
            Node::Open(element) if element.name() == "Pages" => {
                facts.pages = xml.text()?.trim().parse().ok().filter(|pages| *pages > 0);
            }
            Node::End => return Ok(facts),
            Node::Open(_) | Node::Close(_) | Node::Text(_) => {}
        }
    }
}

/// Resolves a target relative to a folder; `..` never leaves the package.
fn resolve(folder: &str, target: &str) -> String {
    let mut steps: Vec<&str> = if target.starts_with('/') {
        Vec::new()
    } else {
        folder.split('/').filter(|step| !step.is_empty()).collect()
    };
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    steps.join("/")
}
