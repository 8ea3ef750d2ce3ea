use proptest::prelude::{prop_assert, proptest};

use super::*;

#[test]
fn company_names_have_variants() {
    assert_eq!(
        variants("Acme Robotics, Inc."),
        [
            "Acme Robotics, Inc.",
            "Acme Robotics",
            "AcmeRobotics",
            "Acme Robotics Inc",
            "Acme Robotics Corp",
            "Acme Robotics LLC",
            "Acme Robotics Ltd",
            "Acme Robotics Co",
        ]
    );
    assert_eq!(variants("Siemens").len(), 6);
}

#[test]
fn each_search_type_has_its_words() {
    let input = |search_type, cpc: Option<&str>| PatentSearch {
        search_type,
        cpc_code: cpc.map(str::to_owned),
        ..PatentSearch::new("solar cell")
    };
    assert_eq!(text(&input(PatentSearchType::PriorArt, None)), "solar cell");
    assert_eq!(text(&input(PatentSearchType::Specific, None)), "\"solar cell\"");
    assert_eq!(text(&input(PatentSearchType::Landscape, Some("h01l"))), "\"H01L\" OR (solar cell)");
    let full = PatentSearch {
        assignee: Some("Acme".to_owned()),
        inventor: Some("Jane \"J\" Doe".to_owned()),
        ..input(PatentSearchType::PriorArt, None)
    };
    assert!(text(&full).starts_with("(\"Acme\" OR \"Acme Inc\""));
    assert!(text(&full).ends_with("\"Jane  J  Doe\" solar cell"));
    // A long name leaves room for the words.
    let long = PatentSearch {
        assignee: Some("International Business Machines of the World".to_owned()),
        ..full
    };
    assert!(text(&long).find("solar cell").is_some_and(|at| at < 300), "{}", text(&long));
}

proptest! {
    #[test]
    fn there_are_five_to_eight_variants(name in "[A-Za-z]{1,9}( [A-Za-z]{1,9}){0,3}(,? (Inc\\.|LLC|Co))?") {
        let variants = variants(&name);
        prop_assert!((5..=8).contains(&variants.len()), "{:?}", variants);
    }
}
