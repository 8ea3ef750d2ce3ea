//! Transcripts in every shape in which YouTube has them, or has none.

use proto::Code;
use research::Settings;
use research::tools::{ContentType, ScrapePageOutput};
use testkit::web::{Captions, YouTube};

use crate::scrape::support::{Lab, LabOptions};

fn options(youtube: &YouTube) -> LabOptions {
    let settings =
        Settings { youtube_url: Some(youtube.url().parse().unwrap()), ..Settings::default() };
    LabOptions { settings, ports: vec![youtube.port()], ..LabOptions::default() }
}

async fn read(lab: &Lab, shape: Captions) -> Result<ScrapePageOutput, proto::Failure> {
    lab.scrape_url(format!("https://www.youtube.com/watch?v={}&t=5", shape.video())).await
}

#[tokio::test]
async fn captions_are_read_in_both_patterns_and_shapes() {
    let youtube = YouTube::start().await;
    let lab = Lab::with(options(&youtube)).await;
    for shape in [Captions::PlayerJson, Captions::ListXml] {
        let page = read(&lab, shape).await.unwrap();
        assert_eq!(
            (page.content_type, page.content.as_str()),
            (ContentType::Youtube, YouTube::TRANSCRIPT)
        );
        assert!(page.warnings.is_empty(), "{:?}", page.warnings);
        let metadata = page.metadata.unwrap();
        assert_eq!(metadata.title.as_deref(), Some("Tides in a minute"));
        if shape == Captions::PlayerJson {
            assert_eq!(metadata.author.as_deref(), Some("Ann Lee"));
            let citation = page.citation.unwrap();
            assert!(
                citation.formatted.apa.starts_with(
                    "Lee, A. (2024, May 3). Tides in a minute. YouTube. https://www.youtube.com/"
                ),
                "{}",
                citation.formatted.apa
            );
        }
    }
    let requests = youtube.requests();
    assert_eq!(requests.len(), 4, "{requests:?}");
    assert!(requests[1].contains("lang=en&fmt=json3"), "{requests:?}");
}

#[tokio::test]
async fn the_address_of_players_is_tried_in_three_languages() {
    let youtube = YouTube::start().await;
    let lab = Lab::with(options(&youtube)).await;
    let page = read(&lab, Captions::TimedText).await.unwrap();
    assert_eq!(page.content, YouTube::TRANSCRIPT);
    let asked = youtube.requests();
    for (at, language) in ["lang=en&", "lang=en-US&", "lang=en-GB&"].iter().enumerate() {
        assert!(asked[at + 1].contains(language), "{asked:?}");
    }
    assert_eq!(page.warnings.len(), 3, "{:?}", page.warnings);
    assert!(page.warnings[0].contains("player captions: no captions"), "{:?}", page.warnings);
}

#[tokio::test]
async fn an_empty_answer_is_gated_and_the_browser_gets_the_track() {
    let youtube = YouTube::start().await;
    let Some(lab) = Lab::with_browser(options(&youtube)).await else { return };
    let page = read(&lab, Captions::Gated).await.unwrap();
    assert_eq!(page.content, YouTube::TRANSCRIPT);
    assert!(page.warnings.iter().any(|warning| warning.contains("gated")), "{:?}", page.warnings);
    lab.browser.unwrap().close().await;
}

#[tokio::test]
async fn without_a_transcript_the_description_is_returned_with_a_warning() {
    let youtube = YouTube::start().await;
    let lab = Lab::with(options(&youtube)).await;
    for (shape, why) in [(Captions::None, "no captions"), (Captions::Gated, "gated")] {
        let page = read(&lab, shape).await.unwrap();
        assert_eq!(page.content, YouTube::DESCRIPTION);
        assert!(page.warnings.iter().any(|warning| warning.contains(why)), "{:?}", page.warnings);
        assert!(
            page.warnings.last().unwrap().contains("this is its description"),
            "{:?}",
            page.warnings
        );
    }
}

#[tokio::test]
async fn a_video_without_anything_names_every_step() {
    let youtube = YouTube::start().await;
    let lab = Lab::with(options(&youtube)).await;
    let failure = read(&lab, Captions::Nothing).await.unwrap_err();
    assert_eq!((failure.code, failure.retryable), (Code::Unavailable, false));
    let details = failure.details.unwrap();
    let steps: Vec<_> = details["tiers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["tier"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        steps,
        ["player captions", "timedtext", "timedtext", "timedtext", "browser", "description"]
    );
}
