//! Lists: one definition for bullets, one for numbers, and an instance for each run of numbers.

use super::tree::{Node, Tree};

/// Word has nine levels.
pub(super) const LEVELS: u8 = 9;

pub(super) const EMPTY: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<w:numbering \
    xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"/>";

#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The ids of the two definitions.
    bullets: u32,
    numbers: u32,
    next: u32,
    bullet_list: Option<u32>,
    /// Id, level and first number of each ordered list.
    ordered: Vec<(u32, u8, u32)>,
}

impl Lists {
    /// Lists with ids that a numbering part does not have yet.
    pub(super) fn after(numbering: &Tree) -> Self {
        let largest = |element: &str, attribute: &str| {
            let found = numbering.root.elements().filter(|it| it.name == element);
            let ids = found.filter_map(|it| it.attribute(attribute)?.parse::<u32>().ok());
            ids.filter(|id| *id < u32::MAX / 2).max()
        };
        let definition = largest("w:abstractNum", "w:abstractNumId").map_or(0, |id| id + 1);
        let next = largest("w:num", "w:numId").map_or(1, |id| id + 1);
        Self { bullets: definition, numbers: definition + 1, next, ..Self::default() }
    }

    fn take_id(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// The list of all bullets.
    pub(super) fn bullet(&mut self) -> u32 {
        match self.bullet_list {
            Some(id) => id,
            None => {
                let id = self.take_id();
                self.bullet_list = Some(id);
                id
            }
        }
    }

    /// A new list that counts from a number.
    pub(super) fn ordered(&mut self, level: u8, first: u32) -> u32 {
        let id = self.take_id();
        self.ordered.push((id, level, first));
        id
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bullet_list.is_none() && self.ordered.is_empty()
    }

    /// Adds the definitions and lists. Word wants all definitions before all lists.
    pub(super) fn add_to(&self, numbering: &mut Tree) {
        let children = &mut numbering.root.children;
        let end = |node: &Node| node.is("w:numIdMacAtCleanup");
        let lists_at = children.iter().position(end).unwrap_or(children.len());
        let mut lists = String::new();
        if let Some(id) = self.bullet_list {
            let definition = self.bullets;
            lists.push_str(&format!(
                "<w:num w:numId=\"{id}\"><w:abstractNumId w:val=\"{definition}\"/></w:num>"
            ));
        }
        for (id, level, first) in &self.ordered {
            let definition = self.numbers;
            lists.push_str(&format!(
                "<w:num w:numId=\"{id}\"><w:abstractNumId w:val=\"{definition}\"/><w:lvlOverride w:ilvl=\"{level}\">\
                 <w:startOverride w:val=\"{first}\"/></w:lvlOverride></w:num>"
            ));
        }
        children.insert(lists_at, Node::Raw(lists));
        let first_list = children.iter().position(|node| node.is("w:num")).unwrap_or(lists_at);
        let definitions = [
            definition(self.bullets, |level| {
                let mark = ["•", "◦", "▪"][usize::from(level) % 3];
                ("bullet", mark.to_owned())
            }),
            definition(self.numbers, |level| ("decimal", format!("%{}.", level + 1))),
        ];
        children.insert(first_list, Node::Raw(definitions.concat()));
    }
}

fn definition(id: u32, level_of: impl Fn(u8) -> (&'static str, String)) -> String {
    let levels = (0..LEVELS).map(|level| {
        let (format, text) = level_of(level);
        let left = 397 * (u32::from(level) + 1);
        format!(
            "<w:lvl w:ilvl=\"{level}\"><w:start w:val=\"1\"/><w:numFmt w:val=\"{format}\"/><w:lvlText w:val=\"{text}\"/>\
             <w:lvlJc w:val=\"left\"/><w:pPr><w:ind w:left=\"{left}\" w:hanging=\"340\"/></w:pPr></w:lvl>"
        )
    });
    format!(
        "<w:abstractNum w:abstractNumId=\"{id}\"><w:multiLevelType w:val=\"hybridMultilevel\"/>{}</w:abstractNum>",
        levels.collect::<String>()
    )
}
