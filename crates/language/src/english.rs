//! The English dictionary that ships, in the format of Hunspell. `data/LICENCES.md` says where it comes from.

/// The words, each with the flags of its inflections.
pub const DICTIONARY: &str = include_str!("../data/en/en_US.dic");

/// The rules of the inflections.
pub const RULES: &str = include_str!("../data/en/en_US.aff");
