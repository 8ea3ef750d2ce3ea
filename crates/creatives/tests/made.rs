//! Fifty posts in four languages: what is found in them, and that their scores add up.
#![allow(clippy::unwrap_used, reason = "tests")]

use creatives::comparison::rank;
use creatives::features::Features;
use creatives::platform::Platform;
use creatives::score::{Scale, Score};
use creatives::suggestions::suggest;
use creatives::text::{self, TextReport};

const POSTS: &str = include_str!("posts.txt");

struct Post {
    platform: Platform,
    language: &'static str,
    hook: &'static str,
    acts: bool,
    text: &'static str,
}

fn posts() -> Vec<Post> {
    let posts = POSTS.split("=== ").skip(1).map(|post| {
        let (head, text) = post.split_once('\n').unwrap();
        let [platform, language, hook, acts] = head.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{head}");
        };
        let platform = Platform::ALL.into_iter().find(|known| known.name() == platform).unwrap();
        Post { platform, language, hook, acts: acts == "yes", text: text.trim_end() }
    });
    posts.collect()
}

fn read(post: &Post) -> (TextReport, Features) {
    let report = text::read(post.text, post.platform);
    let features = Features::of(Some(&report), None, None, post.platform);
    (report, features)
}

#[test]
fn the_parts_of_all_scores_add_up() {
    let posts = posts();
    assert_eq!(posts.len(), 50);
    for post in &posts {
        let (_, features) = read(post);
        for scale in Scale::ALL {
            let score = Score::of(scale, &features);
            let total: f64 = score.parts.iter().map(|part| part.contribution).sum();
            assert!((total - score.score).abs() < 0.006, "{}: {total} {}", post.text, score.score);
            let weights: f64 = score.parts.iter().map(|part| part.weight).sum();
            assert!((weights - 1.0).abs() < 0.002, "{}: {weights}", post.text);
        }
    }
}

#[test]
fn languages_hooks_and_calls_to_action_are_found() {
    let mut wrong = Vec::new();
    for post in posts() {
        let (report, _) = read(&post);
        let hook = report.hook.unwrap();
        let found = (report.language, hook.kind.name(), report.call_to_action.is_some());
        let language = Some(post.language).filter(|language| *language != "-");
        if found != (language, post.hook, post.acts) {
            let action = report.call_to_action.map(|place| &post.text[place]);
            wrong.push(format!(
                "{found:?} {action:?} for {} {} {}: {}",
                post.language, post.hook, post.acts, post.text
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn suggestions_are_for_what_is_missing_and_the_best_variant_is_first() {
    let plain = text::read("The coffee machine is back in the kitchen", Platform::X);
    let strong = text::read(
        "Tired of bad coffee? Our amazing new roast is 20% off today only! Order now: https://a.example",
        Platform::X,
    );
    let variants =
        [&plain, &strong].map(|report| Features::of(Some(report), None, None, Platform::X));
    let ranking = rank(&variants);
    assert_eq!((ranking[0].index, ranking[1].index), (1, 0));
    assert!(ranking[0].share > ranking[1].share && ranking[0].click > ranking[1].click);
    assert!(ranking.iter().all(|ranked| !ranked.why.is_empty()));
    let suggested = suggest(&variants[0], Platform::X);
    assert!(suggested.iter().any(|suggestion| suggestion.feature.name() == "call_to_action"));
    let gains: Vec<f64> = suggested.iter().map(|one| one.share_gain + one.click_gain).collect();
    assert!(gains.is_sorted_by(|one, other| one >= other) && gains.len() <= 5, "{gains:?}");
}
