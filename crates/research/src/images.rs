//! `image_search`.

use std::time::Duration;

use proto::Failure;
use search::links::{display_host, web_url};
use search::providers::{Hit, ImageFilters, Kind, Query};
use serde_json::json;

use crate::cache;
use crate::input::{check_count, check_query};
use crate::research::{Call, Research};
use crate::tools::{Image, ImageSearch, ImageSearchOutput};

const TTL: Duration = Duration::from_secs(30 * 60);

impl Research {
    /// Searches images.
    pub async fn image_search(
        &self,
        input: ImageSearch,
        call: &Call<'_>,
    ) -> Result<ImageSearchOutput, Failure> {
        let query = Query {
            text: check_query(&input.query)?.to_owned(),
            count: check_count(input.num_results)?,
            safe: input.safe,
            image: ImageFilters {
                size: input.size,
                kind: input.kind,
                color: input.color_type,
                dominant: input.dominant_color,
                file: input.file_type,
            },
            ..Query::default()
        };
        let key =
            cache::key("image", None, &json!({"input": input, "route": self.router().route()}));
        let searching = self.cached(key, TTL, |research| async move {
            let found = research.router().search(Kind::Image, &query).await?;
            let images: Vec<_> =
                found.hits.into_iter().filter_map(image).take(query.count).collect();
            Ok(ImageSearchOutput {
                query: input.query,
                result_count: images.len(),
                images,
                warnings: found.warnings,
            })
        });
        call.run(searching).await
    }
}

fn image(hit: Hit) -> Option<Image> {
    let image = hit.image?;
    let link = web_url(&image.link)?;
    let page = web_url(&hit.url);
    Some(Image {
        title: hit.title,
        display_link: display_host(page.as_ref().unwrap_or(&link)),
        link: link.into(),
        thumbnail_link: image.thumbnail.and_then(|link| web_url(&link)).map(String::from),
        context_link: page.map(String::from),
        width: image.width,
        height: image.height,
        file_size: image.size,
    })
}
