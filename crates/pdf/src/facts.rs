//! What a PDF is apart from its text: outline, form, signature, encryption.

use std::collections::HashMap;

use extraction::Unreadable;
use extraction::facts::{Facts, FormField, OutlineItem};
use extraction::text::on_one_line;
use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::object::{self, Array, Dict, Name, Object, ObjectIdentifier};

/// The most entries of an outline and of a form.
const MOST: usize = 2_000;

/// The deepest entry.
const DEEPEST: usize = 16;

/// The most characters of a title, a name or a value.
const LONGEST: usize = 1_000;

/// As many pages are looked at to decide whether a document is scanned.
const LOOKED_AT: usize = 20;

/// Reads what a PDF is apart from its text.
pub fn facts(bytes: Vec<u8>) -> Result<Facts, Unreadable> {
    let encrypted = is_encrypted(&bytes);
    let pdf = super::open(bytes)?;
    let info = pdf.metadata();
    let mut facts = Facts {
        producer: info.producer.as_deref().or(info.creator.as_deref()).map(super::string),
        modified: info.modification_date.as_ref().and_then(super::date),
        pages: Some(pdf.pages().len()),
        encrypted,
        scanned: is_scanned(&pdf),
        ..Facts::default()
    };
    let Some(root) = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id()) else { return Ok(facts) };
    let targets = Targets::new(&pdf, &root);
    if let Some(outlines) = root.get::<Dict<'_>>(b"Outlines") {
        outline(&outlines, 1, &targets, &mut facts.outline);
    }
    if let Some(form) = root.get::<Dict<'_>>(b"AcroForm") {
        let fields = form.get::<Array<'_>>(b"Fields");
        for field in fields.iter().flat_map(|fields| fields.iter::<Dict<'_>>()) {
            form_field(&field, &Inherited::default(), 1, &mut facts);
        }
    }
    Ok(facts)
}

/// Whether the trailer names an encryption; it is never compressed.
fn is_encrypted(bytes: &[u8]) -> bool {
    const KEY: &[u8] = b"/Encrypt";
    let mut rest = bytes;
    while let Some(at) = rest.windows(KEY.len()).position(|window| window == KEY) {
        rest = &rest[at + KEY.len()..];
        let after = rest.trim_ascii_start();
        let separate = rest.first().is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'<');
        if separate && (after.first().is_some_and(u8::is_ascii_digit) || after.starts_with(b"<<")) {
            return true;
        }
    }
    false
}

/// Whether the first pages have pictures and no text.
fn is_scanned(pdf: &Pdf) -> bool {
    let (mut texts, mut pictured) = (false, false);
    super::each_page(
        pdf,
        |number| number <= LOOKED_AT,
        |_, content, area| {
            texts |= content.glyphs.iter().any(|glyph| !glyph.is_space());
            pictured |= content.pictured > area.area() * 0.3;
            !texts
        },
    );
    pictured && !texts
}

fn text(value: &object::String<'_>) -> String {
    let text = on_one_line(&super::string(value.as_bytes()));
    text.chars().take(LONGEST).collect()
}

/// The pages that destinations name.
struct Targets<'a> {
    pages: HashMap<ObjectIdentifier, usize>,
    named: HashMap<Vec<u8>, Object<'a>>,
}

impl<'a> Targets<'a> {
    fn new(pdf: &'a Pdf, root: &Dict<'a>) -> Self {
        let pages = pdf.pages().iter().enumerate();
        let pages = pages.filter_map(|(at, page)| Some((page.raw().obj_id()?, at + 1))).collect();
        let mut named = HashMap::new();
        if let Some(old) = root.get::<Dict<'_>>(b"Dests") {
            for name in old.keys().take(MOST * 10) {
                if let Some(target) = old.get::<Object<'_>>(&*name) {
                    named.insert(name.to_vec(), target);
                }
            }
        }
        let tree = root.get::<Dict<'_>>(b"Names").and_then(|names| names.get::<Dict<'_>>(b"Dests"));
        if let Some(tree) = tree {
            add_names(&tree, 1, &mut named);
        }
        Self { pages, named }
    }

    fn page(&self, item: &Dict<'a>) -> Option<usize> {
        let target = item.get::<Object<'_>>(b"Dest").or_else(|| {
            let action = item.get::<Dict<'_>>(b"A")?;
            let kind = action.get::<Name<'_>>(b"S")?;
            (&*kind == b"GoTo").then(|| action.get::<Object<'_>>(b"D"))?
        })?;
        let target = match &target {
            Object::Name(name) => self.named.get(name.as_ref())?.clone(),
            Object::String(name) => self.named.get(name.as_bytes())?.clone(),
            _ => target,
        };
        let array = match target {
            Object::Array(array) => array,
            Object::Dict(dict) => dict.get::<Array<'_>>(b"D")?,
            _ => return None,
        };
        let reference = array.raw_iter().next()?.as_obj_ref()?;
        self.pages.get(&ObjectIdentifier::from(reference)).copied()
    }
}

/// Adds the destinations of a name tree.
fn add_names<'a>(node: &Dict<'a>, depth: usize, named: &mut HashMap<Vec<u8>, Object<'a>>) {
    if let Some(names) = node.get::<Array<'_>>(b"Names") {
        let mut items = names.iter::<Object<'_>>();
        while let (Some(name), Some(target)) = (items.next(), items.next()) {
            if let Object::String(name) = name
                && named.len() < MOST * 10
            {
                named.insert(name.as_bytes().to_vec(), target);
            }
        }
    }
    let kids = node.get::<Array<'_>>(b"Kids").filter(|_| depth < DEEPEST);
    for kid in kids.iter().flat_map(|kids| kids.iter::<Dict<'_>>()) {
        if named.len() >= MOST * 10 {
            return;
        }
        add_names(&kid, depth + 1, named);
    }
}

/// Adds the entries below one. The number of entries bounds a chain that ends in itself.
fn outline<'a>(
    parent: &Dict<'a>,
    level: usize,
    targets: &Targets<'a>,
    items: &mut Vec<OutlineItem>,
) {
    let mut next = parent.get::<Dict<'_>>(b"First");
    while let Some(item) = next.filter(|_| items.len() < MOST && level <= DEEPEST) {
        let title = item.get::<object::String<'_>>(b"Title").map(|title| text(&title));
        let title = title.unwrap_or_default();
        items.push(OutlineItem { level, title, page: targets.page(&item) });
        outline(&item, level + 1, targets, items);
        next = item.get::<Dict<'_>>(b"Next");
    }
}

/// What a field takes from the one that it is part of.
#[derive(Debug, Clone, Default)]
struct Inherited {
    name: String,
    kind: Option<Vec<u8>>,
    flags: i32,
    value: Option<String>,
}

fn form_field(field: &Dict<'_>, above: &Inherited, depth: usize, facts: &mut Facts) {
    if facts.form_fields.len() >= MOST || depth > DEEPEST {
        return;
    }
    let own = field.get::<object::String<'_>>(b"T").map(|name| text(&name));
    let name = match (above.name.as_str(), own) {
        ("", own) => own.unwrap_or_default(),
        (above, Some(own)) => format!("{above}.{own}").chars().take(LONGEST).collect(),
        (above, None) => above.to_owned(),
    };
    let kind = field.get::<Name<'_>>(b"FT").map(|kind| kind.to_vec());
    let it = Inherited {
        name,
        kind: kind.or_else(|| above.kind.clone()),
        flags: field.get::<i32>(b"Ff").unwrap_or(above.flags),
        value: value(field).or_else(|| above.value.clone()),
    };
    let kids = field.get::<Array<'_>>(b"Kids");
    let parts: Vec<Dict<'_>> = kids
        .iter()
        .flat_map(|kids| kids.iter::<Dict<'_>>())
        .take(MOST)
        .filter(|kid| kid.contains_key(b"T"))
        .collect();
    // Kids without a name are the places where the field is shown.
    if !parts.is_empty() {
        parts.iter().for_each(|part| form_field(part, &it, depth + 1, facts));
        return;
    }
    let kind = match it.kind.as_deref() {
        Some(b"Tx") => "text",
        Some(b"Btn") if it.flags & (1 << 16) != 0 => "button",
        Some(b"Btn") if it.flags & (1 << 15) != 0 => "radio",
        Some(b"Btn") => "checkbox",
        Some(b"Ch") => "choice",
        Some(b"Sig") => "signature",
        _ => return,
    };
    facts.signed |= kind == "signature" && field.get::<Dict<'_>>(b"V").is_some();
    let value = it.value.filter(|value| !value.is_empty());
    facts.form_fields.push(FormField { name: it.name, kind: kind.to_owned(), value });
}

fn value(field: &Dict<'_>) -> Option<String> {
    match field.get::<Object<'_>>(b"V")? {
        Object::String(value) => Some(text(&value)),
        Object::Name(value) => Some(value.as_str().to_owned()),
        Object::Array(values) => {
            let values = values.iter::<object::String<'_>>().take(100);
            Some(values.map(|value| text(&value)).collect::<Vec<_>>().join(", "))
        }
        _ => None,
    }
}
