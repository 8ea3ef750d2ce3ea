use super::{Scores, above_median, clauses, share_of_best};

#[test]
fn scores_are_scaled_by_the_best_visible_tool() {
    assert_eq!(share_of_best(vec![4.0, 2.0, 1.0], &[1, 2]), [1.0, 0.5]);
    assert_eq!(share_of_best(vec![4.0, 0.0], &[1]), [0.0]);
}

#[test]
fn a_clause_is_scaled_by_its_own_best_tool() {
    let scores = Scores {
        whole: vec![10.0, 6.0, 5.0],
        clauses: vec![vec![10.0, 6.0, 0.0], vec![0.0, 0.0, 5.0]],
    };
    let blended = clauses(scores, &[0, 1, 2]);
    assert_eq!(blended[..2], [1.0, 0.6]);
    // Half of the whole, and a clause that is half as strong as the strongest.
    assert!((blended[2] - (0.5 + 0.5f32.sqrt()) / 2.0).abs() < 1e-6, "{blended:?}");
}

#[test]
fn without_clauses_the_whole_counts() {
    let whole = vec![2.0, 1.0];
    assert_eq!(clauses(Scores { whole: whole.clone(), clauses: Vec::new() }, &[0, 1]), [1.0, 0.5]);
    assert_eq!(clauses(Scores { whole, clauses: vec![vec![0.0, 0.0]] }, &[0, 1]), [1.0, 0.5]);
}

#[test]
fn half_of_all_tools_have_no_similarity() {
    assert_eq!(above_median(vec![1.0, 5.0, 3.0, 9.0, 2.0]), [0.0, 1.0 / 3.0, 0.0, 1.0, 0.0]);
    assert_eq!(above_median(vec![2.0, 2.0]), [0.0, 0.0]);
    assert!(above_median(Vec::new()).is_empty());
}
