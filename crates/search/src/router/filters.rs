//! Filters that a provider lacks: applied to its results, or named in a warning.

use crate::dates;
use crate::links::{is_of_site, web_url};
use crate::providers::{FileType, Hit, ImageFilters, ImageHit, ImageSize, Query, Safe, Supported};
use crate::settings::ProviderName;

/// Whether results will be dropped, so that more should be asked for.
pub(super) fn drop_results(query: &Query, supported: Supported) -> bool {
    (query.age.is_some() && !supported.age)
        || (query.excluded().next().is_some() && !supported.exclude)
        || (!supported.images && (query.image.size.is_some() || query.image.file.is_some()))
}

/// Drops what does not fit, and says what could not be checked.
pub(super) fn apply(
    hits: Vec<Hit>,
    query: &Query,
    supported: Supported,
    name: ProviderName,
) -> (Vec<Hit>, Vec<String>) {
    let mut unchecked: Vec<&str> = Vec::new();
    let hits = hits.into_iter().filter(|hit| !is_empty(hit) && is_of_sites(hit, query));
    let mut hits: Vec<Hit> = hits.collect();
    if query.age.is_some() && !supported.age {
        let undated = hits.iter().any(|hit| published(hit, query.now).is_none());
        hits.retain(|hit| is_recent(hit, query));
        if undated {
            unchecked.push("the date of some results");
        }
    }
    if !supported.exclude {
        hits.retain(|hit| !has_excluded(hit, query));
    }
    if query.exact.is_some() && !supported.exact {
        unchecked.push("`exact_terms`");
    }
    if query.safe != Safe::default() && !supported.safe {
        unchecked.push("`safe`");
    }
    if query.language.is_some() && !supported.language {
        unchecked.push("`language`");
    }
    if query.country.is_some() && !supported.country {
        unchecked.push("`country`");
    }
    if !supported.images {
        hits.retain(|hit| hit.image.as_ref().is_none_or(|image| fits(image, &query.image)));
        let filters = &query.image;
        if filters.size.is_some() && hits.iter().any(|hit| side(hit.image.as_ref()).is_none()) {
            unchecked.push("the size of some images");
        }
        if filters.kind.is_some() {
            unchecked.push("`type`");
        }
        if filters.color.is_some() {
            unchecked.push("`color_type`");
        }
        if filters.dominant.is_some() {
            unchecked.push("`dominant_color`");
        }
    }
    let warning = (!unchecked.is_empty())
        .then(|| format!("{name} cannot filter by {}.", unchecked.join(", ")));
    (hits, warning.into_iter().collect())
}

/// Whether a result has no usable address.
fn is_empty(hit: &Hit) -> bool {
    match &hit.image {
        Some(image) => web_url(&image.link).is_none(),
        None => web_url(&hit.url).is_none(),
    }
}

/// Providers follow a domain filter loosely, so that it is always checked.
fn is_of_sites(hit: &Hit, query: &Query) -> bool {
    let url = web_url(&hit.url);
    query.sites.is_empty()
        || url.is_some_and(|url| query.sites.iter().any(|site| is_of_site(&url, site)))
}

fn published(hit: &Hit, now: u64) -> Option<u64> {
    hit.published.as_deref().and_then(|text| dates::parse(text, now))
}

/// What has no date is kept.
fn is_recent(hit: &Hit, query: &Query) -> bool {
    let oldest = query.age.map_or(0, |age| query.now.saturating_sub(age.ms()));
    published(hit, query.now).is_none_or(|time| time >= oldest)
}

fn has_excluded(hit: &Hit, query: &Query) -> bool {
    let text = format!("{} {}", hit.title, hit.snippet).to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    query.excluded().any(|term| words.contains(&term.to_lowercase().as_str()))
}

/// The longer side in pixels.
fn side(image: Option<&ImageHit>) -> Option<u32> {
    let image = image?;
    Some(image.width?.max(image.height?))
}

/// Whether an image has the size and format; what is unknown fits.
fn fits(image: &ImageHit, filters: &ImageFilters) -> bool {
    let size = match (filters.size, side(Some(image))) {
        (Some(size), Some(side)) => match size {
            ImageSize::Icon => side <= 128,
            ImageSize::Small => side <= 400,
            ImageSize::Medium => (400..=1_000).contains(&side),
            ImageSize::Large => side >= 1_000,
            ImageSize::XLarge => side >= 1_600,
            ImageSize::XXLarge => side >= 2_400,
            ImageSize::Huge => side >= 4_000,
        },
        _ => true,
    };
    size && filters.file.is_none_or(|file| has_extension(&image.link, file))
}

fn has_extension(link: &str, file: FileType) -> bool {
    let Some(url) = web_url(link) else { return false };
    let extension =
        url.path().rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let extension = extension.as_deref().unwrap_or_default();
    match file {
        FileType::Jpg => matches!(extension, "jpg" | "jpeg"),
        FileType::Gif => extension == "gif",
        FileType::Png => extension == "png",
        FileType::Bmp => extension == "bmp",
        FileType::Svg => extension == "svg",
        FileType::Webp => extension == "webp",
    }
}
