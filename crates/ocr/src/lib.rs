//! Text on pictures: pictures made ready for an engine, what engines find put back in its place and order. Pure.

pub mod affine;
mod clean;
pub mod decode;
pub mod grey;
mod ink;
pub mod layout;
pub mod marks;
pub mod models;
pub mod pages;
mod pose;
pub mod prepare;
pub mod searchable;
pub mod tables;
pub mod tesseract;
mod warp;
pub mod word;
