use super::*;

#[test]
fn words_and_phrases_become_terms() {
    let search = Search {
        text: "graph \"neural networks\" AND (2:x)".to_owned(),
        count: 5,
        year_from: Some(2020),
        year_to: None,
        newest: false,
        prefix: None,
        pdf_only: false,
    };
    assert_eq!(
        query(&search),
        "all:graph AND all:\"neural networks\" AND all:2 AND all:x AND submittedDate:[202001010000 TO 210012312359]"
    );
}
