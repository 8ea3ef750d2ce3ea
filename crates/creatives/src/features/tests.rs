use crate::features::{Feature, Features};
use crate::picture::{Color, PictureReport};
use crate::platform::Platform;
use crate::score::{Scale, Score};
use crate::text;

fn value(text: &str, platform: Platform, feature: Feature) -> Option<f64> {
    let report = text::read(text, platform);
    Features::of(Some(&report), None, None, platform).get(feature).map(|measured| measured.value)
}

fn picture(width: u32, height: u32, contrast: f64, sharpness: f64) -> PictureReport {
    let colors = vec![Color { hex: "#000000".to_owned(), share: 1.0 }];
    PictureReport { width, height, colors, contrast, sharpness }
}

#[test]
fn each_feature_is_raised_by_its_text() {
    let x = Platform::X;
    for (feature, without, with) in [
        (Feature::Hook, "Our new coffee is here.", "Tired of bad coffee?"),
        (Feature::CallToAction, "Our coffee is here.", "Our coffee is here. Order now."),
        (Feature::Emotion, "The coffee is here.", "The amazing coffee is here."),
        (Feature::Arousal, "The coffee is here.", "The coffee is here! 🔥"),
        (Feature::Positivity, "This is a terrible day.", "This is a wonderful day."),
        (Feature::Practical, "We sell coffee.", "How to make better coffee"),
        (Feature::Question, "We sell coffee.", "We sell coffee. And you?"),
        (Feature::Number, "We sold cups in 2024.", "We sold 300 cups."),
        (Feature::Offer, "We sell coffee.", "20% off all coffee."),
        (Feature::Urgency, "Sale on coffee.", "Sale on coffee, today only."),
        (Feature::Link, "See our shop.", "See our shop: https://shop.example/coffee"),
        (Feature::Style, "BUY THIS GREAT COFFEE RIGHT NOW", "Buy this great coffee right now"),
        (Feature::Hashtags, "Coffee #a #b #c #d #e", "Coffee #a"),
        (Feature::Length, "Coffee", "Coffee is what gets most of us through the day."),
    ] {
        let (low, high) = (value(without, x, feature), value(with, x, feature));
        assert!(low.is_some() && high > low, "{feature:?}: {low:?} {high:?}");
    }
}

#[test]
fn features_depend_on_the_platforms_limits() {
    let tagged = format!("Coffee for everyone, every single day of the year {}", "#a ".repeat(9));
    assert!(value(&tagged, Platform::Instagram, Feature::Hashtags) < Some(1.0));
    let long = "word ".repeat(100);
    assert_eq!(value(&long, Platform::X, Feature::Length), Some(0.0));
    assert_eq!(value(&long, Platform::Linkedin, Feature::Length), Some(1.0));
    assert_eq!(value("Hello there", Platform::Generic, Feature::Visible), None);
    assert_eq!(value("Coffee. Link in bio!", Platform::Instagram, Feature::Link), Some(1.0));
}

#[test]
fn a_better_picture_has_a_higher_score() {
    let score = |picture: &PictureReport, share: f64| {
        let features = Features::of(None, Some(picture), Some(share), Platform::Youtube);
        Score::of(Scale::Craft, &features).score
    };
    let good = score(&picture(1280, 720, 0.9, 0.7), 0.1);
    assert_eq!(good, 100.0);
    for worse in [
        picture(1280, 1280, 0.9, 0.7),
        picture(320, 180, 0.9, 0.7),
        picture(1280, 720, 0.2, 0.7),
        picture(1280, 720, 0.9, 0.05),
    ] {
        assert!(score(&worse, 0.1) < good, "{worse:?}");
    }
    assert!(score(&picture(1280, 720, 0.9, 0.7), 0.5) < good);
}
