//! The parts of a DOCX file, their relations and content types.

use super::archive::{self, Part};
use super::error::DocxError;
use super::tree::{Element, Node, Tree};
use super::xml::escape;

const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const STRICT: &str = "http://purl.oclc.org/ooxml/";

/// A relation that content needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relation {
    pub(super) id: String,
    /// The last word of its type, such as `hyperlink`, or the whole of it.
    pub(super) kind: &'static str,
    pub(super) target: String,
    pub(super) is_external: bool,
}

#[derive(Debug)]
pub(super) struct Package {
    parts: Vec<Part>,
}

impl Package {
    pub(super) fn new(parts: Vec<Part>) -> Self {
        Self { parts }
    }

    pub(super) fn write(&self) -> Result<Vec<u8>, DocxError> {
        archive::write(&self.parts)
    }

    fn part(&self, name: &str) -> Option<&[u8]> {
        let mut parts = self.parts.iter();
        parts.find(|part| part.name.eq_ignore_ascii_case(name)).map(|part| part.bytes.as_slice())
    }

    /// The names of all parts.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|part| part.name.as_str())
    }

    pub(super) fn tree(&self, name: &str) -> Result<Option<Tree>, DocxError> {
        self.part(name).map(Tree::parse).transpose()
    }

    pub(super) fn set(&mut self, name: &str, bytes: Vec<u8>) {
        match self.parts.iter_mut().find(|part| part.name.eq_ignore_ascii_case(name)) {
            Some(part) => part.bytes = bytes,
            None => self.parts.push(Part { name: name.to_owned(), bytes }),
        }
    }

    /// Refuses what is no Word document, or one whose kind would be lost.
    pub(super) fn check_kind(&self) -> Result<(), DocxError> {
        let refuse = |why: &str| Err(DocxError::Unsupported(why.to_owned()));
        if self.part("[Content_Types].xml").is_none() {
            return refuse("is no Word document");
        }
        if self.parts.iter().any(|part| part.name.ends_with("vbaProject.bin")) {
            return refuse("has macros");
        }
        let main = self.main_part()?;
        let Some(tree) = self.tree(&main)? else { return refuse("is no Word document") };
        let namespace = tree.root.attribute("xmlns:w").unwrap_or_default();
        if namespace.starts_with(STRICT) {
            return refuse("is a Strict Open XML document");
        }
        let has_body = tree.root.name == "w:document" && tree.root.child("w:body").is_some();
        if has_body { Ok(()) } else { refuse("is no Word document") }
    }

    /// The part with the document itself.
    pub(super) fn main_part(&self) -> Result<String, DocxError> {
        let related = self.related("", "officeDocument")?;
        Ok(related.into_iter().next().unwrap_or_else(|| "word/document.xml".to_owned()))
    }

    /// The related parts of one kind.
    pub(super) fn related(&self, part: &str, kind: &str) -> Result<Vec<String>, DocxError> {
        let Some(tree) = self.tree(&relations_of(part))? else { return Ok(Vec::new()) };
        let related = tree.root.elements().filter(|relation| {
            let found = relation.attribute("Type").unwrap_or_default();
            found.rsplit('/').next() == Some(kind)
                && relation.attribute("TargetMode").as_deref() != Some("External")
        });
        let folder = part.rsplit_once('/').map_or("", |(folder, _)| folder);
        let parts = related.filter_map(|relation| relation.attribute("Target"));
        let mut parts: Vec<String> = parts.map(|target| resolve(folder, &target)).collect();
        parts.dedup();
        Ok(parts)
    }

    /// The related part of one kind; made if there is none.
    pub(super) fn related_or_new(
        &mut self,
        main: &str,
        kind: &'static str,
        empty: &str,
    ) -> Result<(String, Tree), DocxError> {
        if let Some(name) = self.related(main, kind)?.into_iter().next()
            && let Some(tree) = self.tree(&name)?
        {
            return Ok((name, tree));
        }
        let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder);
        let name = self.free_name(folder, kind, "xml");
        let target = name.rsplit('/').next().unwrap_or(&name).to_owned();
        let relation = Relation { id: format!("rIdNew{kind}"), kind, target, is_external: false };
        self.add_relations(main, &[relation])?;
        let content_type =
            format!("application/vnd.openxmlformats-officedocument.wordprocessingml.{kind}+xml");
        self.add_content_type("Override", "PartName", &format!("/{name}"), &content_type)?;
        self.set(&name, empty.as_bytes().to_vec());
        Ok((name, Tree::parse(empty.as_bytes())?))
    }

    /// A name that no part has.
    pub(super) fn free_name(&self, folder: &str, stem: &str, extension: &str) -> String {
        let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let mut name = format!("{folder}{stem}.{extension}");
        let mut number = 0;
        while self.part(&name).is_some() {
            number += 1;
            name = format!("{folder}{stem}{number}.{extension}");
        }
        name
    }

    pub(super) fn add_relations(
        &mut self,
        part: &str,
        relations: &[Relation],
    ) -> Result<(), DocxError> {
        const EMPTY: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<Relationships \
            xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"/>";
        if relations.is_empty() {
            return Ok(());
        }
        let name = relations_of(part);
        let mut tree = match self.tree(&name)? {
            Some(tree) => tree,
            None => Tree::parse(EMPTY.as_bytes())?,
        };
        let prefix = tree.root.prefix().to_owned();
        for Relation { id, kind, target, is_external } in relations {
            let mode = if *is_external { " TargetMode=\"External\"" } else { "" };
            let target = escape(target);
            let kind =
                if kind.contains('/') { (*kind).to_owned() } else { format!("{RELATIONS}/{kind}") };
            tree.root.children.push(Node::Raw(format!(
                "<{prefix}Relationship Id=\"{id}\" Type=\"{kind}\" Target=\"{target}\"{mode}/>"
            )));
        }
        self.set(&name, tree.write());
        Ok(())
    }

    /// Adds a row (`Default` or `Override`) to the table of content types, once.
    pub(super) fn add_content_type(
        &mut self,
        row: &str,
        key: &str,
        value: &str,
        content_type: &str,
    ) -> Result<(), DocxError> {
        let name = "[Content_Types].xml";
        let Some(mut tree) = self.tree(name)? else {
            return Err(DocxError::damaged("it has no content types"));
        };
        let is_same = |element: &Element| {
            element.attribute(key).is_some_and(|found| found.eq_ignore_ascii_case(value))
        };
        if !tree.root.elements().any(is_same) {
            let prefix = tree.root.prefix().to_owned();
            let value = escape(value);
            tree.root.children.push(Node::Raw(format!(
                "<{prefix}{row} {key}=\"{value}\" ContentType=\"{content_type}\"/>"
            )));
            self.set(name, tree.write());
        }
        Ok(())
    }
}

/// The part with the relations of a part; of the package for an empty name.
pub(super) fn relations_of(part: &str) -> String {
    match part.rsplit_once('/') {
        Some((folder, file)) => format!("{folder}/_rels/{file}.rels"),
        None => format!("_rels/{part}.rels"),
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
