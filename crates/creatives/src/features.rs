//! What scores are made of: each feature of a creative as a value from 0 to 1.

use serde::Serialize;

use crate::picture::PictureReport;
use crate::platform::{Platform, Rules};
use crate::rounding::rounded;
use crate::text::{HookKind, TextReport};

/// A feature of a creative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    Hook,
    Visible,
    CallToAction,
    ReadingEase,
    Length,
    Hashtags,
    Emotion,
    Arousal,
    Positivity,
    Practical,
    Question,
    Number,
    Offer,
    Urgency,
    Link,
    Style,
    ImageFit,
    ImageSize,
    ImageContrast,
    ImageSharpness,
    ImageText,
}

impl Feature {
    pub const ALL: [Self; 21] = [
        Self::Hook,
        Self::Visible,
        Self::CallToAction,
        Self::ReadingEase,
        Self::Length,
        Self::Hashtags,
        Self::Emotion,
        Self::Arousal,
        Self::Positivity,
        Self::Practical,
        Self::Question,
        Self::Number,
        Self::Offer,
        Self::Urgency,
        Self::Link,
        Self::Style,
        Self::ImageFit,
        Self::ImageSize,
        Self::ImageContrast,
        Self::ImageSharpness,
        Self::ImageText,
    ];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::Visible => "visible",
            Self::CallToAction => "call_to_action",
            Self::ReadingEase => "reading_ease",
            Self::Length => "length",
            Self::Hashtags => "hashtags",
            Self::Emotion => "emotion",
            Self::Arousal => "arousal",
            Self::Positivity => "positivity",
            Self::Practical => "practical",
            Self::Question => "question",
            Self::Number => "number",
            Self::Offer => "offer",
            Self::Urgency => "urgency",
            Self::Link => "link",
            Self::Style => "style",
            Self::ImageFit => "image_fit",
            Self::ImageSize => "image_size",
            Self::ImageContrast => "image_contrast",
            Self::ImageSharpness => "image_sharpness",
            Self::ImageText => "image_text",
        }
    }

    /// How its value is found, for the published table.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Hook => "by the kind of the hook, see below",
            Self::Visible => {
                "1 if the hook ends before \"see more\", else the share of it that is shown"
            }
            Self::CallToAction => "1 if there is one",
            Self::ReadingEase => "Flesch reading ease / 60, at most 1",
            Self::Length => {
                "1 within the lengths of the platform; below in proportion; above falling to .3 at the limit; 0 beyond it"
            }
            Self::Hashtags => {
                "1 within the numbers of the platform; .5 for too few; above in inverse proportion"
            }
            Self::Emotion => "intensity of the words with an emotion / .9, at most 1",
            Self::Arousal => {
                ".6 · intensity, .1 for each of two exclamation marks, .1 for each of two emoji"
            }
            Self::Positivity => "(valence + 1) / 2",
            Self::Practical => "1 for a how-to or a list of three items, .5 for a number",
            Self::Question => "1 if a question is asked",
            Self::Number => "1 if there is a number that is no year or time",
            Self::Offer => "1 if a price, discount, gift or prize is named",
            Self::Urgency => "1 if there is a deadline or a limited number",
            Self::Link => {
                "1 if there is a link that can be clicked, or \"link in bio\" where none can"
            }
            Self::Style => {
                "1, less .4 for shouting, .3 for engagement bait, .2 for more than 3 exclamation marks, .2 for more than 10 emoji, .2 for styled characters, .3 for placeholders"
            }
            Self::ImageFit => {
                "1 for a shape of the platform, falling to 0 for one double or half as wide"
            }
            Self::ImageSize => "width / the width of the platform, at most 1",
            Self::ImageContrast => "contrast / .7, at most 1",
            Self::ImageSharpness => "sharpness / .5, at most 1",
            Self::ImageText => "1 up to a text share of .2, falling to 0 at .6",
        }
    }
}

/// The value of a feature, and what it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// From 0 to 1.
    pub value: f64,
    pub evidence: String,
}

/// The values of all features; those that are not known are `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Features([Option<Measured>; Feature::ALL.len()]);

impl Features {
    /// The features of a creative that has a text, a picture or both.
    pub fn of(
        text: Option<&TextReport>,
        picture: Option<&PictureReport>,
        text_share: Option<f64>,
        platform: Platform,
    ) -> Self {
        let mut features = Self::default();
        if let Some(text) = text {
            features.add_text(text, platform);
        }
        if let Some(picture) = picture {
            features.add_picture(picture, platform);
        }
        if let Some(share) = text_share {
            let evidence = format!("text covers {} % of the picture", rounded(share * 100.0, 1));
            features.set(Feature::ImageText, (0.6 - share) / 0.4, evidence);
        }
        features
    }

    pub fn get(&self, feature: Feature) -> Option<&Measured> {
        self.0[feature as usize].as_ref()
    }

    /// Sets a value, brought to the range from 0 to 1.
    pub fn set(&mut self, feature: Feature, value: f64, evidence: String) {
        let value = rounded(value.clamp(0.0, 1.0), 3);
        self.0[feature as usize] = Some(Measured { value, evidence });
    }

    fn set_flag(&mut self, feature: Feature, is: bool, yes: &str, no: &str) {
        let evidence = if is { yes } else { no };
        self.set(feature, f64::from(u8::from(is)), evidence.to_owned());
    }

    fn add_text(&mut self, text: &TextReport, platform: Platform) {
        let rules = platform.rules();
        let traits = &text.traits;
        // Without lists of phrases for the language, a missing hook is unknown.
        let known = traits.phrases_known;
        let kind = text.hook.as_ref().map_or(HookKind::None, |hook| hook.kind);
        let evidence = match kind {
            HookKind::None => "the beginning has no hook".to_owned(),
            kind => format!("the text begins with a hook of the kind {}", kind.name()),
        };
        if known || kind != HookKind::None {
            self.set(Feature::Hook, kind.value(), evidence);
        }
        if let (Some(shown), Some(_)) = (rules.shown, &text.hook) {
            let evidence =
                format!("the hook ends at character {}, {shown} are shown", traits.hook_end);
            self.set(Feature::Visible, shown as f64 / traits.hook_end.max(1) as f64, evidence);
        }
        let action = text.call_to_action.is_some();
        if known || action {
            self.set_flag(Feature::CallToAction, action, "a call to action", "no call to action");
        }
        if let Some(ease) = text.reading_ease {
            let evidence = format!("Flesch reading ease {ease}; 60 and more is plain");
            self.set(Feature::ReadingEase, ease / 60.0, evidence);
        }
        let evidence = format!(
            "{} characters; {} to {} get full marks",
            text.length.characters, rules.best_length.0, rules.best_length.1
        );
        self.set(Feature::Length, length_value(text.length.characters, &rules), evidence);
        let evidence = format!(
            "{} hashtags; {} to {} get full marks",
            traits.hashtag_count, rules.hashtags.0, rules.hashtags.1
        );
        self.set(Feature::Hashtags, hashtag_value(traits.hashtag_count, &rules), evidence);
        self.add_emotion(text);
        let practical = match (traits.how_to || traits.list, traits.has_number) {
            (true, _) => (1.0, "a how-to or a list"),
            (false, true) => (0.5, "a number"),
            (false, false) => (0.0, "neither a how-to nor a list"),
        };
        self.set(Feature::Practical, practical.0, practical.1.to_owned());
        self.set_flag(Feature::Question, traits.asks, "a question is asked", "no question");
        self.set_flag(Feature::Number, traits.has_number, "a number", "no number");
        if known {
            self.set_flag(Feature::Offer, traits.offer, "an offer is named", "no offer");
            self.set_flag(Feature::Urgency, traits.urgency, "a deadline or limit", "no deadline");
        }
        let link = if rules.links { !text.links.is_empty() } else { traits.names_profile_link };
        self.set_flag(Feature::Link, link, "a way to the link", "no link to click");
        self.add_style(text);
    }

    fn add_emotion(&mut self, text: &TextReport) {
        let Some(emotion) = &text.emotion else { return };
        let evidence = match emotion.words.len() {
            0 => "no words with an emotion".to_owned(),
            _ => format!("words with an emotion: {}", first_words(&emotion.words)),
        };
        self.set(Feature::Emotion, emotion.intensity / 0.9, evidence);
        let exclamations = text.traits.exclamations.min(2) as f64;
        let emoji = text.emoji.len().min(2) as f64;
        let arousal = 0.6 * emotion.intensity + 0.1 * exclamations + 0.1 * emoji;
        let evidence = format!(
            "intensity {}, {} exclamation marks, {} emoji",
            rounded(emotion.intensity, 2),
            text.traits.exclamations,
            text.emoji.len()
        );
        self.set(Feature::Arousal, arousal, evidence);
        let evidence = format!("valence {}", rounded(emotion.valence, 2));
        self.set(Feature::Positivity, f64::midpoint(emotion.valence, 1.0), evidence);
    }

    fn add_style(&mut self, text: &TextReport) {
        let traits = &text.traits;
        let faults = [
            (is_shouted(text), 0.4, "shouting"),
            (traits.bait.is_some(), 0.3, "engagement bait"),
            (traits.exclamations > 3, 0.2, "many exclamation marks"),
            (text.emoji.len() > 10, 0.2, "many emoji"),
            (traits.styled > 0, 0.2, "styled characters"),
            (traits.placeholder.is_some(), 0.3, "a placeholder"),
        ];
        let found: Vec<_> = faults.into_iter().filter(|(is, ..)| *is).collect();
        let value = 1.0 - found.iter().map(|(_, cost, _)| cost).sum::<f64>();
        let names: Vec<&str> = found.iter().map(|(.., name)| *name).collect();
        let evidence = if names.is_empty() {
            "nothing that puts readers off".to_owned()
        } else {
            names.join(", ")
        };
        self.set(Feature::Style, value, evidence);
    }

    fn add_picture(&mut self, picture: &PictureReport, platform: Platform) {
        let rules = platform.rules();
        let fit = if picture.fits(platform) { 1.0 } else { 1.0 - picture.distance(platform) };
        let evidence = format!(
            "{} × {} pixels; {} takes {}",
            picture.width,
            picture.height,
            platform.title(),
            rules.shapes()
        );
        self.set(Feature::ImageFit, fit, evidence);
        let size = f64::from(picture.width) / f64::from(rules.width);
        let evidence = format!("{} pixels wide; {} are advised", picture.width, rules.width);
        self.set(Feature::ImageSize, size, evidence);
        let evidence = format!("contrast {}", rounded(picture.contrast, 2));
        self.set(Feature::ImageContrast, picture.contrast / 0.7, evidence);
        let evidence = format!("sharpness {}", rounded(picture.sharpness, 2));
        self.set(Feature::ImageSharpness, picture.sharpness / 0.5, evidence);
    }
}

/// Whether much of a text is in capitals.
pub(crate) fn is_shouted(text: &TextReport) -> bool {
    text.traits.shouted >= 3 && text.traits.shouted_share >= 0.3
}

fn first_words(words: &[String]) -> String {
    words.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn length_value(characters: usize, rules: &Rules) -> f64 {
    let (shortest, longest) = rules.best_length;
    let count = characters as f64;
    match rules.limit {
        Some(limit) if characters > limit => 0.0,
        _ if characters < shortest => count / shortest as f64,
        _ if characters <= longest => 1.0,
        Some(limit) => 1.0 - 0.7 * (count - longest as f64) / (limit - longest).max(1) as f64,
        None => longest as f64 / count,
    }
}

fn hashtag_value(count: usize, rules: &Rules) -> f64 {
    let (fewest, most) = rules.hashtags;
    if count < fewest {
        0.5
    } else if count <= most {
        1.0
    } else {
        most.max(1) as f64 / count as f64
    }
}

#[cfg(test)]
mod tests;
