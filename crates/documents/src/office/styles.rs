//! What the styles and the numbering of a Word document say about its paragraphs.

use std::collections::{HashMap, HashSet};

use extraction::Unreadable;

use super::Package;
use super::look::Look;
use crate::xml::{Element, Node, Xml};

/// Longer chains of styles based on others are circles.
const LONGEST: usize = 20;

/// Styles of paragraphs and of text by their names.
#[derive(Debug, Default)]
pub(super) struct Styles {
    /// How the text of styles looks, with what they inherit.
    looks: HashMap<String, Look>,
    /// The style of paragraphs that name none.
    pub(super) usual: Look,
    /// Styles of list items, with the list that they belong to.
    pub(super) lists: HashMap<String, String>,
    /// Styles of headings, with their level from 1.
    pub(super) headings: HashMap<String, usize>,
    /// Lists and their levels that are numbered.
    pub(super) numbered: HashSet<(String, usize)>,
}

impl Styles {
    pub(super) fn read(package: &mut Package<'_>, main: &str) -> Result<Self, Unreadable> {
        let mut styles = Self::default();
        for part in package.related(main, "styles")? {
            let Some(text) = package.part(&part)? else { continue };
            styles.add_styles(&mut Xml::new(&text, package.limits()))?;
        }
        for part in package.related(main, "numbering")? {
            let Some(text) = package.part(&part)? else { continue };
            styles.add_numbering(&mut Xml::new(&text, package.limits()))?;
        }
        Ok(styles)
    }

    /// How the text of a style looks.
    pub(super) fn look(&self, style: &str) -> Look {
        self.looks.get(style).copied().unwrap_or_default()
    }

    fn add_styles(&mut self, xml: &mut Xml<'_>) -> Result<(), Unreadable> {
        let mut style: Option<String> = None;
        let mut own: HashMap<String, Look> = HashMap::new();
        let mut based: HashMap<String, String> = HashMap::new();
        let mut usual = None;
        loop {
            match xml.next()? {
                Node::Open(element) => match (element.name(), &style) {
                    ("style", _) => {
                        style = element.attribute("styleId");
                        let of_text = element.attribute("type").as_deref() == Some("paragraph");
                        let default = element.attribute("default");
                        if of_text && matches!(default.as_deref(), Some("1" | "true" | "on")) {
                            usual.clone_from(&style);
                        }
                    }
                    ("basedOn", Some(style)) => {
                        based.extend(element.attribute("val").map(|base| (style.clone(), base)));
                    }
                    ("vanish" | "sz" | "color" | "highlight" | "shd", Some(style)) => {
                        own.entry(style.clone()).or_default().read(&element);
                    }
                    ("numId", Some(style)) => {
                        let list = element.attribute("val").filter(|list| list != "0");
                        self.lists.extend(list.map(|list| (style.clone(), list)));
                    }
                    ("name", Some(style)) => {
                        let name = element.attribute("val").unwrap_or_default().to_lowercase();
                        if let Some(level) = heading_by_name(&name) {
                            self.headings.insert(style.clone(), level);
                        }
                    }
                    ("outlineLvl", Some(style)) => {
                        if let Some(level) = number(&element).filter(|level| *level < 9) {
                            self.headings.entry(style.clone()).or_insert(level + 1);
                        }
                    }
                    _ => {}
                },
                Node::Close(name) if name == "style" => style = None,
                Node::End => break,
                Node::Close(_) | Node::Text(_) => {}
            }
        }
        for style in own.keys().chain(based.keys()) {
            let chain = std::iter::successors(Some(style), |style| based.get(*style));
            let looks = chain.take(LONGEST).filter_map(|style| own.get(style));
            let look = looks.fold(Look::default(), |look, below| look.or(*below));
            self.looks.insert(style.clone(), look);
        }
        if let Some(usual) = usual {
            self.usual = self.look(&usual);
        }
        Ok(())
    }

    fn add_numbering(&mut self, xml: &mut Xml<'_>) -> Result<(), Unreadable> {
        let mut formats: HashSet<(String, usize)> = HashSet::new();
        let (mut template, mut level) = (None, 0);
        let mut list: Option<String> = None;
        loop {
            match xml.next()? {
                Node::Open(element) => match element.name() {
                    "abstractNum" => template = element.attribute("abstractNumId"),
                    "lvl" => {
                        level =
                            element.attribute("ilvl").and_then(|it| it.parse().ok()).unwrap_or(0);
                    }
                    "numFmt" if list.is_none() => {
                        let format = element.attribute("val").unwrap_or_default();
                        if let Some(template) = &template
                            && format != "bullet"
                            && format != "none"
                        {
                            formats.insert((template.clone(), level));
                        }
                    }
                    "num" => list = element.attribute("numId"),
                    "abstractNumId" => {
                        let template = element.attribute("val").unwrap_or_default();
                        if let Some(list) = &list {
                            let levels =
                                (0..9).filter(|at| formats.contains(&(template.clone(), *at)));
                            self.numbered.extend(levels.map(|level| (list.clone(), level)));
                        }
                    }
                    _ => {}
                },
                Node::Close(name) if name == "num" => list = None,
                Node::End => return Ok(()),
                Node::Close(_) | Node::Text(_) => {}
            }
        }
    }
}

fn number(element: &Element<'_>) -> Option<usize> {
    element.attribute("val").and_then(|level| level.parse().ok())
}

/// The built-in headings have English names in every language.
fn heading_by_name(name: &str) -> Option<usize> {
    match name {
        "title" => Some(1),
        name => name.strip_prefix("heading ").and_then(|level| level.parse().ok()),
    }
}
