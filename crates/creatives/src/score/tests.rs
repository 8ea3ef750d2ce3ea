use proptest::prelude::{any, prop, proptest};

use super::{Scale, Score, WEIGHTS_VERSION, table};
use crate::features::{Feature, Features};
use crate::platform::Platform;
use crate::text::HookKind;

const GUIDE: &str = include_str!("../../../../docs/src/guide/social-intelligence.md");

#[test]
fn the_guide_publishes_the_tables() {
    let mut hooks = String::from("| hook | value |\n|---|---|\n");
    for kind in HookKind::ALL {
        hooks += &format!("| `{}` | {} |\n", kind.name(), kind.value());
    }
    for table in [table(), Platform::table(), hooks] {
        assert!(
            GUIDE.contains(&table),
            "docs/src/guide/social-intelligence.md should have:\n{table}"
        );
    }
    assert!(GUIDE.contains(WEIGHTS_VERSION));
}

#[test]
fn the_weights_of_each_score_add_up() {
    for scale in Scale::ALL {
        let total: f64 = Feature::ALL.iter().map(|feature| scale.weight(*feature)).sum();
        assert!((total - 1.0).abs() < 1e-9, "{scale:?}: {total}");
    }
}

/// Values of all features; those without one are unknown.
fn features(values: &[Option<f64>]) -> Features {
    let mut features = Features::default();
    for (feature, value) in Feature::ALL.into_iter().zip(values) {
        if let Some(value) = value {
            features.set(feature, *value, String::new());
        }
    }
    features
}

proptest! {
    #[test]
    fn scores_are_monotonic_in_every_feature_and_their_parts_add_up(
        values in prop::collection::vec(prop::option::of(0.0..=1.0f64), Feature::ALL.len()),
        more in 0.0..=1.0f64,
        at in any::<prop::sample::Index>(),
    ) {
        let at = at.index(values.len());
        let mut higher = values.clone();
        higher[at] = values[at].map(|value| value.max(more));
        for scale in Scale::ALL {
            let (score, raised) = (Score::of(scale, &features(&values)), Score::of(scale, &features(&higher)));
            assert!(raised.score >= score.score, "{scale:?} {:?}", Feature::ALL[at]);
            let total: f64 = score.parts.iter().map(|part| part.contribution).sum();
            assert!((total - score.score).abs() < 0.006 && (0.0..=100.0).contains(&score.score));
            for part in &score.parts {
                assert!((100.0 * part.weight * part.value - part.contribution).abs() < 0.011);
            }
        }
    }
}
