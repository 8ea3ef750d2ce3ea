//! The creatives of callers.

use creatives::picture::Measured;
use creatives::platform::Platform;
use creatives::text::{self, TextReport};
use kit::{Ctx, Fault, GivenFile};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::works::{self, MEASURE};

/// A post or an ad: a text, a picture, or both.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The text, with its hashtags and links.
    #[schemars(length(min = 1, max = 2_000_000))]
    text: Option<String>,
    /// The picture in base64: PNG, JPEG, WebP, GIF, TIFF or BMP.
    #[schemars(length(min = 1))]
    image_data: Option<String>,
    /// Its media type; the content counts if they differ.
    image_type: Option<String>,
    /// Where it is published.
    platform: PlatformName,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PlatformName {
    Instagram,
    Tiktok,
    X,
    Linkedin,
    Facebook,
    Youtube,
    Generic,
}

impl From<PlatformName> for Platform {
    fn from(name: PlatformName) -> Self {
        match name {
            PlatformName::Instagram => Self::Instagram,
            PlatformName::Tiktok => Self::Tiktok,
            PlatformName::X => Self::X,
            PlatformName::Linkedin => Self::Linkedin,
            PlatformName::Facebook => Self::Facebook,
            PlatformName::Youtube => Self::Youtube,
            PlatformName::Generic => Self::Generic,
        }
    }
}

/// A creative, with the reports on its text and picture.
#[derive(Debug)]
pub(crate) struct Creative {
    pub(crate) platform: Platform,
    pub(crate) text: Option<(String, TextReport)>,
    pub(crate) picture: Option<Measured>,
    pub(crate) warnings: Vec<String>,
}

impl Creative {
    pub(crate) async fn read(input: Input, ctx: &Ctx) -> Result<Self, Fault> {
        let Input { text, image_data, image_type, platform } = input;
        if text.is_none() && image_data.is_none() {
            return Err(refuse("/", "give a `text`, a picture in `image_data`, or both"));
        }
        if image_type.is_some() && image_data.is_none() {
            return Err(refuse("/image_type", "there is no `image_data` that it could describe"));
        }
        let platform = Platform::from(platform);
        let mut warnings = Vec::new();
        let text = match text {
            Some(text) => Some(read_text("/text", text, platform, &mut warnings).await?),
            None => None,
        };
        let picture = match image_data {
            Some(data) => {
                let declared = image_type.as_deref();
                Some(read_picture(ctx, "image_data", &data, declared, &mut warnings).await?)
            }
            None => None,
        };
        Ok(Self { platform, text, picture, warnings })
    }

    pub(crate) fn text_report(&self) -> Option<&TextReport> {
        self.text.as_ref().map(|(_, report)| report)
    }
}

/// Reads a text on a thread of its own, because long ones take a while.
pub(crate) async fn read_text(
    path: &str,
    text: String,
    platform: Platform,
    warnings: &mut Vec<String>,
) -> Result<(String, TextReport), Fault> {
    if !text::has_content(&text) {
        return Err(refuse(path, "the text has neither words nor emoji"));
    }
    let read = kit::blocking(move || {
        let report = text::read(&text, platform);
        (text, report)
    })
    .await?;
    if read.1.cut {
        let most = text::MOST_READ;
        warnings
            .push(format!("{path}: only the first {most} characters were read, all were counted"));
    }
    if read.1.traits.words > 0 && !read.1.traits.phrases_known {
        warnings.push(format!(
            "{path}: hooks and calls to action are known in English, German, French and Spanish only; what was not found is left out of the score"
        ));
    }
    Ok(read)
}

/// Measures a picture in a confined reader.
pub(crate) async fn read_picture(
    ctx: &Ctx,
    argument: &str,
    data: &str,
    declared: Option<&str>,
    warnings: &mut Vec<String>,
) -> Result<Measured, Fault> {
    let sent = GivenFile::decode(argument, data, declared)?;
    if ocr::decode::media_type(&sent.bytes).is_none() {
        let why = format!(
            "this is {}, not a picture: send PNG, JPEG, WebP, GIF, TIFF or BMP",
            sent.media_type
        );
        let path = format!("/{argument}");
        let details = json!({"reason": "unsupported", "errors": [{"path": path, "reason": why}]});
        return Err(Fault::invalid_input(format!("{path}: {why}")).details(details));
    }
    let done = ctx.work(&MEASURE, &(), sent.document()).await?;
    warnings.extend(sent.warnings);
    works::measured(done).ok_or_else(|| Fault::internal("the measured picture cannot be read"))
}

/// A fault of an argument.
pub(crate) fn refuse(path: &str, why: &str) -> Fault {
    let errors = json!([{"path": path, "reason": why}]);
    Fault::invalid_input(format!("{path}: {why}")).details(json!({"errors": errors}))
}
