//! The safetensors format: a length, a JSON header, and numbers.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;

/// The format's own limit of a header.
const MOST_HEADER_BYTES: usize = 100_000_000;

/// A file of named tensors, checked against its own length.
#[derive(Debug)]
pub(super) struct Tensors {
    bytes: Vec<u8>,
    named: HashMap<String, Tensor>,
}

/// The position and format of a tensor.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub(super) kind: Kind,
    pub(super) shape: Vec<usize>,
    pub(super) place: Range<usize>,
}

/// The kinds of numbers that static models are stored in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Kind {
    F64,
    F32,
    F16,
    BF16,
    I64,
    I32,
    I8,
    /// Any other, which nothing here reads.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Entry {
    dtype: Kind,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

impl Tensors {
    /// Reads the header and checks that every tensor is inside the file and has the size of its shape.
    pub(super) fn parse(bytes: Vec<u8>) -> Result<Self, String> {
        let (length, rest) =
            bytes.split_first_chunk::<8>().ok_or("it ends inside the header's length")?;
        let length = usize::try_from(u64::from_le_bytes(*length))
            .ok()
            .filter(|&length| length <= MOST_HEADER_BYTES)
            .ok_or("the header's length is out of bounds")?;
        let header = rest.get(..length).ok_or("it ends inside the header")?;
        let entries: HashMap<String, serde_json::Value> = serde_json::from_slice(header)
            .map_err(|error| format!("the header is not JSON: {error}"))?;
        let data = 8 + length;
        let mut named = HashMap::new();
        for (name, entry) in entries {
            if name == "__metadata__" {
                continue;
            }
            let entry: Entry = serde_json::from_value(entry)
                .map_err(|error| format!("tensor `{name}`: {error}"))?;
            let tensor = Tensor::placed(entry, data, bytes.len())
                .map_err(|why| format!("tensor `{name}` {why}"))?;
            named.insert(name, tensor);
        }
        Ok(Self { bytes, named })
    }

    /// A tensor by its name.
    pub(super) fn get(&self, name: &str) -> Option<&Tensor> {
        self.named.get(name)
    }

    /// How many tensors there are.
    pub(super) fn len(&self) -> usize {
        self.named.len()
    }

    /// The bytes of a tensor of this file.
    pub(super) fn bytes(&self, tensor: &Tensor) -> &[u8] {
        &self.bytes[tensor.place.clone()]
    }

    /// The whole file; the positions of tensors stay valid.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl Tensor {
    fn placed(entry: Entry, data: usize, end: usize) -> Result<Self, &'static str> {
        let [from, to] = entry.data_offsets;
        let place = data
            .checked_add(from)
            .zip(data.checked_add(to))
            .filter(|&(from, to)| from <= to && to <= end)
            .map(|(from, to)| from..to)
            .ok_or("lies outside the file")?;
        // The size of an unread kind is not known, and not needed.
        if let Some(width) = entry.dtype.width() {
            let size = entry.shape.iter().try_fold(width, |size, &n| size.checked_mul(n));
            if size != Some(place.len()) {
                return Err("has another size than its shape says");
            }
        }
        Ok(Self { kind: entry.dtype, shape: entry.shape, place })
    }
}

impl Kind {
    /// How many bytes a number has.
    pub(super) fn width(self) -> Option<usize> {
        match self {
            Self::F64 | Self::I64 => Some(8),
            Self::F32 | Self::I32 => Some(4),
            Self::F16 | Self::BF16 => Some(2),
            Self::I8 => Some(1),
            Self::Other => None,
        }
    }

    /// Calls back with each number of a byte slice, in order.
    pub(super) fn each(self, bytes: &[u8], take: impl FnMut(f32)) {
        // One loop a kind, so that the compiler sees through the reading of each.
        fn cut<const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> f32, take: impl FnMut(f32)) {
            bytes.as_chunks::<N>().0.iter().map(|&chunk| read(chunk)).for_each(take);
        }
        match self {
            Self::F64 => cut(bytes, |b| f64::from_le_bytes(b) as f32, take),
            Self::F32 => cut(bytes, f32::from_le_bytes, take),
            Self::F16 => cut(bytes, |b| half(u16::from_le_bytes(b)), take),
            Self::BF16 => {
                cut(bytes, |b| f32::from_bits(u32::from(u16::from_le_bytes(b)) << 16), take)
            }
            Self::I8 => cut(bytes, |b| f32::from(i8::from_le_bytes(b)), take),
            // Row numbers, and what nothing here reads.
            Self::I64 | Self::I32 | Self::Other => {}
        }
    }
}

/// An IEEE half-precision number.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    // The exponent's bias differs by 112; multiplying instead of adding also brings tiny numbers right.
    let size = f32::from_bits(u32::from(bits & 0x7fff) << 13) * 2f32.powi(112);
    let size = match bits & 0x7fff {
        0x7c00 => f32::INFINITY,
        0x7c01.. => f32::NAN,
        _ => size,
    };
    f32::from_bits(size.to_bits() | sign)
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn halves_are_read() {
        for (bits, number) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0xfc00, f32::NEG_INFINITY),
        ] {
            assert_eq!(half(bits), number, "{bits:#06x}");
        }
        assert!(half(0x7e00).is_nan());
    }
}
