//! The styles that content uses: those of a template by their names, and ours where it has none.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Node, Tree};

/// What a style is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Title,
    /// 1 to 6.
    Heading(u8),
    ListBullet,
    ListNumber,
    Quote,
    Code,
    CodeSpan,
    Link,
    FootnoteText,
    FootnoteMark,
    TableGrid,
}

pub(super) const ALL: [Role; 16] = [
    Role::Title,
    Role::Heading(1),
    Role::Heading(2),
    Role::Heading(3),
    Role::Heading(4),
    Role::Heading(5),
    Role::Heading(6),
    Role::ListBullet,
    Role::ListNumber,
    Role::Quote,
    Role::Code,
    Role::CodeSpan,
    Role::Link,
    Role::FootnoteText,
    Role::FootnoteMark,
    Role::TableGrid,
];

/// The styles of a document for our roles.
#[derive(Debug, Default)]
pub(super) struct StyleIds(BTreeMap<Role, String>);

impl StyleIds {
    pub(super) fn get(&self, role: Role) -> &str {
        self.0.get(&role).map_or("", String::as_str)
    }

    /// Finds the styles in the part with styles, and adds ours for roles that have none. The names of built-in styles are the
    /// same in every language, their ids are not.
    pub(super) fn find_or_add(styles: &mut Tree) -> Self {
        let mut by_name = BTreeMap::new();
        let mut ids = BTreeSet::new();
        let mut usual = None;
        for style in styles.root.elements().filter(|element| element.name == "w:style") {
            let Some(id) = style.attribute("w:styleId") else { continue };
            let kind = style.attribute("w:type").unwrap_or_default();
            let name = style.child("w:name").and_then(|name| name.attribute("w:val"));
            let is_default = matches!(style.attribute("w:default").as_deref(), Some("1" | "true"));
            if kind == "paragraph" && is_default {
                usual = Some(id.clone());
            }
            by_name.entry((kind, name.unwrap_or_default().to_lowercase())).or_insert(id.clone());
            ids.insert(id);
        }
        let mut found = BTreeMap::new();
        for role in ALL {
            let key = (role.kind().to_owned(), role.name().to_lowercase());
            let id = by_name.get(&key).cloned().unwrap_or_else(|| {
                let mut id = role.id();
                while ids.contains(&id) {
                    id.push('x');
                }
                styles.root.children.push(Node::Raw(role.definition(&id, usual.as_deref())));
                id
            });
            found.insert(role, id);
        }
        Self(found)
    }
}

impl Role {
    fn kind(self) -> &'static str {
        match self {
            Self::CodeSpan | Self::Link | Self::FootnoteMark => "character",
            Self::TableGrid => "table",
            _ => "paragraph",
        }
    }

    /// The name of the built-in style.
    fn name(self) -> String {
        let name = match self {
            Self::Title => "Title",
            Self::Heading(level) => return format!("heading {level}"),
            Self::ListBullet => "List Bullet",
            Self::ListNumber => "List Number",
            Self::Quote => "Quote",
            Self::Code => "Code",
            Self::CodeSpan => "Code Char",
            Self::Link => "Hyperlink",
            Self::FootnoteText => "footnote text",
            Self::FootnoteMark => "footnote reference",
            Self::TableGrid => "Table Grid",
        };
        name.to_owned()
    }

    fn id(self) -> String {
        let words = self.name();
        words
            .split(' ')
            .map(|word| {
                let mut chars = word.chars();
                let first = chars.next().map(|c| c.to_ascii_uppercase());
                first.into_iter().chain(chars).collect::<String>()
            })
            .collect()
    }

    fn definition(self, id: &str, usual: Option<&str>) -> String {
        let (kind, name) = (self.kind(), self.name());
        let based = usual
            .filter(|_| kind == "paragraph")
            .map(|usual| {
                format!(
                    "<w:basedOn w:val=\"{usual}\"/><w:next w:val=\"{}\"/>",
                    match self {
                        Self::ListBullet | Self::ListNumber | Self::Code => id,
                        _ => usual,
                    }
                )
            })
            .unwrap_or_default();
        let custom =
            if matches!(self, Self::Code | Self::CodeSpan) { " w:customStyle=\"1\"" } else { "" };
        format!(
            "<w:style w:type=\"{kind}\"{custom} w:styleId=\"{id}\"><w:name w:val=\"{name}\"/>{based}<w:qFormat/>{}</w:style>",
            self.look()
        )
    }

    /// The properties of paragraphs, then of text.
    fn look(self) -> &'static str {
        match self {
            Self::Title => {
                "<w:pPr><w:keepNext/><w:spacing w:before=\"0\" w:after=\"240\" w:line=\"240\" w:lineRule=\"auto\"/></w:pPr>\
                 <w:rPr><w:b/><w:color w:val=\"1F2A44\"/><w:sz w:val=\"48\"/><w:szCs w:val=\"48\"/></w:rPr>"
            }
            Self::Heading(1) => {
                "<w:pPr><w:keepNext/><w:keepLines/><w:spacing w:before=\"360\" w:after=\"120\"/><w:outlineLvl w:val=\"0\"/></w:pPr>\
                 <w:rPr><w:b/><w:color w:val=\"1F3864\"/><w:sz w:val=\"32\"/><w:szCs w:val=\"32\"/></w:rPr>"
            }
            Self::Heading(2) => {
                "<w:pPr><w:keepNext/><w:keepLines/><w:spacing w:before=\"280\" w:after=\"100\"/><w:outlineLvl w:val=\"1\"/></w:pPr>\
                 <w:rPr><w:b/><w:color w:val=\"1F3864\"/><w:sz w:val=\"27\"/><w:szCs w:val=\"27\"/></w:rPr>"
            }
            Self::Heading(3) => {
                "<w:pPr><w:keepNext/><w:keepLines/><w:spacing w:before=\"220\" w:after=\"80\"/><w:outlineLvl w:val=\"2\"/></w:pPr>\
                 <w:rPr><w:b/><w:color w:val=\"2F4A7A\"/><w:sz w:val=\"24\"/><w:szCs w:val=\"24\"/></w:rPr>"
            }
            Self::Heading(4) => {
                "<w:pPr><w:keepNext/><w:keepLines/><w:spacing w:before=\"200\" w:after=\"60\"/><w:outlineLvl w:val=\"3\"/></w:pPr>\
                 <w:rPr><w:b/><w:color w:val=\"2F4A7A\"/></w:rPr>"
            }
            Self::Heading(5) => {
                "<w:pPr><w:keepNext/><w:keepLines/><w:spacing w:before=\"180\" w:after=\"60\"/><w:outlineLvl w:val=\"4\"/></w:pPr>\
                 <w:rPr><w:i/><w:color w:val=\"2F4A7A\"/></w:rPr>"
            }
            Self::Heading(_) => {
                "<w:pPr><w:keepNext/><w:keepLines/><w:spacing w:before=\"180\" w:after=\"60\"/><w:outlineLvl w:val=\"5\"/></w:pPr>\
                 <w:rPr><w:color w:val=\"5A6478\"/></w:rPr>"
            }
            Self::ListBullet | Self::ListNumber => "<w:pPr><w:spacing w:after=\"50\"/></w:pPr>",
            Self::Quote => {
                "<w:pPr><w:pBdr><w:left w:val=\"single\" w:sz=\"18\" w:space=\"10\" w:color=\"B8C2D6\"/></w:pBdr>\
                 <w:ind w:left=\"454\" w:right=\"284\"/></w:pPr><w:rPr><w:i/><w:color w:val=\"444C5C\"/></w:rPr>"
            }
            Self::Code => {
                "<w:pPr><w:shd w:val=\"clear\" w:color=\"auto\" w:fill=\"F3F4F6\"/><w:suppressAutoHyphens/>\
                 <w:spacing w:before=\"60\" w:after=\"160\" w:line=\"250\" w:lineRule=\"auto\"/>\
                 <w:ind w:left=\"113\" w:right=\"113\"/></w:pPr>\
                 <w:rPr><w:rFonts w:ascii=\"Courier New\" w:hAnsi=\"Courier New\" w:cs=\"Courier New\"/><w:noProof/>\
                 <w:sz w:val=\"18\"/><w:szCs w:val=\"18\"/></w:rPr>"
            }
            Self::CodeSpan => {
                "<w:rPr><w:rFonts w:ascii=\"Courier New\" w:hAnsi=\"Courier New\" w:cs=\"Courier New\"/><w:noProof/>\
                 <w:sz w:val=\"20\"/><w:szCs w:val=\"20\"/><w:shd w:val=\"clear\" w:color=\"auto\" w:fill=\"F3F4F6\"/></w:rPr>"
            }
            Self::Link => "<w:rPr><w:color w:val=\"0B57A4\"/><w:u w:val=\"single\"/></w:rPr>",
            Self::FootnoteText => {
                "<w:pPr><w:spacing w:after=\"40\" w:line=\"240\" w:lineRule=\"auto\"/></w:pPr>\
                 <w:rPr><w:sz w:val=\"18\"/><w:szCs w:val=\"18\"/></w:rPr>"
            }
            Self::FootnoteMark => "<w:rPr><w:vertAlign w:val=\"superscript\"/></w:rPr>",
            Self::TableGrid => {
                "<w:pPr><w:spacing w:after=\"0\" w:line=\"240\" w:lineRule=\"auto\"/></w:pPr>\
                 <w:tblPr><w:tblBorders>\
                 <w:top w:val=\"single\" w:sz=\"6\" w:space=\"0\" w:color=\"A9B3C6\"/>\
                 <w:left w:val=\"single\" w:sz=\"4\" w:space=\"0\" w:color=\"D3D9E5\"/>\
                 <w:bottom w:val=\"single\" w:sz=\"6\" w:space=\"0\" w:color=\"A9B3C6\"/>\
                 <w:right w:val=\"single\" w:sz=\"4\" w:space=\"0\" w:color=\"D3D9E5\"/>\
                 <w:insideH w:val=\"single\" w:sz=\"4\" w:space=\"0\" w:color=\"D3D9E5\"/>\
                 <w:insideV w:val=\"single\" w:sz=\"4\" w:space=\"0\" w:color=\"D3D9E5\"/></w:tblBorders>\
                 <w:tblCellMar><w:top w:w=\"50\" w:type=\"dxa\"/><w:left w:w=\"100\" w:type=\"dxa\"/>\
                 <w:bottom w:w=\"50\" w:type=\"dxa\"/><w:right w:w=\"100\" w:type=\"dxa\"/></w:tblCellMar></w:tblPr>\
                 <w:tblStylePr w:type=\"firstRow\"><w:rPr><w:b/></w:rPr><w:tcPr><w:shd w:val=\"clear\" w:color=\"auto\" \
                 w:fill=\"EAEEF5\"/></w:tcPr></w:tblStylePr>"
            }
        }
    }
}
