//! How long answers are kept, and who shares them.

use research::tools::{AcademicSearch, ImageSearch, NewsSearch, PatentSearch, WebSearch};
use search::settings::ProviderName;
use testkit::web::Behaviour;

use crate::search::support::{Lab, provider};

const MINUTE: u64 = 60;

#[tokio::test]
async fn each_tool_keeps_its_answers_for_its_time() {
    let lab = Lab::start("brave").await;
    let call = lab.any();
    let research = &lab.research;
    for (tool, minutes) in
        [("web", 30), ("image", 30), ("news", 15), ("academic", 24 * 60), ("patent", 24 * 60)]
    {
        let ask = async || match tool {
            "web" => research.web_search(WebSearch::new("solar"), &call).await.map(drop),
            "image" => research.image_search(ImageSearch::new("solar"), &call).await.map(drop),
            "news" => research.news_search(NewsSearch::new("solar"), &call).await.map(drop),
            "academic" => {
                research.academic_search(AcademicSearch::new("solar"), &call).await.map(drop)
            }
            _ => research.patent_search(PatentSearch::new("solar"), &call).await.map(drop),
        };
        let before = lab.count("brave");
        ask().await.unwrap();
        let asked = lab.count("brave") - before;
        assert!(asked > 0, "{tool}");
        lab.advance(minutes * MINUTE - 1);
        ask().await.unwrap();
        assert_eq!(lab.count("brave"), before + asked, "{tool} is kept");
        lab.advance(1);
        ask().await.unwrap();
        assert_eq!(lab.count("brave"), before + 2 * asked, "{tool} has expired");
    }
}

#[tokio::test]
async fn all_parameters_are_part_of_the_key() {
    let lab = Lab::start("brave").await;
    let inputs = [
        WebSearch::new("solar"),
        WebSearch { num_results: 6, ..WebSearch::new("solar") },
        WebSearch { site: Some("x.org".to_owned()), ..WebSearch::new("solar") },
        WebSearch { country: Some("DE".to_owned()), ..WebSearch::new("solar") },
        WebSearch::new("wind"),
    ];
    for _ in 0..2 {
        for input in &inputs {
            lab.research.web_search(input.clone(), &lab.any()).await.unwrap();
        }
    }
    assert_eq!(lab.count("brave"), inputs.len());
}

#[tokio::test]
async fn tenants_share_answers_and_equal_requests_in_flight() {
    let lab = Lab::start("brave").await;
    let (ann, bob) = (lab.call("acme", "ann"), lab.call("globex", "bob"));
    let ask = |call| lab.research.web_search(WebSearch::new("solar"), call);
    let (first, second) = tokio::join!(ask(&ann), ask(&bob));
    assert_eq!(first.unwrap(), second.unwrap());
    assert_eq!(lab.count("brave"), 1);
}

#[tokio::test]
async fn incomplete_answers_are_kept_for_two_minutes() {
    let lab = Lab::start("brave,serper").await;
    lab.providers.set("brave", Behaviour::Status(500));
    lab.providers.set("arxiv", Behaviour::Status(500));
    let call = lab.any();
    for (tool, provider) in [("academic", "arxiv"), ("patent", "serper")] {
        let ask = async || match tool {
            "academic" => {
                let input = AcademicSearch::new("solar");
                lab.research.academic_search(input, &call).await.map(|found| found.warnings)
            }
            _ => {
                let input = PatentSearch::new("solar");
                lab.research.patent_search(input, &call).await.map(|found| found.warnings)
            }
        };
        let before = lab.count(provider);
        assert!(!ask().await.unwrap().is_empty(), "{tool}");
        let asked = lab.count(provider) - before;
        assert!(asked > 0, "{tool}");
        lab.advance(2 * MINUTE - 1);
        ask().await.unwrap();
        assert_eq!(lab.count(provider), before + asked, "{tool} is kept");
        lab.advance(1);
        ask().await.unwrap();
        assert_eq!(lab.count(provider), before + 2 * asked, "{tool} has expired");
    }
}

#[tokio::test]
async fn a_warning_without_a_failure_does_not_shorten_the_time() {
    let lab = Lab::with("brave,serper", |settings| {
        provider(settings, ProviderName::Brave).key = None;
    })
    .await;
    let call = lab.any();
    let ask = async || lab.research.patent_search(PatentSearch::new("solar"), &call).await.unwrap();
    let warnings = ask().await.warnings;
    assert!(warnings.iter().any(|warning| warning.contains("brave")), "{warnings:?}");
    let asked = lab.count("serper");
    assert!(asked > 0);
    lab.advance(3 * MINUTE);
    ask().await;
    assert_eq!(lab.count("serper"), asked);
}

#[tokio::test]
async fn failures_are_not_kept() {
    let lab = Lab::start("brave").await;
    lab.providers.set("brave", Behaviour::Status(500));
    lab.search("solar").await.unwrap_err();
    lab.providers.set("brave", Behaviour::Empty);
    lab.search("solar").await.unwrap();
    assert_eq!(lab.count("brave"), 2);
}
