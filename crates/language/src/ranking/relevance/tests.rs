use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::*;

fn order(query: &str, list: &[(&str, &str)]) -> Vec<usize> {
    let listed: Vec<_> = list
        .iter()
        .map(|(title, text)| Listed {
            title: Some(*title).filter(|title| !title.is_empty()),
            texts: vec![text],
        })
        .collect();
    let scores = relevance(query, &listed);
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    order
}

#[test]
fn an_item_about_the_query_comes_before_one_that_repeats_a_word() {
    let list = [
        ("Deals", "Cool offers, cool prices, cool shops. Roofs of all kinds. Cool cool cool."),
        (
            "Cool roofs in cities",
            "A cool roof reflects sunlight. Cool roofs lower the indoor temperature.",
        ),
        ("Gardens", "Roses need water."),
    ];
    assert_eq!(order("do cool roofs lower temperature", &list)[0], 1);
}

#[test]
fn words_that_are_together_count_more() {
    let list = [
        (
            "",
            "The island has a harbour. In the north there are heat pumps, and most people are urban.",
        ),
        ("", "An urban heat island is warmer than the land around it, at night above all."),
    ];
    assert_eq!(order("urban heat island", &list), [1, 0]);
}

#[test]
fn each_item_is_read_in_its_language() {
    let list = [
        ("Wetter", "Das Wetter ist in der Stadt und auf dem Land im Winter nicht gleich."),
        ("Hitze", "Die Bäume in den Städten kühlen die Luft, und das ist im Sommer gut für alle."),
    ];
    assert_eq!(order("kühlender Baum in der Stadt", &list)[0], 1);
}

#[test]
fn without_known_words_the_order_stays() {
    let list = [("a", "x"), ("b", "y"), ("c", "z")];
    assert_eq!(order("nothing of it", &list), [0, 1, 2]);
    assert_eq!(order("", &list), [0, 1, 2]);
    assert!(relevance("x", &[]).is_empty());
}

#[test]
fn a_long_text_takes_linear_time() {
    let text = "urban heat island ".repeat(60_000);
    let query = "urban heat island of the north and the south ".repeat(50);
    let started = std::time::Instant::now();
    let scores = relevance(&query, &[Listed { title: None, texts: vec![&text] }]);
    assert!(scores[0] > 0.2);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn relevance_is_a_share(query in any::<String>(), texts in proptest::collection::vec(any::<String>(), 0..6)) {
        let list: Vec<_> =
            texts.iter().map(|text| Listed { title: Some(text), texts: vec![text] }).collect();
        let scores = relevance(&query, &list);
        prop_assert_eq!(scores.len(), list.len());
        prop_assert!(scores.iter().all(|score| (0.0..=1.000_001).contains(score)), "{:?}", scores);
        prop_assert_eq!(scores, relevance(&query, &list));
    }
}
