use proptest::prelude::{any, prop_assert, proptest};

use super::*;

#[test]
fn bm25_has_the_textbook_values() {
    let bm25 = Bm25::default();
    assert!((bm25.idf(10, 1) - (1.0f64 + 9.5 / 1.5).ln()).abs() < 1e-12);
    // One use in a text of average length weighs 1.
    assert!((bm25.weight(1.0, 100.0, 100.0) - 1.0).abs() < 1e-6);
    let twice = 2.0 * 2.2 / (2.0 + 1.2 * (0.25 + 0.75 * 0.5));
    assert!((bm25.weight(2.0, 50.0, 100.0) - twice).abs() < 1e-6);
    assert_eq!(bm25.weight(0.0, 1.0, 1.0), 0.0);
    assert_eq!(bm25.weight(1.0, 0.0, 0.0), bm25.weight(1.0, 1.0, 1.0));
}

#[test]
fn a_cosine_ignores_lengths() {
    assert!((cosine(&[1.0, 1.0], &[3.0, 3.0]) - 1.0).abs() < 1e-6);
    assert!(cosine(&[1.0, 0.0], &[0.0, 2.0]).abs() < 1e-6);
    assert!((cosine(&[1.0; 17], &[-1.0; 17]) + 1.0).abs() < 1e-6);
    assert_eq!(cosine(&[0.0; 3], &[1.0; 3]), 0.0);
    assert_eq!(cosine(&[1.0], &[1.0, 1.0]), 0.0);
    assert_eq!(cosine(&[], &[]), 0.0);
}

proptest! {
    #[test]
    fn rarer_and_more_often_weighs_more(
        documents in 1u64..1_000_000, df in 0u64..1_000_000, tf in 1.0f64..100.0,
        length in 1.0f64..1e6, average in 1.0f64..1e6,
    ) {
        let bm25 = Bm25::default();
        prop_assert!(bm25.idf(documents, df) >= bm25.idf(documents, df + 1));
        prop_assert!(bm25.idf(documents, df) > 0.0);
        let weight = bm25.weight(tf, length, average);
        prop_assert!(weight > 0.0 && weight < 2.2001);
        prop_assert!(bm25.weight(tf + 1.0, length, average) > weight);
        prop_assert!(bm25.weight(tf, length + 1.0, average) < weight);
    }

    #[test]
    fn a_cosine_is_a_number(a in proptest::collection::vec(any::<f32>(), 0..40)) {
        let b: Vec<f32> = a.iter().rev().copied().collect();
        prop_assert!(cosine(&a, &b).abs() <= 1.0);
    }
}
