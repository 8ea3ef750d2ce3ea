//! Hashes for tables that are built once from shipped data, so that no caller can make its keys collide.

use std::hash::{BuildHasherDefault, Hasher};

/// Builds the hashes of a table with shipped keys.
pub type Shipped = BuildHasherDefault<ShippedHasher>;

/// A multiplication for each eight bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShippedHasher(u64);

impl ShippedHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for ShippedHasher {
    fn finish(&self) -> u64 {
        // The table is indexed by the low bits, which a multiplication mixes least.
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.add(u64::from(number));
    }

    fn write_u32(&mut self, number: u32) {
        self.add(u64::from(number));
    }
}
