use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::*;

fn page(url: &str, title: &str, text: &str) -> (Candidate, String) {
    let candidate = Candidate {
        title: Some(title.to_owned()),
        text: text.to_owned(),
        url: Some(url.to_owned()),
        ..Candidate::default()
    };
    (candidate, url.to_owned())
}

fn places(ranked: &[Ranked<String>]) -> Vec<(&str, usize)> {
    ranked.iter().map(|one| (one.item.as_str(), one.previous_rank)).collect()
}

#[test]
fn addresses_of_one_page_are_one_result() {
    let lists = vec![
        vec![
            page("https://www.a.test/x?utm_source=q", "", "Tides."),
            page("https://b.test/", "B", "Moon."),
        ],
        vec![
            page("https://a.test/x#top", "Tides", "More about tides."),
            page("https://c.test/", "C", "Sun."),
        ],
    ];
    let ranked = rerank("tides", lists, false);
    assert_eq!(ranked.len(), 3);
    assert_eq!(ranked[0].candidate.title.as_deref(), Some("Tides"));
    assert_eq!(ranked[0].candidate.more, ["More about tides."]);
    assert!(ranked[0].parts.is_none());
    let long = "The same long text is on two sites, word for word, and so it is one result and not two of them, wherever it comes first. ";
    let mirrors =
        vec![vec![page("https://a.test/", "A", long), page("https://b.test/", "B", long)]];
    assert_eq!(rerank("text", mirrors, false).len(), 1);
}

#[test]
fn pages_that_answer_the_query_move_up() {
    let lists = vec![vec![
        page(
            "http://deals.test/",
            "Deals",
            "Cool cool cool roofs, roofs, buy roofs, cool deals, roofs.",
        ),
        page("https://c.test/", "Gardens", "Roses need water. Roofs keep the rain away."),
        page(
            "https://city.gov/roofs",
            "Cool roofs",
            "Cool roofs reflect sunlight and lower the indoor temperature in summer. A study measured 40 houses.",
        ),
    ]];
    let ranked = rerank("do cool roofs lower the temperature", lists, true);
    assert_eq!(places(&ranked)[0], ("https://city.gov/roofs", 3));
    let parts = ranked[0].parts.expect("parts");
    assert!(parts.authority >= 0.9 && parts.freshness == 0.5, "{parts:?}");
}

#[test]
fn the_newest_result_is_fresh_whatever_the_day() {
    let dated = |url: &str, date: &str| {
        let (mut candidate, item) = page(url, "Heat", "Heat in cities.");
        candidate.published = Some(date.to_owned());
        (candidate, item)
    };
    let lists =
        vec![vec![dated("https://a.test/", "2016-01-01"), dated("https://b.test/", "2017-01-01")]];
    let ranked = rerank("latest heat", lists, true);
    assert_eq!(ranked[0].item, "https://b.test/");
    assert_eq!(ranked[0].parts.expect("parts").freshness, 1.0);
}

proptest! {
    #[test]
    fn every_result_has_one_place(
        query in any::<String>(),
        lists in proptest::collection::vec(
            proptest::collection::vec(("[a-c]{0,2}", any::<Option<String>>(), "[a-z ]{0,30}"), 0..6), 0..4),
        features in any::<bool>(),
    ) {
        let lists: Vec<Vec<_>> = lists
            .into_iter()
            .map(|list| {
                let one = |(host, title, text): (String, Option<String>, String)| {
                    let url = (!host.is_empty()).then(|| format!("https://{host}.test/"));
                    (Candidate { title, text, url, ..Candidate::default() }, ())
                };
                list.into_iter().map(one).collect()
            })
            .collect();
        let ranked = rerank(&query, lists.clone(), features);
        let ranks: Vec<usize> = ranked.iter().map(|one| one.rank).collect();
        prop_assert_eq!(&ranks, &(1..=ranked.len()).collect::<Vec<_>>());
        let mut before: Vec<usize> = ranked.iter().map(|one| one.previous_rank).collect();
        before.sort_unstable();
        prop_assert_eq!(&before, &ranks);
        prop_assert!(ranked.windows(2).all(|two| two[0].score >= two[1].score));
        prop_assert_eq!(ranked, rerank(&query, lists, features));
    }
}
