//! Pictures for the tests.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{ImageFormat, Rgb, RgbImage};

/// Five columns of seven rows for each character, a bit for each pixel.
const CHARACTERS: [(char, [u8; 7]); 6] = [
    ('S', [0b01111, 0b10000, 0b10000, 0b01110, 0b00001, 0b00001, 0b11110]),
    ('A', [0b01110, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001]),
    ('L', [0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b11111]),
    ('E', [0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b11111]),
    ('N', [0b10001, 0b11001, 0b10101, 0b10101, 0b10011, 0b10001, 0b10001]),
    ('T', [0b11111, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100]),
];

pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// A blue poster with white text, in base64.
pub(crate) fn poster(width: u32, height: u32) -> String {
    encode(&poster_bytes(width, height))
}

pub(crate) fn poster_bytes(width: u32, height: u32) -> Vec<u8> {
    let mut picture = RgbImage::from_pixel(width, height, Rgb([20, 80, 140]));
    let dot = (width / 60).max(1);
    for (line, text) in ["SALE", "TEA SET", "LAST"].into_iter().enumerate() {
        let top = height / 6 + line as u32 * dot * 12;
        for (place, character) in text.chars().enumerate() {
            let Some((_, rows)) = CHARACTERS.iter().find(|(known, _)| *known == character) else {
                continue;
            };
            let left = width / 10 + place as u32 * dot * 6;
            draw(&mut picture, rows, [left, top], dot);
        }
    }
    let mut file = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut file, ImageFormat::Png).unwrap();
    file.into_inner()
}

fn draw(picture: &mut RgbImage, rows: &[u8; 7], [left, top]: [u32; 2], dot: u32) {
    for y in 0..7 * dot {
        for x in 0..5 * dot {
            let set = rows[(y / dot) as usize] >> (4 - x / dot) & 1 == 1;
            if set && left + x < picture.width() && top + y < picture.height() {
                picture.put_pixel(left + x, top + y, Rgb([255, 255, 255]));
            }
        }
    }
}

/// A few bytes that claim to be 30,000 by 30,000 pixels.
pub(crate) fn bomb() -> Vec<u8> {
    let mut file = poster_bytes(8, 8);
    // Width and height in the first chunk, and its checksum.
    file[16..24].copy_from_slice(&[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]);
    let checksum = checksum(&file[12..29]);
    file[29..33].copy_from_slice(&checksum.to_be_bytes());
    file
}

/// CRC-32, as PNG has it.
fn checksum(bytes: &[u8]) -> u32 {
    let mut value = u32::MAX;
    for byte in bytes {
        value ^= u32::from(*byte);
        for _ in 0..8 {
            value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
        }
    }
    !value
}
