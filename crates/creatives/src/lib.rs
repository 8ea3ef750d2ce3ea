//! Posts and ads on social platforms: what their text and picture have, and scores by published tables.
//!
//! Pure: it knows no protocol, opens no connection, and reads no file. Pictures are untrusted: callers decode them in a
//! confined process only.

mod call_to_action;
pub mod comparison;
mod count;
mod cues;
pub mod features;
pub mod findings;
mod hook;

pub mod picture;
mod pieces;
pub mod platform;
pub mod rounding;
pub mod score;
pub mod suggestions;
pub mod text;
