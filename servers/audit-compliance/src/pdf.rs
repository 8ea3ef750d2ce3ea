//! PDFs, redacted: every page becomes a picture with boxes over the values, so that no text is left below them.

mod text;
mod unread;

use std::collections::BTreeMap;

use analysis::redaction::{Mode, Plan, Target, found_in};
use documents::layout::Area;
use documents::{Limits, ShownPage, Unreadable, shown_pages};
use hayro::hayro_interpret::InterpreterSettings;
use hayro::hayro_syntax::Pdf;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings, render};
use image::ExtendedColorType;
use image::codecs::jpeg::JpegEncoder;
use pdf_writer::{Content, Filter, Finish as _, Name, Rect, Ref};

use text::PdfText;
use unread::has_unread_text;

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

/// A page with this many glyphs whose characters are not known was not read: fewer are bullets and ornaments.
const UNKNOWN_GLYPHS: usize = 4;

/// A redacted PDF and what was done.
pub(crate) struct RedactedPdf {
    pub(crate) bytes: Vec<u8>,
    /// How many places of each type were redacted.
    pub(crate) counts: BTreeMap<String, usize>,
    /// The redacted values, as they were found.
    pub(crate) values: Vec<String>,
    /// How many words with a value are not covered; 0 unless this code is at fault.
    pub(crate) leftovers: usize,
    pub(crate) warnings: Vec<String>,
    /// Whether no page has text.
    pub(crate) scanned: bool,
    /// Pages whose content could not be read, so that values may be left on them.
    pub(crate) unread: Vec<usize>,
}

/// Redacts what `find` marks in the text of a PDF.
pub(crate) fn redact(
    bytes: Vec<u8>,
    mode: Mode,
    find: impl Fn(&str) -> Vec<Target>,
) -> Result<RedactedPdf, Unreadable> {
    let (pages, count) = shown_pages(bytes.clone(), &Limits::default(), |page| page <= MAX_PAGES)?;
    if count > MAX_PAGES {
        return Err(Unreadable::TooManyParts { limit: MAX_PAGES });
    }
    let text = PdfText::of(&pages);
    if text.is_empty() {
        return Ok(RedactedPdf {
            bytes: Vec::new(),
            counts: BTreeMap::new(),
            values: Vec::new(),
            leftovers: 0,
            warnings: Vec::new(),
            scanned: true,
            unread: pages.iter().map(|page| page.number).collect(),
        });
    }
    let plan = Plan::new(&text.text, found_in(&text.text, find), mode);
    let pdf = Pdf::new(bytes).map_err(|_| Unreadable::damaged("its pages cannot be drawn"))?;
    let (mut pictures, mut unread, mut leftovers) = (Vec::new(), Vec::new(), 0);
    for (index, (page, areas)) in pages.iter().zip(text.areas(&pages, &plan)).enumerate() {
        let mut picture = draw(&pdf, index)?;
        let has_unknown = page.unknown >= UNKNOWN_GLYPHS;
        let source = pdf.pages().get(index);
        if page.cut
            || has_unknown
            || page.words.is_empty() && !picture.is_blank()
            || source.is_some_and(|source| has_unread_text(&pdf, source))
        {
            unread.push(page.number);
        }
        for area in &areas {
            picture.cover(area);
        }
        leftovers += areas.iter().filter(|area| !picture.is_covered(area)).count();
        pictures.push(picture);
    }
    let bytes = write(&pictures)?;
    let warnings = warnings(&pages, &unread, mode);
    let (counts, values) = (text.counts(&plan), plan.values().to_vec());
    Ok(RedactedPdf { bytes, counts, values, leftovers, warnings, scanned: false, unread })
}

fn warnings(pages: &[ShownPage], unread: &[usize], mode: Mode) -> Vec<String> {
    let mut warnings =
        vec!["pages are pictures now: text in pictures was not read, look at each page".to_owned()];
    if !unread.is_empty() {
        let numbers: Vec<String> = unread.iter().map(ToString::to_string).collect();
        warnings.push(format!(
            "pages that could not be read are not redacted: {}. Make the document searchable with \
             image-ocr-mcp:extract_document (`output: pdf`), and redact that",
            numbers.join(", ")
        ));
    }
    if pages.iter().any(|page| page.cut) {
        warnings.push("a page has too many words; its end was not read".to_owned());
    }
    if mode != Mode::Mask {
        warnings.push("values in PDFs are covered by boxes, whatever the mode".to_owned());
    }
    warnings
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
    /// Whether all pixels have one colour.
    fn is_blank(&self) -> bool {
        self.rgb.chunks_exact(3).all(|pixel| self.rgb.starts_with(pixel))
    }

    /// Fills the area with black; the whole page if it is not known where the area is.
    fn cover(&mut self, area: &Area) {
        let is_known = area.width() > 0.0 && area.height() > 0.0;
        if !is_known || !(area.width() + area.height()).is_finite() {
            self.rgb.fill(0);
            return;
        }
        let area = area.grow(MARGIN);
        for row in self.pixels(&area) {
            self.rgb[row].fill(0);
        }
    }

    /// Whether all that is shown of an area is black.
    fn is_covered(&self, area: &Area) -> bool {
        self.pixels(area).into_iter().all(|row| self.rgb[row].iter().all(|part| *part == 0))
    }

    /// The parts of the rows of pixels that an area touches.
    fn pixels(&self, area: &Area) -> Vec<std::ops::Range<usize>> {
        let scale = f64::from(self.scale);
        // The casts saturate, so that what is off the page is at its edge.
        let first = |points: f64, most: usize| ((points * scale).floor() as usize).min(most);
        let last = |points: f64, most: usize| ((points * scale).ceil() as usize).min(most);
        let (left, right) = (first(area.left, self.width), last(area.right, self.width));
        let (top, bottom) = (first(area.top, self.height), last(area.bottom, self.height));
        let row =
            |row: usize| (row * self.width + left) * 3..(row * self.width + right.max(left)) * 3;
        (top..bottom).map(row).collect()
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
