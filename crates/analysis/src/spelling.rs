//! Spelling.

/// The entries of the English dictionary.
pub(crate) const ENGLISH_WORDS: &str = include_str!("../data/en/en_US.dic");
