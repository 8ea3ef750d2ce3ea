use schemars::schema_for;
use serde_json::json;
use std::sync::Weak;
use strip::Tool as _;

use super::{Format, Input, LARGE, LARGE_RENDERS, RenderDocument, Source, render, render_in_turn};

fn rendered(input: serde_json::Value) -> String {
    let input: Input = serde_json::from_value(input).unwrap();
    let format = input.format;
    render(Source::of(input).unwrap(), format)
}

#[test]
fn documents_and_markdown_become_each_format() {
    let document = json!({"title": "Heat", "sections": [{"heading": "Causes", "blocks": [{"kind": "paragraph", "text": "Dark roofs [1]."}]}],
        "references": [{"text": "Oke, T. R. (1982). The energetic basis of the urban heat island. *Quarterly Journal of the Royal Meteorological Society*, 108(455), 1–24. https://doi.org/10.1002/qj.49710845502"}]});
    let markdown = rendered(json!({"document": document}));
    assert!(
        markdown.starts_with(
            "# Heat\n\n## Causes\n\nDark roofs [1].\n\n## References\n\n1. Oke, T. R. (1982)"
        ),
        "{markdown}"
    );
    let html = rendered(json!({"document": document, "format": "html"}));
    assert!(html.contains("<h2>Causes</h2>"), "{html}");
    for input in [
        json!({"document": document, "format": "bibtex"}),
        json!({"markdown": markdown, "format": "bibtex"}),
    ] {
        let bibtex = rendered(input);
        assert!(bibtex.starts_with("@article{oke1982energetic,"), "{bibtex}");
        assert!(
            bibtex.contains("journal = {Quarterly Journal of the Royal Meteorological Society}"),
            "{bibtex}"
        );
    }
    let ris = rendered(json!({"markdown": markdown, "format": "ris"}));
    assert!(ris.contains("DO  - 10.1002/qj.49710845502\r\n"), "{ris}");
}

#[test]
fn exactly_one_source_is_needed() {
    for input in [json!({}), json!({"markdown": "a", "document": {"sections": []}})] {
        let input: Input = serde_json::from_value(input).unwrap();
        assert!(Source::of(input).is_err());
    }
    assert!(serde_json::from_value::<Input>(json!({"markdown": "a", "other": 1})).is_err());
}

#[tokio::test]
async fn large_documents_wait_for_their_turn() {
    let source =
        |input: serde_json::Value| Source::of(serde_json::from_value(input).unwrap()).unwrap();
    let text = "a".repeat(LARGE);
    let paragraph = json!({"sections": [{"blocks": [{"kind": "paragraph", "text": text}]}]});
    let turns = LARGE_RENDERS.acquire_many(2).await.unwrap();
    let small = render_in_turn(source(json!({"markdown": "# Heat"})), Format::Html).await;
    assert!(small.contains("Heat"), "a small one does not wait");
    for input in [json!({"markdown": text}), json!({"document": paragraph})] {
        let mut large = Box::pin(render_in_turn(source(input), Format::Html));
        assert!(futures_util::poll!(&mut large).is_pending());
    }
    drop(turns);
    assert!(render_in_turn(source(json!({"markdown": text})), Format::Html).await.len() > LARGE);
}

#[test]
fn the_schema_is_flat() {
    let tool = RenderDocument::new(Weak::new());
    let schema = tool.descriptor().input_schema.to_string();
    assert!(
        !schema.contains("$ref") && !schema.contains("oneOf") && !schema.contains("anyOf"),
        "{schema}"
    );
    assert!(serde_json::to_value(schema_for!(Format)).unwrap()["enum"].is_array());
}
