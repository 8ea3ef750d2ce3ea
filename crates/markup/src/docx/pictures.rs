//! Pictures of `data:` addresses.

use crate::url::PictureData;

use super::content::{Content, Picture, Room};
use super::xml::escape;

/// A pixel is 1/96 inch; an inch has 914,400 of Word's units for drawings, and a twentieth of a point has 635.
const PIXEL: u64 = 9_525;
const TWIP: u64 = 635;
/// Larger pictures and more of them are left out.
const MAX_BYTES: usize = 8 << 20;
const MAX_PICTURES: usize = 500;
const MAX_SIDE: u32 = 30_000;

impl Content<'_> {
    /// A picture as the content of a run; nothing if it cannot be shown.
    pub(super) fn drawing(&mut self, data: PictureData<'_>, alt: &str) -> Option<String> {
        if self.notes.closed || data.base64.len() > MAX_BYTES / 3 * 4 {
            return None;
        }
        let bytes = data.decode()?;
        let (extension, width, height) = size(&bytes)?;
        if self.pictures.len() >= MAX_PICTURES {
            return None;
        }
        let known = self.pictures.iter().find(|picture| picture.bytes == bytes);
        let relation = match known {
            Some(picture) => picture.relation.clone(),
            None => {
                let relation = format!("rIdPicture{}", self.pictures.len() + 1);
                self.pictures.push(Picture { bytes, extension, relation: relation.clone() });
                relation
            }
        };
        let (cx, cy) = fit(width, height, self.room);
        let id = 1_000 + self.out.len();
        let alt = escape(alt);
        Some(format!(
            "<w:drawing><wp:inline xmlns:wp=\"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing\" \
             distT=\"0\" distB=\"0\" distL=\"0\" distR=\"0\"><wp:extent cx=\"{cx}\" cy=\"{cy}\"/>\
             <wp:docPr id=\"{id}\" name=\"Picture {id}\" descr=\"{alt}\"/>\
             <a:graphic xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\">\
             <a:graphicData uri=\"http://schemas.openxmlformats.org/drawingml/2006/picture\">\
             <pic:pic xmlns:pic=\"http://schemas.openxmlformats.org/drawingml/2006/picture\"><pic:nvPicPr>\
             <pic:cNvPr id=\"{id}\" name=\"Picture {id}\" descr=\"{alt}\"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill>\
             <a:blip r:embed=\"{relation}\"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm>\
             <a:off x=\"0\" y=\"0\"/><a:ext cx=\"{cx}\" cy=\"{cy}\"/></a:xfrm><a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom>\
             </pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>"
        ))
    }
}

/// The size in Word's units, within the page.
fn fit(width: u32, height: u32, room: Room) -> (u64, u64) {
    let (width, height) = (u64::from(width) * PIXEL, u64::from(height) * PIXEL);
    let (most_wide, most_high) =
        (u64::from(room.width) * TWIP, u64::from(room.height) * TWIP * 9 / 10);
    let by_width = width.min(most_wide);
    let high = height * by_width / width;
    if high <= most_high {
        (by_width, high.max(1))
    } else {
        ((width * most_high / height).max(1), most_high)
    }
}

/// The kind of a picture, its width and height in pixels.
fn size(bytes: &[u8]) -> Option<(&'static str, u32, u32)> {
    let (extension, width, height) = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        ("png", number(bytes, 16, 4)?, number(bytes, 20, 4)?)
    } else if bytes.starts_with(&[0xFF, 0xD8]) {
        let (width, height) = jpeg_size(bytes)?;
        ("jpeg", width, height)
    } else {
        return None;
    };
    let fits = |side: u32| (1..=MAX_SIDE).contains(&side);
    (fits(width) && fits(height)).then_some((extension, width, height))
}

fn number(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let digits = bytes.get(at..at + length)?;
    Some(digits.iter().fold(0, |number, byte| (number << 8) | u32::from(*byte)))
}

/// Width and height stand in the segment that begins a frame.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    while at + 9 < bytes.len() {
        if bytes[at] != 0xFF {
            return None;
        }
        let marker = bytes[at + 1];
        let is_frame = matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC);
        if is_frame {
            return Some((number(bytes, at + 7, 2)?, number(bytes, at + 5, 2)?));
        }
        // Markers without content, and fill bytes.
        let is_bare = matches!(marker, 0xD0..=0xD8 | 0x01);
        at += if marker == 0xFF {
            1
        } else if is_bare {
            2
        } else {
            2 + usize::try_from(number(bytes, at + 2, 2)?).ok()?
        };
    }
    None
}
