use super::{median, percentile};

#[test]
fn percentiles_are_values_that_were_measured() {
    let mut hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
    assert_eq!(percentile(&mut hundred, 50.0), 50.0);
    assert_eq!(percentile(&mut hundred, 99.0), 99.0);
    assert_eq!(percentile(&mut hundred, 100.0), 100.0);
    assert_eq!(percentile(&mut hundred, 0.0), 1.0);
    let mut few = [3.0, 1.0, 2.0];
    assert_eq!(percentile(&mut few, 50.0), 2.0);
    assert_eq!(percentile(&mut few, 99.0), 3.0);
    assert_eq!(percentile(&mut [7.0], 1.0), 7.0);
}

#[test]
fn the_median_of_an_even_count_lies_halfway() {
    assert_eq!(median(&mut [9.0, 1.0, 5.0]), 5.0);
    assert_eq!(median(&mut [4.0, 1.0, 2.0, 100.0]), 3.0);
}

#[test]
fn nothing_measured_is_zero() {
    assert_eq!(percentile(&mut [], 99.0), 0.0);
    assert_eq!(median(&mut []), 0.0);
}
