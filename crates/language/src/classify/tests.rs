use proptest::prelude::{ProptestConfig, any, proptest};

use super::{Label, Verdict, classify, topics};
use crate::prose::Prose;

fn named(names: &[&str]) -> Vec<Label> {
    names.iter().map(|name| Label { name: (*name).to_owned(), ..Label::default() }).collect()
}

fn best(text: &str, labels: &[Label]) -> (String, Verdict) {
    let verdicts = classify(&Prose::read(text), labels, None);
    let sum: f64 = verdicts.iter().map(|verdict| verdict.probability).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{verdicts:?}");
    (labels[verdicts[0].label].name.clone(), verdicts[0].clone())
}

#[test]
fn common_topics_are_known_by_their_names() {
    let topics = named(&["sports", "politics", "business", "technology", "health"]);
    for (text, expected) in [
        ("The striker scored twice as the team won the cup final.", "sports"),
        (
            "Parliament voted on the law after the prime minister's party lost the election.",
            "politics",
        ),
        (
            "Shares of the company fell after its quarterly profit missed what investors had hoped for.",
            "business",
        ),
        ("The new phone has a faster chip and software that learns from your data.", "technology"),
        ("The hospital treated forty patients who had the virus.", "health"),
    ] {
        let (label, verdict) = best(text, &topics);
        assert_eq!(label, expected, "{text}: {verdict:?}");
        assert!(verdict.probability > 0.5 && !verdict.evidence.is_empty(), "{text}: {verdict:?}");
    }
    let tone = named(&["positive", "negative"]);
    assert_eq!(best("I love it, works great!", &tone).0, "positive");
    assert_eq!(best("Terrible: it broke after a day and support was rude.", &tone).0, "negative");
}

#[test]
fn examples_define_unknown_labels() {
    let taught = |name: &str, examples: &[&str]| Label {
        name: name.to_owned(),
        description: String::new(),
        examples: examples.iter().map(|text| (*text).to_owned()).collect(),
    };
    let labels = [
        taught("q7", &["The pump leaks oil", "Oil drips from the valve"]),
        taught("q8", &["The display flickers", "No picture on the display"]),
    ];
    assert_eq!(best("There is oil below the valve", &labels).0, "q7");
    assert_eq!(best("my display shows no picture", &labels).0, "q8");
    let spanish = [
        taught("frio", &["hace mucho frío y nieve"]),
        taught("calor", &["hace mucho calor y sol"]),
    ];
    assert_eq!(best("mañana habrá nieve", &spanish).0, "frio");
}

#[test]
fn a_description_supports_its_label() {
    let mut labels = named(&["alpha", "beta"]);
    labels[1].description = "Questions about parking permits".to_owned();
    assert_eq!(best("How do I renew my parking permit?", &labels).0, "beta");
}

#[test]
fn without_evidence_nothing_is_claimed() {
    let labels = named(&["sports", "politics"]);
    let verdicts = classify(&Prose::read("Zwölf Boxkämpfer jagen Viktor"), &labels, None);
    for verdict in verdicts {
        assert!(
            (verdict.probability - 0.5).abs() < 1e-9 && verdict.evidence.is_empty(),
            "{verdict:?}"
        );
    }
    assert_eq!(classify(&Prose::read("anything"), &[], None), []);
}

#[test]
fn words_that_only_begin_alike_are_no_evidence() {
    let verdicts =
        classify(&Prose::read("The coal station"), &named(&["politics", "sports"]), None);
    assert!(verdicts.iter().all(|verdict| verdict.evidence.is_empty()), "{verdicts:?}");
}

#[test]
fn every_topic_has_words() {
    assert!(topics::words("sport").len() > 10 && topics::words("billing").is_empty());
    assert!(topics::words("bill").contains(&"invoic".to_owned()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn probabilities_are_probabilities(text in any::<String>(), names in proptest::collection::vec(any::<String>(), 1..5)) {
        let labels: Vec<_> = names.into_iter().map(|name| Label { name, ..Label::default() }).collect();
        best(&text, &labels);
    }
}

mod with_model {
    use super::super::{Label, classify};
    use super::named;
    use crate::model::StaticModel;
    use crate::model::tests::{f32s, folder, tensors, tokenizer_json};
    use crate::prose::Prose;

    /// `zorb` and `zorbic` point one way, `quax` and `drin` the other.
    fn model() -> StaticModel {
        let rows = f32s(&[0.0, 0.0, 1.0, 0.1, 0.9, 0.2, 0.1, 1.0, 0.2, 0.9]);
        let tensors = tensors(&[("embeddings", "F32", &[5, 2], rows)]);
        let words = tokenizer_json(&["zorb", "zorbic", "quax", "drin"]);
        StaticModel::open(folder(&tensors, &words).path()).unwrap()
    }

    #[test]
    fn meaning_decides_where_no_words_are_shared() {
        let prose = Prose::read("A quax, and another quax.");
        let labels = named(&["zorb", "drin"]);
        let words = classify(&prose, &labels, None);
        assert!(words.iter().all(|verdict| verdict.evidence.is_empty()), "{words:?}");
        let verdicts = classify(&prose, &labels, Some(&model()));
        assert_eq!(
            (verdicts[0].label, verdicts[0].evidence.as_slice()),
            (1, &["quax".to_owned()][..])
        );
        assert!(verdicts[0].probability > 0.9, "{verdicts:?}");
        let sum: f64 = verdicts.iter().map(|verdict| verdict.probability).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{verdicts:?}");
    }

    #[test]
    fn examples_count_by_meaning_and_unknown_words_change_nothing() {
        let taught = |name: &str, example: &str| Label {
            name: name.to_owned(),
            examples: vec![example.to_owned()],
            ..Label::default()
        };
        let labels = [taught("q7", "zorb"), taught("q8", "drin")];
        let best = classify(&Prose::read("zorbic"), &labels, Some(&model())).remove(0);
        assert_eq!(best.label, 0);
        let unknown = Prose::read("xyzzy plugh");
        assert_eq!(classify(&unknown, &labels, Some(&model())), classify(&unknown, &labels, None));
        let nameless = named(&["xyzzy", "plugh"]);
        let prose = Prose::read("zorbic");
        assert_eq!(classify(&prose, &nameless, Some(&model())), classify(&prose, &nameless, None));
        // Of two labels, the one that the model does not know is no nearer than the other.
        let half = named(&["xyzzy", "zorbic"]);
        assert_eq!(classify(&Prose::read("zorb"), &half, Some(&model()))[0].probability, 0.5);
    }
}
