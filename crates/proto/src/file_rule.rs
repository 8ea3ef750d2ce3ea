//! How a file reaches a tool whose caller only names it.

use serde::{Deserialize, Serialize};

/// Where a server's listing says in which form a tool takes files, in the tool's `_meta`.
pub const FILE_STRATEGY_META: &str = "powerstrip/file_strategy";

/// Where it says under which names.
pub const FILE_ARGS_META: &str = "powerstrip/file_args";

/// In which form a tool takes a file.
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
    /// A link to the file that holds for an hour.
    VideoS3PresignedUrl,
    /// Nothing is put in.
    #[default]
    Passthrough,
}

impl FileStrategy {
    /// The arguments that are put in where nobody chose other names: what the file becomes, and its media type.
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

/// How a tool takes files: in which form, and under which names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRule {
    pub strategy: FileStrategy,
    /// One for each file that the tool takes; none where the usual names do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<FileArgs>,
}

impl From<FileStrategy> for FileRule {
    fn from(strategy: FileStrategy) -> Self {
        Self { strategy, args: Vec::new() }
    }
}

/// The names of the arguments for one file; where one is missing, the usual one holds.
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

/// The names of the arguments as they are written: for one file, or for several.
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
