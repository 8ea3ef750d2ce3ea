use super::find;
use crate::picture::PictureReport;
use crate::platform::Platform;
use crate::text;

fn kinds(text: &str, platform: Platform) -> Vec<&'static str> {
    let report = text::read(text, platform);
    let mut kinds: Vec<_> =
        find(Some(&report), None, None, platform).into_iter().map(|finding| finding.kind).collect();
    kinds.sort_unstable();
    kinds
}

#[test]
fn a_good_post_has_no_findings() {
    let post = "Tired of flat coffee at home? Our new grinder is quiet, small and easy to clean. Order yours today. #coffee";
    assert_eq!(kinds(post, Platform::Instagram), Vec::<&str>::new());
}

#[test]
fn each_fault_is_found() {
    for (text, platform, kind) in [
        ("word ".repeat(60), Platform::X, "too_long"),
        ("Hello there".to_owned(), Platform::Linkedin, "too_short"),
        ("We sell coffee.".to_owned(), Platform::X, "no_call_to_action"),
        ("Order at https://shop.example now".to_owned(), Platform::Instagram, "link_not_clickable"),
        ("#a #b #c #d #e #f #g".to_owned(), Platform::Instagram, "too_many_hashtags"),
        ("Hello #a #A".to_owned(), Platform::Instagram, "repeated_hashtag"),
        ("THIS COFFEE WILL CHANGE YOUR LIFE".to_owned(), Platform::X, "shouting"),
        ("Tag a friend who needs this!".to_owned(), Platform::Facebook, "engagement_bait"),
        ("Markiere jemanden, der das braucht!".to_owned(), Platform::Facebook, "engagement_bait"),
        ("Hi {{first_name}}, order now".to_owned(), Platform::X, "placeholder"),
        ("𝗕𝗶𝗴 𝘀𝗮𝗹𝗲".to_owned(), Platform::X, "styled_characters"),
        ("Big sa\u{200b}le".to_owned(), Platform::X, "invisible_characters"),
        ("Now!!!!".to_owned(), Platform::X, "exclamation_marks"),
        (
            format!("{} is what we do", "long words and more ".repeat(10)),
            Platform::Instagram,
            "hook_cut",
        ),
    ] {
        let found = kinds(&text, platform);
        assert!(found.contains(&kind), "{text}: {found:?}");
    }
}

#[test]
fn faults_of_pictures_are_found() {
    let picture = PictureReport {
        width: 300,
        height: 900,
        colors: Vec::new(),
        contrast: 0.1,
        sharpness: 0.01,
    };
    let found = find(None, Some(&picture), Some(0.5), Platform::Linkedin);
    let kinds: Vec<_> = found.iter().map(|finding| finding.kind).collect();
    for kind in ["image_too_small", "image_aspect", "low_contrast", "image_blurred", "image_text"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
}
