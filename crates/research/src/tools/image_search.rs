use schemars::JsonSchema;
use search::providers::{ColorType, DominantColor, FileType, ImageSize, ImageType, Safe};
use serde::{Deserialize, Serialize};

use super::common::five;

/// Input of `image_search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImageSearch {
    #[schemars(length(min = 1, max = 500))]
    pub query: String,
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 10))]
    pub num_results: u32,
    /// Only images of this size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<ImageSize>,
    /// Only images of this type.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ImageType>,
    /// Only images in colour, in shades of gray, black and white, or with a transparent background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color_type: Option<ColorType>,
    /// Only images with this dominant colour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dominant_color: Option<DominantColor>,
    /// Only images in this file format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_type: Option<FileType>,
    /// How much adult content to filter out.
    #[serde(default)]
    pub safe: Safe,
}

impl ImageSearch {
    /// A search with defaults.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            num_results: five(),
            size: None,
            kind: None,
            color_type: None,
            dominant_color: None,
            file_type: None,
            safe: Safe::default(),
        }
    }
}

/// Output of `image_search`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageSearchOutput {
    pub images: Vec<Image>,
    /// The query as given.
    pub query: String,
    pub result_count: usize,
    /// What the caller should know about these images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// An image that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    pub title: String,
    /// The image itself.
    pub link: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thumbnail_link: Option<String>,
    /// The host of the page that shows it.
    pub display_link: String,
    /// The page that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_link: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// As the provider writes it, such as `120 KB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_size: Option<String>,
}
