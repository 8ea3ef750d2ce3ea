use proptest::prelude::*;

use super::{Search, titles, write};
use crate::boards::Board;

fn search(must: &[&str]) -> Search {
    Search {
        title: "Senior Data Engineer".to_owned(),
        must: must.iter().map(|term| (*term).to_owned()).collect(),
        place: Some("Leeds".to_owned()),
        ..Search::default()
    }
}

#[test]
fn each_board_has_its_syntax() {
    let of = |board| write(&search(&["Python", "Power BI"]), &[board], 1).queries[0].text.clone();
    assert_eq!(
        of(Board::Google),
        "\"Senior Data Engineer\" Python \"Power BI\" Leeds (job OR jobs)"
    );
    assert_eq!(of(Board::Linkedin), "\"Senior Data Engineer\" AND Python AND \"Power BI\"");
    assert_eq!(of(Board::Stepstone), "Senior Data Engineer Python Power BI");
    assert_eq!(
        of(Board::Generic),
        "\"Senior Data Engineer\" AND Python AND \"Power BI\" AND Leeds"
    );
}

#[test]
fn of_many_must_haves_one_is_enough() {
    let written = write(&search(&["Go", "Rust", "SQL", "dbt"]), &[Board::Xing], 1);
    assert_eq!(written.queries[0].text, "\"Senior Data Engineer\" AND (Go OR Rust OR SQL OR dbt)");
}

#[test]
fn signs_of_syntax_are_removed() {
    let written = write(&search(&["a \"quoted\" (term)", "or"]), &[Board::Indeed], 1);
    assert_eq!(written.queries[0].text, "\"Senior Data Engineer\" \"a quoted term\" \"or\"");
}

#[test]
fn titles_lose_their_level_and_gain_synonyms() {
    assert_eq!(
        titles("Senior Data Engineer"),
        ["Senior Data Engineer", "Data Engineer", "ETL Developer", "Data Platform Engineer"]
    );
    assert_eq!(titles("Beekeeper"), ["Beekeeper"]);
}

#[test]
fn addresses_are_encoded() {
    let url = Board::Linkedin.url("\"C++\" AND R&D", Some("Zürich")).unwrap();
    assert_eq!(
        url,
        "https://www.linkedin.com/jobs/search/?keywords=%22C%2B%2B%22+AND+R%26D&location=Z%C3%BCrich"
    );
    assert_eq!(Board::Generic.url("x", None), None);
}

fn boards() -> impl Strategy<Value = Vec<Board>> {
    proptest::sample::subsequence(Board::ALL.to_vec(), 1..=6)
}

proptest! {
    #[test]
    fn every_must_have_is_in_a_query_within_the_limits(
        title in "[A-Z][a-z]{2,12}( [A-Z][a-z]{2,12}){0,2}",
        must in proptest::collection::vec("[A-Za-z][A-Za-z+#./-]{0,14}( [a-z]{1,10})?", 0..12),
        boards in boards(),
        extra in 0_usize..10,
    ) {
        let limit = boards.len() + extra;
        let search = Search { title, must: must.clone(), ..Search::default() };
        let written = write(&search, &boards, limit);
        prop_assert!(written.queries.len() <= limit);
        for board in &boards {
            prop_assert!(written.queries.iter().any(|query| query.board == *board), "{:?}", board);
        }
        for query in &written.queries {
            prop_assert!(query.text.chars().count() <= query.board.max_characters(), "{}", query.text);
            prop_assert!(query.text.split_whitespace().count() <= query.board.max_words());
            prop_assert_eq!(query.text.matches('"').count() % 2, 0);
            for covered in &query.covers {
                prop_assert!(query.text.contains(covered.as_str()));
            }
        }
        // Boards with room for 400 characters leave nothing out.
        for term in &must {
            let found = written.queries.iter().any(|query| query.text.to_lowercase().contains(&term.to_lowercase()));
            prop_assert!(found || written.left_out.iter().any(|left| left.eq_ignore_ascii_case(term)), "{}", term);
        }
        if boards.contains(&Board::Generic) {
            prop_assert!(written.left_out.is_empty(), "{:?}", written.left_out);
        }
    }
}

#[test]
fn a_role_alone_is_searched_for_first() {
    let role = Search { title: "Data engineer".to_owned(), ..Search::default() };
    let written = write(&role, &[Board::Linkedin, Board::Xing], 2);
    for query in written.queries {
        assert_eq!(query.text, "\"Data engineer\"");
    }
}
