use super::{Figures, check, first_places};

fn figures(words: f64, reranked: f64) -> Figures {
    Figures {
        ndcg10_words: words,
        ndcg10_hybrid: None,
        ndcg10_reranked: reranked,
        support_auc: Some(90.0),
        audit_precision: Some(97.0),
        audit_recall: Some(97.0),
    }
}

#[test]
fn re_ranking_must_gain_three_points() {
    let before = figures(70.0, 73.0);
    assert!(check(&figures(70.0, 73.0), &before).is_ok());
    let error = check(&figures(70.5, 73.4), &before).unwrap_err().to_string();
    assert!(error.contains("re-ranking gains 2.90 points"), "{error}");
}

#[test]
fn a_figure_may_not_drop_by_more_than_a_point() {
    let before = figures(70.0, 75.0);
    assert!(check(&figures(69.0, 74.0), &before).is_ok());
    let mut now = figures(68.9, 75.0);
    now.audit_recall = Some(95.0);
    let error = check(&now, &before).unwrap_err().to_string();
    assert_eq!(error, "ndcg10_words is 68.9; it was 70; audit_recall is 95; it was 97");
}

#[test]
fn a_hybrid_figure_counts_only_if_both_runs_have_one() {
    let before = Figures { ndcg10_hybrid: Some(80.0), ..figures(70.0, 75.0) };
    assert!(check(&figures(70.0, 75.0), &before).is_ok());
    let now = Figures { ndcg10_hybrid: Some(70.0), ..figures(70.0, 75.0) };
    assert!(check(&now, &before).is_err());
}

#[test]
fn a_document_has_the_place_of_its_best_chunk() {
    let hits = ["b", "a", "b", "c"].map(str::to_owned);
    assert_eq!(first_places(hits.into_iter()), ["b", "a", "c"]);
}
