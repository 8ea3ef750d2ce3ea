use std::num::NonZeroU32;

use proto::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::secret::{SecretReader, SecretSource};

/// A language model behind an OpenAI-compatible endpoint.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The protocol.
    #[serde(default)]
    pub kind: ModelKind,
    /// The base of the API, such as `https://api.example.com/v1`. A private address must be in `egress.allow`.
    pub url: String,
    /// The model's name.
    pub name: String,
    /// The key, as `{env: NAME}`, `{file: PATH}` or `{secret: NAME}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<SecretSource>,
    /// The model that makes vectors for collections, at the same address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embeddings: Option<ModelEmbeddings>,
}

/// A model that makes vectors.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelEmbeddings {
    /// The model's name.
    pub name: String,
    /// How many numbers a vector has, for models that offer several lengths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<NonZeroU32>,
}

/// The protocol of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModelKind {
    #[default]
    Openai,
}

impl Model {
    /// The key, if there is one.
    pub(super) fn resolve(
        &self,
        reader: &SecretReader<'_>,
    ) -> Result<Option<Secret>, (&'static str, String)> {
        ::auth::check_url(&self.url).map_err(|why| ("url", why.to_string()))?;
        let key = self.key.as_ref().map(|key| key.fetch(reader)).transpose();
        key.map_err(|why| ("key", why.to_string()))
    }
}
