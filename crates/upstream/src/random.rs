//! Randomness for spreading load and retries; nothing secret comes from here.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// An unpredictable number (splitmix64 over a randomly seeded counter).
pub(crate) fn number() -> u64 {
    static STATE: LazyLock<AtomicU64> =
        LazyLock::new(|| AtomicU64::new(RandomState::new().hash_one("powerstrip")));
    let mut z = STATE.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number below `bound`, which is not zero.
pub(crate) fn below(bound: usize) -> usize {
    usize::try_from(number() % bound.max(1) as u64).unwrap_or(0)
}
