//! Pictures in `data:` URLs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use typst::foundations::Bytes;
use typst::visualize::{ExchangeFormat, RasterImage};

/// A document with more pictures is refused.
pub(crate) const MAX_PICTURES: usize = 500;
/// The largest picture that is drawn, in pixels.
const MAX_PIXELS: u64 = 50_000_000;

/// The bytes of a picture that can be drawn, or why it cannot.
pub(crate) fn read(url: &str) -> Result<Vec<u8>, &'static str> {
    let Some(data) = url.get(..5).filter(|head| head.eq_ignore_ascii_case("data:")) else {
        return Err("nothing is fetched, so only pictures in `data:` URLs are drawn");
    };
    let (head, data) = url[data.len()..].split_once(',').ok_or("its `data:` URL has no comma")?;
    if !head.to_ascii_lowercase().ends_with(";base64") {
        return Err("its `data:` URL is not in base64");
    }
    let data: String = data.chars().filter(|c| !c.is_whitespace()).collect();
    let bytes = STANDARD.decode(data).map_err(|_| "its base64 is damaged")?;
    let format = ExchangeFormat::detect(&bytes).ok_or("it is no PNG, JPEG, GIF or WebP")?;
    let bytes = Bytes::new(bytes);
    let image =
        RasterImage::plain(bytes.clone(), format).map_err(|_| "it is damaged or too large")?;
    if u64::from(image.width()) * u64::from(image.height()) > MAX_PIXELS {
        return Err("it has more than 50 megapixels");
    }
    drop(image);
    Ok(bytes.into_vec())
}
