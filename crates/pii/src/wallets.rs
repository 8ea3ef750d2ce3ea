//! Addresses of cryptocurrency wallets, with their checksums where they have one.

use std::sync::LazyLock;

use regex::Regex;
use sha2::{Digest, Sha256};

use super::network::regex;
use super::surroundings::Surroundings;
use super::{Finding, Kind};

static ETHEREUM: LazyLock<Regex> = LazyLock::new(|| regex(r"\b0x[0-9a-fA-F]{40}\b"));
static BECH32: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)\b(?:bc|tb|ltc|addr)1[02-9ac-hj-np-z]{11,100}\b"));
static BASE58: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\b[13LMDmn2t][1-9A-HJ-NP-Za-km-z]{25,38}\b"));

const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const CHARSET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

pub(super) fn find(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    let mut mark = |place, confidence, reason| {
        found.push(Finding::new(Kind::Crypto, place, confidence, reason))
    };
    for hit in ETHEREUM.find_iter(around.text) {
        let others = ["commit", "hash", "sha1", "contract creation"];
        let confidence = if around.introduced_by(hit.start(), &others) { 0.55 } else { 0.93 };
        mark(hit.range(), confidence, "0x and forty hexadecimal digits");
    }
    for hit in BECH32.find_iter(around.text) {
        if is_bech32(&hit.as_str().to_lowercase()) {
            mark(hit.range(), 0.99, "Bech32 address with a right checksum");
        }
    }
    for hit in BASE58.find_iter(around.text) {
        if is_base58check(hit.as_str()) {
            mark(hit.range(), 0.99, "Base58 address with a right checksum");
        }
    }
}

/// Bech32 (BIP 173) and Bech32m (BIP 350).
fn is_bech32(address: &str) -> bool {
    let Some((prefix, rest)) = address.rsplit_once('1') else { return false };
    let values = rest.bytes().map(|byte| CHARSET.iter().position(|c| *c == byte));
    let Some(values) = values.collect::<Option<Vec<usize>>>() else { return false };
    let expanded = prefix
        .bytes()
        .map(|byte| usize::from(byte >> 5))
        .chain([0])
        .chain(prefix.bytes().map(|byte| usize::from(byte & 31)))
        .chain(values);
    let check = expanded.fold(1u32, |check, value| {
        let top = check >> 25;
        let folded = (check & 0x1ff_ffff) << 5 ^ value as u32;
        [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3]
            .into_iter()
            .enumerate()
            .filter(|(bit, _)| top >> bit & 1 == 1)
            .fold(folded, |folded, (_, generator)| folded ^ generator)
    });
    check == 1 || check == 0x2bc8_30a3
}

/// 25 bytes, the last four of which begin the double SHA-256 of the others.
fn is_base58check(address: &str) -> bool {
    let mut bytes = [0u8; 25];
    for byte in address.bytes() {
        let Some(digit) = ALPHABET.iter().position(|c| *c == byte) else { return false };
        let mut carry = digit as u32;
        for slot in bytes.iter_mut().rev() {
            carry += u32::from(*slot) * 58;
            *slot = (carry & 0xff) as u8;
            carry >>= 8;
        }
        if carry > 0 {
            return false;
        }
    }
    let check = Sha256::digest(Sha256::digest(&bytes[..21]));
    check[..4] == bytes[21..]
}
