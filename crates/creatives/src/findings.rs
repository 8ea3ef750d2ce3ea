//! What to improve before a creative is published.

use std::ops::Range;

use crate::features::is_shouted;
use crate::picture::PictureReport;
use crate::platform::Platform;
use crate::text::TextReport;

/// Below this Flesch reading ease a post is hard to read.
const HARD: f64 = 30.0;

/// Below these a picture has little contrast, or is blurred.
const LOW_CONTRAST: f64 = 0.35;
const BLURRED: f64 = 0.08;

/// Above this share a picture has much text.
const MUCH_TEXT: f64 = 0.3;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Info,
    Warning,
    Error,
}

impl Severity {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Something to improve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub kind: &'static str,
    pub severity: Severity,
    pub message: String,
    /// Its bytes in the text, if it has a place there.
    pub place: Option<Range<usize>>,
}

fn finding(kind: &'static str, severity: Severity, message: impl Into<String>) -> Finding {
    Finding { kind, severity, message: message.into(), place: None }
}

/// What to improve, the worst first.
pub fn find(
    text: Option<&TextReport>,
    picture: Option<&PictureReport>,
    text_share: Option<f64>,
    platform: Platform,
) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(text) = text {
        check_length(text, platform, &mut found);
        check_tags_and_links(text, platform, &mut found);
        check_style(text, &mut found);
    }
    if let Some(picture) = picture {
        check_picture(picture, platform, &mut found);
    }
    if text_share.is_some_and(|share| share > MUCH_TEXT) {
        let message = "Text covers much of the picture. Move some of it to the caption.";
        found.push(finding("image_text", Severity::Warning, message));
    }
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    found
}

fn check_length(text: &TextReport, platform: Platform, found: &mut Vec<Finding>) {
    let (rules, count) = (platform.rules(), text.length.characters);
    if let Some(limit) = rules.limit.filter(|limit| count > *limit) {
        let message = format!(
            "{} takes {limit} characters and this text has {count}. Cut {}.",
            platform.title(),
            count - limit
        );
        found.push(finding("too_long", Severity::Error, message));
    } else if count < rules.best_length.0 {
        let message = format!(
            "The text has {count} characters, which says little. Add what it is about and for."
        );
        found.push(finding("too_short", Severity::Info, message));
    } else if count > rules.best_length.1 {
        let message = format!(
            "The text has {count} characters; texts of at most {} are read more often on {}.",
            rules.best_length.1,
            platform.title()
        );
        found.push(finding("long", Severity::Info, message));
    }
    if let Some(shown) = rules.shown.filter(|shown| text.traits.hook_end > *shown) {
        let message = format!(
            "Only {shown} characters are shown before \"see more\", and the first sentence is longer. Put the point first."
        );
        found.push(finding("hook_cut", Severity::Warning, message));
    }
    if text.call_to_action.is_none() && text.traits.phrases_known {
        let message = "There is no call to action. Say what readers should do next.";
        found.push(finding("no_call_to_action", Severity::Warning, message));
    }
    if text.reading_ease.is_some_and(|ease| ease < HARD) {
        let message = "The text is hard to read. Use shorter sentences and words.";
        found.push(finding("hard_to_read", Severity::Warning, message));
    }
}

fn check_tags_and_links(text: &TextReport, platform: Platform, found: &mut Vec<Finding>) {
    let (rules, count) = (platform.rules(), text.traits.hashtag_count);
    if count > rules.hashtags.1 {
        let message = format!(
            "{count} hashtags are many for {}: use at most {}.",
            platform.title(),
            rules.hashtags.1
        );
        found.push(finding("too_many_hashtags", Severity::Warning, message));
    } else if count < rules.hashtags.0 {
        let message =
            format!("There is no hashtag. One to {} help people to find it.", rules.hashtags.1);
        found.push(finding("no_hashtags", Severity::Info, message));
    }
    if count > text.hashtags.len() {
        found.push(finding(
            "repeated_hashtag",
            Severity::Info,
            "A hashtag is repeated. Once is enough.",
        ));
    }
    if let Some(place) = text.traits.first_link.clone().filter(|_| !rules.links) {
        let message = format!(
            "Links in the text cannot be clicked on {}. Put it in the profile and write \"link in bio\".",
            platform.title()
        );
        let link = finding("link_not_clickable", Severity::Warning, message);
        found.push(Finding { place: Some(place), ..link });
    }
}

fn check_style(text: &TextReport, found: &mut Vec<Finding>) {
    let traits = &text.traits;
    if is_shouted(text) {
        let message = format!("{} words are in capitals, which reads as shouting.", traits.shouted);
        found.push(finding("shouting", Severity::Warning, message));
    }
    if let Some(place) = traits.bait.clone() {
        let message = "This asks for likes, tags or shares for their own sake. Platforms show such engagement bait less.";
        let bait = finding("engagement_bait", Severity::Warning, message);
        found.push(Finding { place: Some(place), ..bait });
    }
    if let Some(place) = traits.placeholder.clone() {
        let left = finding(
            "placeholder",
            Severity::Error,
            "A placeholder was left in the text. Replace it.",
        );
        found.push(Finding { place: Some(place), ..left });
    }
    if traits.exclamations > 3 {
        let message = format!("{} exclamation marks are many. One is enough.", traits.exclamations);
        found.push(finding("exclamation_marks", Severity::Info, message));
    }
    if text.emoji.len() > 10 {
        let message = format!("{} different emoji distract from the text.", text.emoji.len());
        found.push(finding("too_many_emoji", Severity::Info, message));
    }
    if traits.styled > 0 {
        let message = "Styled characters are read badly or not at all by screen readers, and are not found by search. Write plain ones.";
        found.push(finding("styled_characters", Severity::Warning, message));
    }
    if traits.invisible > 0 {
        let message =
            format!("{} invisible characters are in the text. Remove them.", traits.invisible);
        found.push(finding("invisible_characters", Severity::Info, message));
    }
}

fn check_picture(picture: &PictureReport, platform: Platform, found: &mut Vec<Finding>) {
    let rules = platform.rules();
    if picture.width < rules.width {
        let message = format!(
            "The picture is {} pixels wide; use at least {} for {}.",
            picture.width,
            rules.width,
            platform.title()
        );
        found.push(finding("image_too_small", Severity::Warning, message));
    }
    if !picture.fits(platform) {
        let message = format!(
            "The shape of the picture is {}:1, and {} will cut or frame it. Use {}.",
            crate::rounding::rounded(picture.aspect(), 2),
            platform.title(),
            rules.shapes()
        );
        found.push(finding("image_aspect", Severity::Warning, message));
    }
    if picture.contrast < LOW_CONTRAST {
        let message = "The picture has little contrast and is easily overlooked. Make dark parts darker or bright ones brighter.";
        found.push(finding("low_contrast", Severity::Warning, message));
    }
    if picture.sharpness < BLURRED {
        let message = "The picture is blurred or has hardly any detail.";
        found.push(finding("image_blurred", Severity::Info, message));
    }
}

#[cfg(test)]
mod tests;
