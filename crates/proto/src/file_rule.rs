//! How a tool receives a file that its caller names by id.

use serde::{Deserialize, Serialize};

/// The `_meta` key of a tool's listing for the form in which it takes files.
pub const FILE_STRATEGY_META: &str = "powerstrip/file_strategy";

/// The `_meta` key for the names of the arguments.
pub const FILE_ARGS_META: &str = "powerstrip/file_args";

/// The form in which a tool takes a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileStrategy {
    /// The bytes in base64, and their media type.
    BinaryBase64,
    /// The text in the file, as `content`.
    PlainTextContent,
    /// The text in the file, as `text`.
    PlainTextText,
    /// The bytes of an image in base64, and its media type.
    ImageBase64,
    /// A link to the file that is valid for an hour.
    VideoS3PresignedUrl,
    /// The id is passed through unchanged.
    #[default]
    Passthrough,
}

impl FileStrategy {
    /// The default names of the arguments for the file's content and its media type.
    pub fn names(self) -> Option<(&'static str, Option<&'static str>)> {
        match self {
            Self::BinaryBase64 => Some(("file_data", Some("file_type"))),
            Self::PlainTextContent => Some(("content", None)),
            Self::PlainTextText => Some(("text", None)),
            Self::ImageBase64 => Some(("image_data", Some("image_type"))),
            Self::VideoS3PresignedUrl => Some(("input_url", None)),
            Self::Passthrough => None,
        }
    }
}

/// How a tool takes files: the form, and the names of the arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRule {
    pub strategy: FileStrategy,
    /// One for each file that the tool takes; empty for the default names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<FileArgs>,
}

impl From<FileStrategy> for FileRule {
    fn from(strategy: FileStrategy) -> Self {
        Self { strategy, args: Vec::new() }
    }
}

/// The names of the arguments for one file; a missing one has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileArgs {
    /// The argument in which a caller names the file: `file_id`, or `file_ids` where the tool takes a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The argument that the file becomes: `file_data`, `content`, `text`, `image_data` or `input_url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// The argument that becomes the file's media type: `file_type` or `image_type`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
}

/// The names of the arguments in a config: for one file, or for several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WrittenFileArgs {
    One(FileArgs),
    Several(Vec<FileArgs>),
}

impl From<WrittenFileArgs> for Vec<FileArgs> {
    fn from(args: WrittenFileArgs) -> Self {
        match args {
            WrittenFileArgs::One(args) => vec![args],
            WrittenFileArgs::Several(args) => args,
        }
    }
}
