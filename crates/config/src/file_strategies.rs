//! `file_strategies`: in which form tools take files.

use std::collections::BTreeMap;

use proto::{FileArgs, FileRule, FileStrategy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strip::files::Strategies;

use crate::agents::Tools;

/// How a tool takes files: a strategy, or a strategy with argument names.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FileHandling {
    Strategy(Strategy),
    Named(NamedStrategy),
}

/// A strategy and the names of the arguments that it fills.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedStrategy {
    /// In which form the tool takes files.
    pub strategy: Strategy,
    /// The argument names, one entry per file that the tool takes.
    #[serde(default)]
    pub args: Vec<Names>,
}

/// In which form a tool takes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// `file_data`, the bytes in base64, and `file_type`, their media type.
    BinaryBase64,
    /// `content`, the text in the file.
    PlainTextContent,
    /// `text`, the text in the file.
    PlainTextText,
    /// `image_data`, the bytes of an image in base64, and `image_type`.
    ImageBase64,
    /// `input_url`, a link that is valid for an hour.
    VideoS3PresignedUrl,
    /// No argument is filled in.
    Passthrough,
}

/// The names of the arguments for one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Names {
    /// The argument in which a caller names the file; `file_id` by default.
    pub id: Option<String>,
    /// The argument that receives the file.
    pub data: Option<String>,
    /// The argument that receives the media type.
    #[serde(rename = "type")]
    pub media_type: Option<String>,
}

impl From<Strategy> for FileStrategy {
    fn from(strategy: Strategy) -> Self {
        match strategy {
            Strategy::BinaryBase64 => Self::BinaryBase64,
            Strategy::PlainTextContent => Self::PlainTextContent,
            Strategy::PlainTextText => Self::PlainTextText,
            Strategy::ImageBase64 => Self::ImageBase64,
            Strategy::VideoS3PresignedUrl => Self::VideoS3PresignedUrl,
            Strategy::Passthrough => Self::Passthrough,
        }
    }
}

impl FileHandling {
    fn rule(&self) -> FileRule {
        match self {
            Self::Strategy(strategy) => FileStrategy::from(*strategy).into(),
            Self::Named(named) => FileRule {
                strategy: named.strategy.into(),
                args: named.args.iter().map(Names::args).collect(),
            },
        }
    }
}

impl Names {
    fn args(&self) -> FileArgs {
        let Self { id, data, media_type } = self.clone();
        FileArgs { id, data, media_type }
    }
}

/// The rules as the strip takes them.
pub(crate) fn rules(written: &BTreeMap<Tools, FileHandling>) -> Strategies {
    Strategies(written.iter().map(|(tools, handling)| (tools.0.clone(), handling.rule())).collect())
}
