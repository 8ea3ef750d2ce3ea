use super::*;

fn page(text: &str) -> Page {
    Page {
        url: "https://example.com/a".into(),
        content_type: ContentType::Html,
        length: text.len(),
        text: text.into(),
        incomplete: false,
        title: None,
        author: None,
        site: Some("example.com".into()),
        date: None,
        created_at: None,
        page_count: None,
        file_size: None,
        warnings: Vec::new(),
        validators: None,
        read_unix_ms: 20_773 * 86_400_000,
    }
}

#[test]
fn lengths_are_bytes_and_categories_characters() {
    let output = page(&"ü".repeat(4_999)).output(ScrapeMode::Full, 0, 50_000);
    assert_eq!((output.content_length, output.estimated_tokens), (9_998, 2_499));
    assert_eq!((output.size_category, output.truncated), (SizeCategory::Small, false));
    assert_eq!((output.original_length, output.metadata), (None, None));
    assert_eq!(output.citation.unwrap().accessed_date, "2026-11-16");
}

#[test]
fn the_original_length_is_there_exactly_if_content_is_missing() {
    let text = "A sentence. ".repeat(1_000);
    let short = page(&text).output(ScrapeMode::Full, 0, 100);
    assert_eq!((short.truncated, short.original_length), (true, Some(12_000)));
    let preview = page(&text).output(ScrapeMode::Preview, 0, 50_000);
    assert!(preview.truncated && preview.content_length <= 2_000);
    // The headings are longer than what the preview leaves out.
    let outline: String = (0..20).map(|n| format!("## Section {n}\n\n")).collect();
    let long = format!("{outline}{}", "A sentence. ".repeat(160));
    let preview = page(&long).output(ScrapeMode::Preview, 0, 50_000);
    assert!(preview.content_length >= long.len() && !preview.content.ends_with(&long));
    assert_eq!((preview.truncated, preview.original_length), (true, Some(long.len())));
    let whole = page("# Short\n\nAll of it.").output(ScrapeMode::Preview, 0, 50_000);
    assert_eq!((whole.truncated, whole.original_length), (false, None));
    let late = Page { incomplete: true, ..page("All that came.") };
    let late = late.output(ScrapeMode::Full, 0, 50_000);
    assert_eq!((late.truncated, late.original_length), (true, Some(14)));
}

#[test]
fn a_long_text_is_read_in_parts() {
    let text = (0..200)
        .map(|at| format!("Sentence number {at} of a long text."))
        .collect::<Vec<_>>()
        .join("\n\n");
    let page = page(&text);
    let (mut offset, mut parts) = (0, Vec::new());
    loop {
        let output = page.output(ScrapeMode::Full, offset, 1_000);
        let next = output.warnings.iter().find_map(|warning| {
            warning.split_once("`offset: ")?.1.split_once('`')?.0.parse::<usize>().ok()
        });
        assert_eq!(output.original_length, Some(text.len()));
        parts.push(output.content);
        match next {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert!(parts.len() > 5);
    assert_eq!(parts.concat(), text);
}
