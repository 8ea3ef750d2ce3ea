//! What would raise the signals most.

use crate::features::{Feature, Features};
use crate::platform::Platform;
use crate::rounding::rounded;
use crate::score::{Scale, Score};

/// At most this many suggestions are made.
const MOST: usize = 5;

/// Gains below this many points, of both signals together, are not worth the work.
const LEAST_GAIN: f64 = 1.0;

/// A change, and what it would add to the signals.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    pub feature: Feature,
    pub message: String,
    pub share_gain: f64,
    pub click_gain: f64,
}

/// Suggestions, the one with the highest gain first: what each signal would have more if the feature had its full value.
pub fn suggest(features: &Features, platform: Platform) -> Vec<Suggestion> {
    let (share, click) = (Score::of(Scale::Share, features), Score::of(Scale::Click, features));
    let gain = |score: &Score, feature: Feature| {
        let part = score.parts.iter().find(|part| part.feature == feature);
        part.map_or(0.0, |part| rounded(100.0 * part.weight - part.contribution, 1).max(0.0))
    };
    let mut found: Vec<Suggestion> = Feature::ALL
        .into_iter()
        .filter_map(|feature| {
            let message = message(feature, platform)?;
            let (share_gain, click_gain) = (gain(&share, feature), gain(&click, feature));
            let worth = share_gain + click_gain >= LEAST_GAIN;
            worth.then_some(Suggestion { feature, message, share_gain, click_gain })
        })
        .collect();
    let total = |one: &Suggestion| one.share_gain + one.click_gain;
    found.sort_by(|one, other| total(other).total_cmp(&total(one)));
    found.truncate(MOST);
    found
}

fn message(feature: Feature, platform: Platform) -> Option<String> {
    let rules = platform.rules();
    let title = platform.title();
    Some(match feature {
        Feature::Hook => "Begin with a question, a number, a how-to or a short story.".to_owned(),
        Feature::Visible => {
            let shown = rules.shown?;
            format!(
                "Shorten the first sentence: {title} shows {shown} characters before \"see more\"."
            )
        }
        Feature::CallToAction => {
            "Say what readers should do next, such as \"Book your place\".".to_owned()
        }
        Feature::ReadingEase => "Use shorter sentences and words.".to_owned(),
        Feature::Length => {
            let (shortest, longest) = rules.best_length;
            format!("Bring the text to {shortest} to {longest} characters.")
        }
        Feature::Hashtags => {
            format!("Use {} to {} hashtags.", rules.hashtags.0, rules.hashtags.1)
        }
        Feature::Emotion => "Use words that say how it feels, if the topic allows it.".to_owned(),
        Feature::Arousal => {
            "Make it livelier: stronger words, an emoji, one exclamation mark.".to_owned()
        }
        Feature::Practical => "Give readers something to use: steps, a list, a tip.".to_owned(),
        Feature::Question => "Ask readers a question.".to_owned(),
        Feature::Number => "Name a concrete number.".to_owned(),
        Feature::Offer => "Name the price, discount or gift, if there is one.".to_owned(),
        Feature::Urgency => {
            "Name the deadline or the number of places, if there is one.".to_owned()
        }
        Feature::Link if rules.links => "Add the link.".to_owned(),
        Feature::Link => "Say that the link is in the profile: \"link in bio\".".to_owned(),
        Feature::Style => {
            "Remove capitals, bait, placeholders, styled characters and surplus marks.".to_owned()
        }
        Feature::ImageFit => format!("Crop the picture to {}.", rules.shapes()),
        Feature::ImageContrast => "Use a picture with more contrast.".to_owned(),
        Feature::ImageSharpness => "Use a sharper picture.".to_owned(),
        // A negative topic is not made positive, and these two count for no signal.
        Feature::Positivity | Feature::ImageSize | Feature::ImageText => return None,
    })
}
