//! Documents by their URL, their type and their bytes.

use proto::Code;
use research::tools::ContentType;

use crate::scrape::support::Lab;

#[tokio::test]
async fn documents_are_found_by_ending_type_and_bytes() {
    let lab = Lab::start().await;
    for (path, content_type, requests) in [
        ("/files/article.pdf", ContentType::Pdf, 1),
        ("/files/pdf-as-html", ContentType::Pdf, 1),
        ("/files/report.docx", ContentType::Docx, 1),
        ("/files/plan.pptx", ContentType::Pptx, 1),
        ("/files/orders", ContentType::Xlsx, 1),
    ] {
        let page = lab.scrape(path).await.unwrap();
        assert_eq!(page.content_type, content_type, "{path}");
        assert!(page.content.len() > 50, "{path}: {}", page.content);
        let metadata = page.metadata.unwrap();
        assert!(metadata.page_count.unwrap() >= 1, "{path}");
        assert!(metadata.file_size.unwrap() > 500, "{path}");
        assert!(
            metadata.title.is_some() || path == "/files/pdf-as-html" || path == "/files/orders",
            "{path}"
        );
        assert_eq!(lab.hits(path), requests, "{path}");
    }
}

#[tokio::test]
async fn a_page_behind_the_ending_of_a_document_is_a_page() {
    let lab = Lab::start().await;
    let page = lab.scrape("/files/not-a.pdf").await.unwrap();
    assert_eq!(page.content_type, ContentType::Html);
    assert!(page.content.contains("ocean tides and floods"));
}

#[tokio::test]
async fn text_and_json_are_returned_as_they_are() {
    let lab = Lab::start().await;
    let text = lab.scrape("/files/notes.txt").await.unwrap();
    assert_eq!(
        (text.content_type, text.content.as_str()),
        (ContentType::Text, "Notes about the tides.\n\nThey rise and fall twice a day.",)
    );
    let json = lab.scrape("/files/data.json").await.unwrap();
    assert_eq!(json.content_type, ContentType::Json);
    assert_eq!(json.content, "{\"tides\": [{\"station\": 1, \"level\": 3.5}]}");
}

#[tokio::test]
async fn documents_that_cannot_be_read_say_why() {
    let lab = Lab::start().await;
    let failure = lab.scrape("/files/picture.png").await.unwrap_err();
    assert_eq!(failure.code, Code::Unsupported);
    assert!(failure.message.contains("image/png"), "{}", failure.message);
    let failure = lab.scrape("/files/large.pdf").await.unwrap_err();
    assert_eq!(failure.code, Code::InvalidInput);
    assert_eq!(failure.details.unwrap()["reason"], "too_large");
    let failure = lab.scrape("/files/cut.pdf").await.unwrap_err();
    assert_eq!(failure.code, Code::Unavailable);
}
