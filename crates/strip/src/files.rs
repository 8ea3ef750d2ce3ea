//! Files: what tools are given of them.

pub mod text;
