//! Filters of an image search.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which images to find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageFilters {
    pub size: Option<ImageSize>,
    pub kind: Option<ImageType>,
    pub color: Option<ColorType>,
    pub dominant: Option<DominantColor>,
    pub file: Option<FileType>,
}

/// The size of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImageSize {
    Huge,
    Icon,
    Large,
    Medium,
    Small,
    XLarge,
    XXLarge,
}

/// What an image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImageType {
    Clipart,
    Face,
    Lineart,
    Stock,
    Photo,
    Animated,
}

/// How many colours an image has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ColorType {
    Color,
    Gray,
    Mono,
    Trans,
}

/// The colour that an image mostly has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DominantColor {
    Black,
    Blue,
    Brown,
    Gray,
    Green,
    Orange,
    Pink,
    Purple,
    Red,
    Teal,
    White,
    Yellow,
}

/// The file format of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileType {
    Jpg,
    Gif,
    Png,
    Bmp,
    Svg,
    Webp,
}
