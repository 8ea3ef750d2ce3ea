//! Rule packs: what a document must have, must not have, and in which order.
//!
//! A pack says what it checks, never that a document is compliant.

mod condition;
mod judge;
mod pack;
mod page;

pub use judge::{Evidence, Finding, Status, judge};
pub use pack::{MAX_PACK_BYTES, Pack, PackError, Severity};

/// The packs that ship: name and source.
const SHIPPED: [(&str, &str); 3] = [
    ("privacy-notice", include_str!("../data/packs/privacy-notice.yaml")),
    ("contract-basics", include_str!("../data/packs/contract-basics.yaml")),
    ("plain-language", include_str!("../data/packs/plain-language.yaml")),
];

/// The names of the packs that ship.
pub fn shipped() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _)| *name)
}

/// The source of a pack that ships.
pub fn source(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}

#[cfg(test)]
mod tests;
