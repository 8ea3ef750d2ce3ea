//! Characters of fonts that only number their glyphs in a character collection of Adobe, as many Chinese, Japanese and
//! Korean documents do: the tables of the collections name them.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use hayro_interpret::hayro_cmap::{BfString, CMap, CMapName, CidFamily, load_embedded};
use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::object::{Array, Dict, Name, Object, String as PdfString};

use super::script;

/// The most fonts of one document that are looked at.
const FONTS: usize = 2_000;

/// The fonts of a document by their names, read when the first glyph needs them.
pub(super) struct Collections<'a> {
    pdf: &'a Pdf,
    fonts: OnceCell<HashMap<String, Option<Numbered>>>,
}

/// A font whose glyphs are numbered in a collection.
#[derive(Debug, Clone)]
struct Numbered {
    family: CidFamily,
    /// From codes to numbers; `None` if they are the same.
    encoding: Option<Rc<CMap>>,
    /// From numbers to characters.
    characters: Rc<CMap>,
}

impl<'a> Collections<'a> {
    pub(super) fn new(pdf: &'a Pdf) -> Self {
        Self { pdf, fonts: OnceCell::new() }
    }

    /// The characters of a code; `font` is the font's name without the prefix of a subset.
    pub(super) fn text(&self, font: &str, code: u32) -> Option<String> {
        let fonts = self.fonts.get_or_init(|| read(self.pdf));
        let font = fonts.get(font)?.as_ref()?;
        let number = match &font.encoding {
            None => code,
            Some(encoding) => {
                [2, 1, 4, 3].iter().find_map(|bytes| encoding.lookup_cid_code(code, *bytes))?
            }
        };
        let mut text = String::new();
        match font.characters.lookup_bf_string(number)? {
            BfString::Char(character) => script::push_plain(&mut text, character),
            BfString::String(string) => {
                string.chars().for_each(|character| script::push_plain(&mut text, character));
            }
        }
        Some(text)
    }
}

fn read(pdf: &Pdf) -> HashMap<String, Option<Numbered>> {
    let mut fonts: HashMap<String, Option<Numbered>> = HashMap::new();
    let mut tables: HashMap<CidFamily, Option<Rc<CMap>>> = HashMap::new();
    for object in pdf.objects() {
        let Object::Dict(dict) = object else { continue };
        let Some(name) = composite(&dict) else { continue };
        let font = numbered(&dict, &mut tables);
        match fonts.entry(name) {
            Entry::Vacant(slot) => {
                slot.insert(font);
            }
            // Two fonts of one name with different numbers: which one a glyph is of is not known.
            Entry::Occupied(mut slot) => {
                let same = match (slot.get(), &font) {
                    (Some(one), Some(other)) => {
                        one.family == other.family
                            && one.encoding.is_some() == other.encoding.is_some()
                    }
                    _ => false,
                };
                if !same {
                    slot.insert(None);
                }
            }
        }
        if fonts.len() >= FONTS {
            break;
        }
    }
    fonts
}

/// The name of a composite font without the prefix of a subset.
fn composite(dict: &Dict<'_>) -> Option<String> {
    if dict.get::<Name<'_>>(b"Subtype")?.as_ref() != b"Type0" {
        return None;
    }
    let name = dict.get::<Name<'_>>(b"BaseFont")?;
    Some(match name.as_str().split_once('+') {
        Some((prefix, rest)) if prefix.len() == 6 => rest.to_owned(),
        _ => name.as_str().to_owned(),
    })
}

/// A composite font whose collection says what its glyphs show.
fn numbered(
    dict: &Dict<'_>,
    tables: &mut HashMap<CidFamily, Option<Rc<CMap>>>,
) -> Option<Numbered> {
    let descendants = dict.get::<Array<'_>>(b"DescendantFonts")?;
    let descendant = descendants.iter::<Dict<'_>>().next()?;
    let info = descendant.get::<Dict<'_>>(b"CIDSystemInfo")?;
    let registry = info.get::<PdfString<'_>>(b"Registry")?;
    let ordering = info.get::<PdfString<'_>>(b"Ordering")?;
    let family = CidFamily::from_registry_ordering(registry.as_bytes(), ordering.as_bytes());
    let characters = tables
        .entry(family.clone())
        .or_insert_with(|| predefined(family.ucs2_cmap()?).map(Rc::new))
        .clone()?;
    let encoding = match dict.get::<Name<'_>>(b"Encoding")?.as_ref() {
        b"Identity-H" | b"Identity-V" => None,
        encoding => Some(Rc::new(predefined(CMapName::from_bytes(encoding))?)),
    };
    Some(Numbered { family, encoding, characters })
}

fn predefined(name: CMapName<'_>) -> Option<CMap> {
    CMap::parse(load_embedded(name)?, load_embedded)
}
