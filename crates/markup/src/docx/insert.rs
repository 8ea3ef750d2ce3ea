//! Puts a document into a package, and what its content needs into the other parts.

use crate::inline::{parse, plain_text};
use crate::model::Document;
use crate::normalize::normalize_document;

use super::content::{Content, Relations, Room};
use super::error::DocxError;
use super::fill::CONTENT_MARK;
use super::footnotes::Footnotes;
use super::numbering::{self, Lists};
use super::options::DocxOptions;
use super::package::{Package, Relation};
use super::runs::Look;
use super::styles::{Role, StyleIds};
use super::tree::{Element, Node, Tree};
use super::xml::escape;

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const CORE: &str =
    "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties";
const DUBLIN: &str = "http://purl.org/dc/elements/1.1/";
const EMPTY_STYLES: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<w:styles \
    xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"/>";
/// The lines that separate footnotes from the text are footnotes themselves.
const EMPTY_FOOTNOTES: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<w:footnotes \
    xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
    xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\">\
    <w:footnote w:type=\"separator\" w:id=\"-1\"><w:p><w:pPr><w:spacing w:after=\"0\" w:line=\"240\" w:lineRule=\"auto\"/></w:pPr>\
    <w:r><w:separator/></w:r></w:p></w:footnote><w:footnote w:type=\"continuationSeparator\" w:id=\"0\"><w:p><w:pPr>\
    <w:spacing w:after=\"0\" w:line=\"240\" w:lineRule=\"auto\"/></w:pPr><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>\
    </w:footnotes>";
const EMPTY_CORE: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<cp:coreProperties \
    xmlns:cp=\"http://schemas.openxmlformats.org/package/2006/metadata/core-properties\"/>";

pub(super) fn insert_document(package: &mut Package, document: &Document) -> Result<(), DocxError> {
    let document = normalize_document(document);
    let main = package.main_part()?;
    let Some(mut tree) = package.tree(&main)? else {
        return Err(DocxError::damaged("it has no document part"));
    };
    let (styles_part, mut styles) = package.related_or_new(&main, "styles", EMPTY_STYLES)?;
    let ids = StyleIds::find_or_add(&mut styles);
    package.set(&styles_part, styles.write());
    let mut content = Content {
        styles: &ids,
        room: room(&tree.root),
        out: String::new(),
        lists: Lists::after(&existing(package, &main, "numbering", numbering::EMPTY)?),
        notes: Footnotes::of(&document, next_footnote(package, &main)?),
        relations: Relations::default(),
        pictures: Vec::new(),
    };
    content.document(&document);
    if content.out.is_empty() {
        content.out.push_str("<w:p/>");
    }
    let body = std::mem::take(&mut content.out);
    place(&mut tree.root, body)?;
    if tree.root.attribute("xmlns:r").is_none() {
        tree.root.set_attribute("xmlns:r", OFFICE);
    }
    package.set(&main, tree.write());
    add_lists(package, &main, &content.lists)?;
    add_pictures(package, &main, &mut content)?;
    let relations = std::mem::take(&mut content.relations);
    package.add_relations(&main, &relations.list)?;
    add_footnotes(package, &main, content)
}

/// A related part, or an empty one that is not part of the package yet.
fn existing(package: &Package, main: &str, kind: &str, empty: &str) -> Result<Tree, DocxError> {
    match package.related(main, kind)?.first() {
        Some(name) => match package.tree(name)? {
            Some(tree) => Ok(tree),
            None => Tree::parse(empty.as_bytes()),
        },
        None => Tree::parse(empty.as_bytes()),
    }
}

fn next_footnote(package: &Package, main: &str) -> Result<i64, DocxError> {
    let tree = existing(package, main, "footnotes", EMPTY_FOOTNOTES)?;
    let ids = tree.root.elements().filter_map(|note| note.attribute("w:id")?.parse::<i64>().ok());
    Ok(ids.filter(|id| *id < i64::from(i32::MAX) / 2).max().unwrap_or(0).max(0) + 1)
}

/// The space for text, by the properties of the last section.
fn room(root: &Element) -> Room {
    let section = root.child("w:body").and_then(|body| body.child("w:sectPr"));
    let number = |element: &str, attribute: &str| {
        let element = section.and_then(|section| section.child(element));
        element.and_then(|it| it.attribute(attribute)?.parse::<i64>().ok())
    };
    let page = |attribute, usual| number("w:pgSz", attribute).unwrap_or(usual);
    let margin = |side| number("w:pgMar", side).unwrap_or(1_304).abs();
    let width = page("w:w", 11_906) - margin("w:left") - margin("w:right");
    let height = page("w:h", 16_838) - margin("w:top") - margin("w:bottom");
    let within = |length: i64| u32::try_from(length.clamp(1_440, 31_680)).unwrap_or(1_440);
    Room { width: within(width), height: within(height) }
}

/// Replaces the mark for content; without one, the content goes to the end of the last section.
fn place(root: &mut Element, content: String) -> Result<(), DocxError> {
    let mut content = Some(content);
    replace_mark(root, &mut content);
    let Some(content) = content else { return Ok(()) };
    let Some(body) = root.child_mut("w:body") else {
        return Err(DocxError::damaged("it has no body"));
    };
    // The empty paragraph of a template without text would be an empty line at the top.
    let mut paragraphs = body.children.iter().filter_map(Node::element);
    let only = paragraphs.next().filter(|first| {
        let is_last = paragraphs.all(|other| other.name == "w:sectPr");
        first.name == "w:p" && is_last && !first.contains("w:r") && !first.contains("w:sectPr")
    });
    if only.is_some() {
        body.children.retain(|node| !node.is("w:p"));
    }
    let end = body.children.iter().rposition(|node| node.is("w:sectPr"));
    let at = end.unwrap_or(body.children.len());
    body.children.insert(at, Node::Raw(content));
    Ok(())
}

fn replace_mark(element: &mut Element, content: &mut Option<String>) {
    for node in &mut element.children {
        if node.is(CONTENT_MARK)
            && let Some(content) = content.take()
        {
            *node = Node::Raw(content);
        } else if let Node::Element(element) = node {
            replace_mark(element, content);
        }
    }
}

fn add_lists(package: &mut Package, main: &str, lists: &Lists) -> Result<(), DocxError> {
    if lists.is_empty() {
        return Ok(());
    }
    let (name, mut tree) = package.related_or_new(main, "numbering", numbering::EMPTY)?;
    lists.add_to(&mut tree);
    package.set(&name, tree.write());
    Ok(())
}

fn add_pictures(
    package: &mut Package,
    main: &str,
    content: &mut Content<'_>,
) -> Result<(), DocxError> {
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder);
    let media = if folder.is_empty() { "media".to_owned() } else { format!("{folder}/media") };
    for picture in std::mem::take(&mut content.pictures) {
        let extension = picture.extension;
        let name = package.free_name(&media, "text", extension);
        let file = name.rsplit('/').next().unwrap_or_default();
        content.relations.list.push(Relation {
            id: picture.relation,
            kind: "image",
            target: format!("media/{file}"),
            is_external: false,
        });
        let content_type = format!("image/{extension}");
        package.add_content_type("Default", "Extension", extension, &content_type)?;
        package.set(&name, picture.bytes);
    }
    Ok(())
}

fn add_footnotes(
    package: &mut Package,
    main: &str,
    mut content: Content<'_>,
) -> Result<(), DocxError> {
    if content.notes.cited.is_empty() {
        return Ok(());
    }
    let (name, mut tree) = package.related_or_new(main, "footnotes", EMPTY_FOOTNOTES)?;
    content.notes.closed = true;
    let labels = std::mem::take(&mut content.notes.cited);
    let style = escape(content.styles.get(Role::FootnoteText));
    for (label, id) in labels.iter().zip(content.notes.first..) {
        content.out.push_str(&format!(
            "<w:footnote w:id=\"{id}\"><w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr>"
        ));
        content.run("<w:footnoteRef/>", Look::default(), Some(Role::FootnoteMark));
        content.run("<w:t xml:space=\"preserve\"> </w:t>", Look::default(), None);
        let text = content.notes.text(label).to_owned();
        content.inline(&text, Look::default());
        content.out.push_str("</w:p></w:footnote>");
    }
    tree.root.children.push(Node::Raw(content.out));
    if tree.root.attribute("xmlns:r").is_none() {
        tree.root.set_attribute("xmlns:r", OFFICE);
    }
    package.set(&name, tree.write());
    package.add_relations(&name, &content.relations.list)
}

/// Sets title and author of the file.
pub(super) fn set_properties(
    package: &mut Package,
    document: Option<&Document>,
    options: &DocxOptions,
) -> Result<(), DocxError> {
    let title = options.title.clone().or_else(|| {
        let title = document.map(|document| plain_text(&parse(&document.title)));
        title.filter(|title| !title.is_empty())
    });
    let values = [("dc:title", &title), ("dc:creator", &options.author)];
    if values.iter().all(|(_, value)| value.is_none()) {
        return Ok(());
    }
    let name = match package.related("", "core-properties")?.into_iter().next() {
        Some(name) => name,
        None => {
            let name = "docProps/core.xml";
            let (id, target) = ("rIdNewCore".to_owned(), name.to_owned());
            let relation = Relation { id, kind: CORE, target, is_external: false };
            package.add_relations("", &[relation])?;
            let content_type = "application/vnd.openxmlformats-package.core-properties+xml";
            package.add_content_type("Override", "PartName", "/docProps/core.xml", content_type)?;
            name.to_owned()
        }
    };
    let mut tree = match package.tree(&name)? {
        Some(tree) => tree,
        None => Tree::parse(EMPTY_CORE.as_bytes())?,
    };
    for (element, value) in values {
        let Some(value) = value else { continue };
        let value = escape(value);
        match tree.root.child_mut(element) {
            Some(found) => found.children = vec![Node::Raw(value)],
            None => tree
                .root
                .children
                .push(Node::Raw(format!("<{element} xmlns:dc=\"{DUBLIN}\">{value}</{element}>"))),
        }
    }
    package.set(&name, tree.write());
    Ok(())
}
