//! The links of a page, which are not part of what it draws.

use hayro_write::hayro_syntax::object::{Array, Dict, Name, Rect, String as PdfString};
use hayro_write::hayro_syntax::page::Page;

/// More links of one page are left out.
const MAX_LINKS: usize = 2_000;
const MAX_URL: usize = 4_096;

/// A link to the web.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Link {
    /// In the coordinates of the new page, whose lower left corner is the origin.
    pub(super) area: [f32; 4],
    pub(super) url: Vec<u8>,
}

/// The annotations of a page that are not links to keep.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Others {
    /// Links to places of the same document.
    pub(super) links: usize,
    pub(super) has_fields: bool,
    /// Notes, stamps, highlights and drawings of readers, and links beyond the limit.
    pub(super) marks: usize,
}

pub(super) fn links_of(page: &Page<'_>) -> (Vec<Link>, Others) {
    let mut links = Vec::new();
    let mut others = Others::default();
    let Some(annotations) = page.raw().get::<Array<'_>>(b"Annots") else { return (links, others) };
    for annotation in annotations.iter::<Dict<'_>>() {
        let Some(kind) = annotation.get::<Name<'_>>(b"Subtype") else { continue };
        match kind.as_ref() {
            b"Widget" => others.has_fields = true,
            b"Link" if links.len() >= MAX_LINKS => others.marks += 1,
            b"Link" => match link(page, &annotation) {
                Some(link) => links.push(link),
                None => others.links += 1,
            },
            // A pop-up belongs to another annotation.
            b"Popup" => {}
            _ => others.marks += 1,
        }
    }
    (links, others)
}

fn link(page: &Page<'_>, annotation: &Dict<'_>) -> Option<Link> {
    let url = annotation.get::<Dict<'_>>(b"A")?.get::<PdfString<'_>>(b"URI")?;
    let text = std::str::from_utf8(url.as_bytes()).ok().filter(|url| url.len() <= MAX_URL)?;
    if !markup::is_safe_url(text) {
        return None;
    }
    let area = annotation.get::<Rect>(b"Rect")?;
    let [a, b, c, d, e, f] = page.initial_transform(false).as_coeffs();
    let place = |x: f64, y: f64| (a * x + c * y + e, b * x + d * y + f);
    let ((x1, y1), (x2, y2)) = (place(area.x0, area.y0), place(area.x1, area.y1));
    let area = [x1.min(x2), y1.min(y2), x1.max(x2), y1.max(y2)].map(|side| side as f32);
    area.iter().all(|side| side.is_finite()).then(|| Link { area, url: text.as_bytes().to_vec() })
}
