//! PDFs that can be searched: the pages as they came, with the words that were recognized on top, invisible.

mod font;
mod picture;

use extraction::Unreadable;
use hayro_write::{ChunkSettings, ExtractionQuery, extract};
use pdf_writer::types::TextRenderingMode;
use pdf_writer::{Content, Finish as _, Name, Pdf, Rect, Ref, Str};
use serde::{Deserialize, Serialize};

use self::font::Font;
use crate::affine::Affine;
use crate::word::Word;

/// Points for each pixel of a picture: 200 pixels to the inch.
const POINT: f32 = 72.0 / 200.0;

/// The longest side of a page that viewers accept, in points.
const MAX_SIDE: f32 = 14_400.0;

const PAGE: Name<'_> = Name(b"P");
const FONT: Name<'_> = Name(b"F");

/// The result of writing a searchable PDF.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Searchable {
    /// In the order of the new document.
    pub pages: Vec<Recognized>,
}

/// The words of one page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recognized {
    /// The page of the PDF, from 0; 0 for a picture.
    pub page: usize,
    /// The size of the picture that was read, in pixels.
    pub width: usize,
    pub height: usize,
    /// Leads from the pixels of the words to those of that picture.
    pub origin: Affine,
    /// None where the page has text of its own.
    pub words: Vec<Word>,
}

/// Makes a PDF of a PDF's pages or of a picture.
pub fn write(bytes: Vec<u8>, asked: &Searchable) -> Result<Vec<u8>, Unreadable> {
    let mut next = Ref::new(1);
    let (catalog, font_ref) = (next.bump(), next.bump());
    let font = Font::of(asked.pages.iter().flat_map(|page| &page.words));
    let mut file = Pdf::new();
    let backgrounds = if crate::decode::media_type(&bytes).is_some() {
        let first = asked.pages.first();
        let size = first.map_or((1.0, 1.0), points);
        vec![picture::write(&mut file, &mut next, &bytes, size)?]
    } else {
        embed(&mut file, &mut next, bytes, asked)?
    };
    let tree = next.bump();
    let mut kids = Vec::new();
    for (page, background) in asked.pages.iter().zip(backgrounds) {
        let (page_ref, content_ref) = (next.bump(), next.bump());
        kids.push(page_ref);
        let mut written = file.page(page_ref);
        written.parent(tree).media_box(Rect::new(0.0, 0.0, background.width, background.height));
        written.contents(content_ref);
        let mut resources = written.resources();
        resources.x_objects().pair(PAGE, background.object);
        resources.fonts().pair(FONT, font_ref);
        resources.finish();
        written.finish();
        let content = content(page, &background, &font);
        file.stream(content_ref, &content);
    }
    let count = i32::try_from(kids.len()).unwrap_or(i32::MAX);
    file.pages(tree).kids(kids).count(count);
    file.catalog(catalog).pages(tree);
    font.write(&mut file, font_ref, &mut next);
    Ok(file.finish())
}

/// What is drawn on a page: an object of the given size in points, once `matrix` is applied.
struct Background {
    object: Ref,
    width: f32,
    height: f32,
    matrix: [f32; 6],
}

/// Copies pages of a PDF, with all that they draw.
fn embed(
    file: &mut Pdf,
    next: &mut Ref,
    bytes: Vec<u8>,
    asked: &Searchable,
) -> Result<Vec<Background>, Unreadable> {
    let damaged = || Unreadable::Damaged { why: "a page cannot be copied".to_owned() };
    let pdf = crate::pages::open(bytes)?;
    let queries: Vec<ExtractionQuery> =
        asked.pages.iter().map(|page| ExtractionQuery::new_xobject(page.page)).collect();
    let copied = extract(&pdf, Box::new(|| next.bump()), ChunkSettings::default(), &queries)
        .map_err(|_| damaged())?;
    file.extend(&copied.chunk);
    let sources = pdf.pages();
    let mut backgrounds = Vec::new();
    for (page, object) in asked.pages.iter().zip(copied.root_refs) {
        let source = sources.get(page.page).ok_or_else(damaged)?;
        let (width, height) = source.render_dimensions();
        let matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        backgrounds.push(Background {
            object: object.map_err(|_| damaged())?,
            width,
            height,
            matrix,
        });
    }
    Ok(backgrounds)
}

/// The size of a picture's page.
fn points(page: &Recognized) -> (f32, f32) {
    let (width, height) = (page.width as f32, page.height as f32);
    let point = POINT.min(MAX_SIDE / width.max(height));
    (width * point, height * point)
}

/// The page as it came, and its words in place.
fn content(page: &Recognized, background: &Background, font: &Font) -> Vec<u8> {
    let mut content = Content::new();
    content.save_state().transform(background.matrix).x_object(PAGE).restore_state();
    if page.words.is_empty() {
        return content.finish().to_vec();
    }
    content.begin_text().set_font(FONT, 1.0);
    content.set_text_rendering_mode(TextRenderingMode::Invisible);
    for word in &page.words {
        if let Some(matrix) = matrix(page, background, word) {
            content.set_text_matrix(matrix).show(Str(&font.encode(&word.text)));
        }
    }
    content.end_text();
    content.finish().to_vec()
}

/// The matrix under which a word, each character half as wide as high, covers its box.
fn matrix(page: &Recognized, background: &Background, word: &Word) -> Option<[f32; 6]> {
    let [left, top, right, bottom] = word.bbox;
    let place = |x: f64, y: f64| {
        let (x, y) = page.origin.apply((x, y));
        let (across, down) = (x as f32 / page.width as f32, y as f32 / page.height as f32);
        (across * background.width, (1.0 - down) * background.height)
    };
    let (start, end, above) = (place(left, bottom), place(right, bottom), place(left, top));
    let length = word.text.chars().count() as f32 * font::WIDTH;
    let across = ((end.0 - start.0) / length, (end.1 - start.1) / length);
    let matrix = [across.0, across.1, above.0 - start.0, above.1 - start.1, start.0, start.1];
    matrix.iter().all(|value| value.is_finite()).then_some(matrix)
}

#[cfg(test)]
mod tests;
