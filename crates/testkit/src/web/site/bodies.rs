//! Bodies that attack their reader.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::{StreamExt as _, stream};

/// A body that sends its beginning and then nothing for a minute.
pub(super) fn stalled(start: String) -> Body {
    Body::from_stream(stream::unfold(Some(start), async |next| match next {
        Some(start) => Some((Ok::<_, Infallible>(Bytes::from(start)), None)),
        None => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            None
        }
    }))
}

/// A body whose connection breaks off after its beginning.
pub(super) fn broken(start: String) -> Body {
    let first = stream::iter([Ok(Bytes::from(start))]);
    let end = stream::once(async {
        // The start has to be on its way before the connection ends.
        tokio::time::sleep(Duration::from_millis(50)).await;
        Err(io::Error::other("the site broke off"))
    });
    Body::from_stream(first.chain(end))
}

/// A body of `bytes` bytes, made of copies of one piece after a start.
pub(super) fn repeated(start: String, piece: String, bytes: usize) -> Body {
    let piece = Bytes::from(piece);
    let left = bytes.saturating_sub(start.len());
    let first = stream::iter([Ok::<_, Infallible>(Bytes::from(start))]);
    let rest = stream::unfold((piece, left), async |(piece, left)| {
        let left = left.checked_sub(piece.len())?;
        Some((Ok(piece.clone()), (piece, left)))
    });
    Body::from_stream(first.chain(rest))
}

/// Gzip data that unpacks to a page start and then `bytes` times the letter `A`, about a 150th of their size.
pub(super) fn gzip_bomb(start: &str, bytes: usize) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    // The start in a block without compression.
    let length = u16::try_from(start.len()).expect("a short start");
    out.push(0);
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(start.as_bytes());
    // One block with fixed codes: a literal, and then copies of 258 bytes from one byte back.
    let mut bits = Bits { out, byte: 0, used: 0 };
    bits.push(0b1, 1);
    bits.push(0b01, 2);
    bits.code(0x30 + u32::from(b'A'), 8);
    for _ in 0..bytes / 258 {
        bits.code(0b1100_0101, 8);
        bits.code(0, 5);
    }
    // Without an end: no reader may get there.
    bits.out
}

struct Bits {
    out: Vec<u8>,
    byte: u8,
    used: u8,
}

impl Bits {
    /// Appends the low bits of a number, lowest first.
    fn push(&mut self, value: u32, count: u8) {
        for at in 0..count {
            self.byte |= u8::from(value >> at & 1 == 1) << self.used;
            self.used += 1;
            if self.used == 8 {
                self.out.push(self.byte);
                (self.byte, self.used) = (0, 0);
            }
        }
    }

    /// Appends a Huffman code, highest bit first.
    fn code(&mut self, value: u32, count: u8) {
        self.push(value.reverse_bits() >> (32 - u32::from(count)), count);
    }
}
