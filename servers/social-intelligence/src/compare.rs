//! `compare_variants`: variants of a creative, ranked.

use creatives::comparison;
use creatives::features::Features;
use creatives::platform::Platform;
use kit::{Ctx, Fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::creative::{PlatformName, read_picture, read_text, refuse};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The texts of the variants.
    #[schemars(length(min = 2, max = 10), inner(length(min = 1, max = 2_000_000)))]
    texts: Option<Vec<String>>,
    /// The pictures of the variants in base64; with `texts`, as many as there are texts.
    // A plain list in the schema: gateways then take a list of files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", length(min = 2, max = 10), inner(length(min = 1)))]
    image_data: Option<Vec<String>>,
    /// Where they are published.
    platform: PlatformName,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The best first.
    ranking: Vec<Variant>,
    /// Always false: the weights are chosen, not learned from results.
    calibrated: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Variant {
    /// Counted from 0, as the variants were given.
    index: usize,
    /// The share signal of `score_virality`.
    share: f64,
    /// The click signal of `score_virality`.
    click: f64,
    /// Where it differs most from the mean of all variants.
    why: Vec<String>,
}

pub(crate) async fn compare(input: Input, ctx: Ctx) -> Result<Output, Fault> {
    let Input { texts, image_data, platform } = input;
    let platform = Platform::from(platform);
    let count = match (&texts, &image_data) {
        (None, None) => return Err(refuse("/", "give `texts`, pictures in `image_data`, or both")),
        (Some(texts), Some(pictures)) if texts.len() != pictures.len() => {
            let why = format!(
                "there are {} pictures and {} texts; the same index is one variant, so give as many of both",
                pictures.len(),
                texts.len()
            );
            return Err(refuse("/image_data", &why));
        }
        (Some(texts), _) => texts.len(),
        (None, Some(pictures)) => pictures.len(),
    };
    let mut texts = texts.unwrap_or_default().into_iter();
    let mut pictures = image_data.unwrap_or_default().into_iter();
    let (mut variants, mut warnings) = (Vec::new(), Vec::new());
    for index in 0..count {
        let text = match texts.next() {
            Some(text) => {
                let path = format!("/texts/{index}");
                Some(read_text(&path, text, platform, &mut warnings).await?.1)
            }
            None => None,
        };
        let picture = match pictures.next() {
            Some(data) => {
                let argument = format!("image_data/{index}");
                Some(read_picture(&ctx, &argument, &data, None, &mut warnings).await?.report)
            }
            None => None,
        };
        variants.push(Features::of(text.as_ref(), picture.as_ref(), None, platform));
        ctx.progress(variants.len() as f64, count as f64, "variants read").await;
    }
    let ranking = comparison::rank(&variants).into_iter().map(|ranked| Variant {
        index: ranked.index,
        share: ranked.share,
        click: ranked.click,
        why: ranked.why,
    });
    Ok(Output { ranking: ranking.collect(), calibrated: false, warnings })
}
