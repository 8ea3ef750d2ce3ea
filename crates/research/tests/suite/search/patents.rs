//! Patents: the words that are sent, offices, years and families.

use proto::Code;
use research::tools::{PatentOffice, PatentSearch, PatentSearchType};
use testkit::web::{Behaviour, ProviderResult};

use crate::search::support::Lab;

fn patent(number: &str, title: &str) -> ProviderResult {
    let url = format!("https://patents.google.com/patent/{number}/en");
    ProviderResult::page(&format!("{number} - {title} - Google Patents"), &url, "A device.")
}

async fn lab() -> Lab {
    let lab = Lab::start("brave").await;
    lab.providers.set(
        "brave",
        Behaviour::Results(vec![
            patent("US20200012345A1", "Solar cell with a textured surface"),
            patent("US11000000B2", "Solar cell with a textured surface"),
            patent("EP1234567B1", "Wind turbine"),
            patent("WO2022123456A1", "Battery with shell"),
            ProviderResult::page("Google Patents", "https://patents.google.com/advanced", ""),
            ProviderResult::page("Elsewhere", "https://example.org/patent/US1234567A/en", ""),
        ]),
    );
    lab
}

#[tokio::test]
async fn results_of_google_patents_become_patents() {
    let lab = lab().await;
    let input =
        PatentSearch { assignee: Some("Acme, Inc.".to_owned()), ..PatentSearch::new("solar") };
    let found = lab.research.patent_search(input, &lab.any()).await.unwrap();
    let numbers: Vec<_> = found.patents.iter().map(|patent| patent.number.as_str()).collect();
    assert_eq!(numbers, ["US20200012345A1", "US11000000B2", "EP1234567B1", "WO2022123456A1"]);
    assert_eq!(found.patents[0].title, "Solar cell with a textured surface");
    assert_eq!(found.patents[0].summary.as_deref(), Some("A device."));
    assert_eq!(found.search_type, PatentSearchType::PriorArt);
    let query = lab.providers.last("brave").parameter("q").unwrap();
    let start = "site:patents.google.com (\"Acme, Inc.\" OR \"Acme\" OR \"Acme Inc\"";
    assert!(query.starts_with(start), "{query}");
}

#[tokio::test]
async fn offices_and_years_are_filtered() {
    let lab = lab().await;
    let search = |input: PatentSearch| async {
        let found = lab.research.patent_search(input, &lab.any()).await.unwrap();
        (found.patents.into_iter().map(|patent| patent.number).collect::<Vec<_>>(), found.warnings)
    };
    let (numbers, _) =
        search(PatentSearch { patent_office: PatentOffice::Ep, ..PatentSearch::new("x") }).await;
    assert_eq!(numbers, ["EP1234567B1"]);
    let (numbers, warnings) =
        search(PatentSearch { year_from: Some(2021), ..PatentSearch::new("x") }).await;
    assert_eq!(numbers, ["US11000000B2", "EP1234567B1", "WO2022123456A1"]);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}

#[tokio::test]
async fn a_landscape_is_newest_first_with_one_patent_per_family() {
    let lab = lab().await;
    let input =
        PatentSearch { search_type: PatentSearchType::Landscape, ..PatentSearch::new("solar") };
    let found = lab.research.patent_search(input, &lab.any()).await.unwrap();
    let numbers: Vec<_> = found.patents.iter().map(|patent| patent.number.as_str()).collect();
    assert_eq!(numbers, ["WO2022123456A1", "US20200012345A1", "EP1234567B1"]);
    assert!(found.warnings[0].starts_with("1 patent was left out"), "{:?}", found.warnings);
}

#[tokio::test]
async fn numbers_with_longer_prefixes_are_kept() {
    let lab = Lab::start("brave").await;
    let sent = ["JPH07123456A", "USD912345S1", "USRE45678E1", "TWI123456B", "BRPI0612345A2"];
    let results = sent.map(|number| patent(number, "Chair")).into();
    lab.providers.set("brave", Behaviour::Results(results));
    let found = lab.research.patent_search(PatentSearch::new("chair"), &lab.any()).await.unwrap();
    let numbers: Vec<_> = found.patents.iter().map(|patent| patent.number.as_str()).collect();
    assert_eq!(numbers, sent);
    let japan = PatentSearch { patent_office: PatentOffice::Jp, ..PatentSearch::new("chair") };
    let found = lab.research.patent_search(japan, &lab.any()).await.unwrap();
    assert_eq!(found.patents[0].number, "JPH07123456A");
    assert_eq!(found.result_count, 1);
}

#[tokio::test]
async fn a_specific_search_asks_for_the_number_or_phrase() {
    let lab = lab().await;
    for (query, sent) in [("us 11,000,000 b2", "US11000000B2"), ("solar cell", "\"solar cell\"")] {
        let input =
            PatentSearch { search_type: PatentSearchType::Specific, ..PatentSearch::new(query) };
        lab.research.patent_search(input, &lab.any()).await.unwrap();
        let asked = lab.providers.last("brave").parameter("q").unwrap();
        assert_eq!(asked, format!("site:patents.google.com {sent}"));
    }
    let years =
        PatentSearch { year_from: Some(2022), year_to: Some(2021), ..PatentSearch::new("x") };
    let failure = lab.research.patent_search(years, &lab.any()).await.unwrap_err();
    assert_eq!(failure.code, Code::InvalidInput);
}
