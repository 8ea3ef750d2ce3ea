//! PDFs, redacted: every page becomes a picture with boxes over the values, so that no text is left below them.

use analysis::redaction::{Mode, Plan, Target};
use documents::layout::{Area, PageLayout};
use documents::{Limits, Unreadable, pdf_pages};
use hayro::hayro_interpret::InterpreterSettings;
use hayro::hayro_syntax::Pdf;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings, render};
use image::ExtendedColorType;
use image::codecs::jpeg::JpegEncoder;
use pdf_writer::{Content, Filter, Finish as _, Name, Rect, Ref};

/// The most pages: more take longer to draw than a reader may work.
pub(crate) const MAX_PAGES: usize = 60;

/// Pixels for each point: 150 to the inch.
const SCALE: f32 = 150.0 / 72.0;

/// The most pixels of a page.
const MAX_PIXELS: f32 = 12_000_000.0;

/// The longest side of a page's picture.
const MAX_SIDE: f32 = 8_000.0;

/// How far a box reaches beyond its word, in points.
const MARGIN: f64 = 1.5;

const QUALITY: u8 = 82;

const PICTURE: Name<'_> = Name(b"I");

/// A redacted PDF and what was done.
pub(crate) struct RedactedPdf {
    pub(crate) bytes: Vec<u8>,
    pub(crate) plan: Plan,
    pub(crate) warnings: Vec<String>,
    /// Whether no page has text.
    pub(crate) scanned: bool,
}

/// Redacts what `find` marks in the text of a PDF.
pub(crate) fn redact(
    bytes: Vec<u8>,
    mode: Mode,
    find: impl Fn(&str) -> Vec<Target>,
) -> Result<RedactedPdf, Unreadable> {
    let (layouts, count) = pdf_pages(bytes.clone(), &Limits::default(), |page| page <= MAX_PAGES)?;
    if count > MAX_PAGES {
        return Err(Unreadable::TooManyParts { limit: MAX_PAGES });
    }
    let text = PdfText::of(&layouts);
    if text.words.is_empty() {
        let (bytes, plan, warnings) = (Vec::new(), Plan::default(), Vec::new());
        return Ok(RedactedPdf { bytes, plan, warnings, scanned: true });
    }
    let plan = Plan::new(&text.text, find(&text.text), mode);
    let pdf = Pdf::new(bytes).map_err(|_| Unreadable::damaged("its pages cannot be drawn"))?;
    let mut pictures = Vec::new();
    for (index, layout) in layouts.iter().enumerate() {
        let mut picture = draw(&pdf, index)?;
        for area in text.areas(index, layout, &plan) {
            picture.cover(layout, &area);
        }
        pictures.push(picture);
    }
    let bytes = write(&pictures)?;
    Ok(RedactedPdf { bytes, plan, warnings: warnings(&layouts, mode), scanned: false })
}

fn warnings(layouts: &[PageLayout], mode: Mode) -> Vec<String> {
    let mut warnings = vec![
        "pages are pictures now: text in pictures and turned text was not read, look at each page"
            .to_owned(),
    ];
    let empty: Vec<String> = layouts
        .iter()
        .filter(|layout| layout.words.is_empty())
        .map(|layout| layout.number.to_string())
        .collect();
    if !empty.is_empty() {
        warnings.push(format!(
            "no text was found on pages {}; read them with image-ocr-mcp:extract_document",
            empty.join(", ")
        ));
    }
    if layouts.iter().any(|layout| layout.cut) {
        warnings.push("a page has too many words; its end was not read".to_owned());
    }
    if mode != Mode::Mask {
        warnings.push("values in PDFs are covered by boxes, whatever the mode".to_owned());
    }
    warnings
}

/// The words of all pages as one text, and where each word is in it.
struct PdfText {
    text: String,
    /// Page, word, first and last byte.
    words: Vec<(usize, usize, usize, usize)>,
}

impl PdfText {
    fn of(layouts: &[PageLayout]) -> Self {
        let mut found = Self { text: String::new(), words: Vec::new() };
        for (page, layout) in layouts.iter().enumerate() {
            let mut row = None;
            for (index, word) in layout.words.iter().enumerate() {
                if row.is_some() {
                    found.text.push(if row == Some(word.row) { ' ' } else { '\n' });
                }
                row = Some(word.row);
                let start = found.text.len();
                found.text.push_str(&word.text);
                found.words.push((page, index, start, found.text.len()));
            }
            found.text.push_str("\n\n");
        }
        found
    }

    /// The areas of a page's words that hold a part of a value.
    fn areas(&self, page: usize, layout: &PageLayout, plan: &Plan) -> Vec<Area> {
        let first = self.words.partition_point(|word| word.0 < page);
        let words = self.words[first..].iter().take_while(|word| word.0 == page);
        words
            .filter(|(_, _, start, end)| plan.touches(*start..*end))
            .filter_map(|(_, index, _, _)| layout.words.get(*index))
            .map(|word| word.area.grow(MARGIN))
            .collect()
    }
}

/// A drawn page: its size in points, and its pixels.
struct Picture {
    points: (f32, f32),
    scale: f32,
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Picture {
    /// Fills the area with black.
    fn cover(&mut self, layout: &PageLayout, area: &Area) {
        let [x1, y1, x2, y2] = layout.to_page(area);
        let scale = f64::from(self.scale);
        let pixel = |points: f64, most: usize| ((points * scale).max(0.0) as usize).min(most);
        let (left, right) = (pixel(x1, self.width), pixel(x2 + 1.0 / scale, self.width));
        let (top, bottom) = (
            pixel(layout.height - y2, self.height),
            pixel(layout.height - y1 + 1.0 / scale, self.height),
        );
        for row in top..bottom {
            let start = (row * self.width + left) * 3;
            let end = (row * self.width + right.max(left)) * 3;
            self.rgb[start..end].fill(0);
        }
    }
}

fn draw(pdf: &Pdf, index: usize) -> Result<Picture, Unreadable> {
    let pages = pdf.pages();
    let page = pages.get(index).ok_or_else(|| Unreadable::damaged("a page is missing"))?;
    let points = page.render_dimensions();
    let (width, height) = points;
    if !(width >= 1.0 && height >= 1.0) {
        return Err(Unreadable::damaged("a page has no size"));
    }
    let scale = SCALE.min((MAX_PIXELS / (width * height)).sqrt()).min(MAX_SIDE / width.max(height));
    let size = PixmapSettings { x_scale: scale, y_scale: scale, bg_color: WHITE };
    let (cache, settings) = (RenderCache::new(), InterpreterSettings::default());
    let drawn = render(page, &cache, &settings, &RenderSettings::default(), &size);
    let (width, height) = (usize::from(drawn.width()), usize::from(drawn.height()));
    if width == 0 || height == 0 {
        return Err(Unreadable::damaged("a page has no size"));
    }
    let rgb = drawn
        .data_as_u8_slice()
        .chunks_exact(4)
        .flat_map(|pixel| [pixel[0], pixel[1], pixel[2]])
        .collect();
    Ok(Picture { points, scale, width, height, rgb })
}

fn write(pictures: &[Picture]) -> Result<Vec<u8>, Unreadable> {
    let mut next = Ref::new(1);
    let (catalog, tree) = (next.bump(), next.bump());
    let mut file = pdf_writer::Pdf::new();
    let mut kids = Vec::new();
    for picture in pictures {
        let (page_ref, content_ref, image_ref) = (next.bump(), next.bump(), next.bump());
        kids.push(page_ref);
        let encoded = encode(picture)?;
        let mut image = file.image_xobject(image_ref, &encoded);
        image.filter(Filter::DctDecode);
        image.width(side(picture.width)).height(side(picture.height));
        image.color_space().device_rgb();
        image.bits_per_component(8);
        image.finish();
        let (width, height) = picture.points;
        let mut page = file.page(page_ref);
        page.parent(tree).media_box(Rect::new(0.0, 0.0, width, height)).contents(content_ref);
        page.resources().x_objects().pair(PICTURE, image_ref);
        page.finish();
        let mut content = Content::new();
        content.transform([width, 0.0, 0.0, height, 0.0, 0.0]).x_object(PICTURE);
        file.stream(content_ref, &content.finish());
    }
    let count = i32::try_from(kids.len()).unwrap_or(i32::MAX);
    file.pages(tree).kids(kids).count(count);
    file.catalog(catalog).pages(tree);
    Ok(file.finish())
}

fn side(pixels: usize) -> i32 {
    i32::try_from(pixels).unwrap_or(i32::MAX)
}

fn encode(picture: &Picture) -> Result<Vec<u8>, Unreadable> {
    let mut encoded = Vec::new();
    let pixels = |side: usize| u32::try_from(side).map_err(Unreadable::damaged);
    JpegEncoder::new_with_quality(&mut encoded, QUALITY)
        .encode(
            &picture.rgb,
            pixels(picture.width)?,
            pixels(picture.height)?,
            ExtendedColorType::Rgb8,
        )
        .map_err(Unreadable::damaged)?;
    Ok(encoded)
}

#[cfg(test)]
mod tests;
