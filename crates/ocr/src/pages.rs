//! Pages of PDFs, drawn as pictures.

use extraction::Unreadable;
use hayro::hayro_interpret::InterpreterSettings;
use hayro::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings, render};

use crate::grey::Grey;

/// Pixels for each point of a page: 200 to the inch, as scanners usually have.
const SCALE: f32 = 200.0 / 72.0;

/// The most pixels of a drawn page, which also has four bytes for each while it is drawn.
const MAX_PIXELS: f32 = 20_000_000.0;

/// The longest side of a drawn page.
const MAX_SIDE: f32 = 10_000.0;

/// Opens a PDF. An empty password is tried.
pub(crate) fn open(bytes: Vec<u8>) -> Result<Pdf, Unreadable> {
    Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(
            DecryptionError::PasswordProtected | DecryptionError::UnsupportedAlgorithm,
        ) => Unreadable::Encrypted,
        LoadPdfError::Decryption(error) => {
            Unreadable::Damaged { why: format!("its encryption: {error:?}") }
        }
        LoadPdfError::Invalid => {
            Unreadable::Damaged { why: "no pages can be found in it".to_owned() }
        }
    })
}

/// Draws a page, counted from 0.
pub fn draw(bytes: Vec<u8>, page: usize) -> Result<Grey, Unreadable> {
    let pdf = open(bytes)?;
    let pages = pdf.pages();
    let damaged = |why: &str| Unreadable::Damaged { why: why.to_owned() };
    let page = pages.get(page).ok_or_else(|| damaged("it has no such page"))?;
    let (width, height) = page.render_dimensions();
    if !(width >= 1.0 && height >= 1.0) {
        return Err(damaged("a page has no size"));
    }
    let scale = SCALE.min((MAX_PIXELS / (width * height)).sqrt()).min(MAX_SIDE / width.max(height));
    let size = PixmapSettings { x_scale: scale, y_scale: scale, bg_color: WHITE };
    let (cache, settings) = (RenderCache::new(), InterpreterSettings::default());
    let drawn = render(page, &cache, &settings, &RenderSettings::default(), &size);
    let (width, height) = (usize::from(drawn.width()), usize::from(drawn.height()));
    if width == 0 || height == 0 {
        return Err(damaged("a page has no size"));
    }
    let pixels = drawn.data_as_u8_slice().chunks_exact(4).map(shade).collect();
    Ok(Grey::new(width, height, pixels))
}

/// The luminance of a pixel, by the weights of ITU-R BT.709 in 256 parts.
fn shade(pixel: &[u8]) -> u8 {
    let weighted: u32 =
        pixel.iter().zip([54, 183, 19]).map(|(part, weight)| u32::from(*part) * weight).sum();
    u8::try_from(weighted >> 8).unwrap_or(255)
}
